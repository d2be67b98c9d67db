// Package health asks each server of an ensemble for its state, with ZooKeeper's command srvr,
// which servers answer by default, or otherwise through the AdminServer. It asks for counters
// with mntr, which servers may refuse. It needs no session, and works without a quorum. Its
// functions are safe for concurrent use.
package health

import (
	"context"
	"errors"
	"sync"
	"time"
)

// Ask asks all servers at the same time. When ctx ends, servers that have not answered have an
// Error. The result has the order of servers.
func Ask(ctx context.Context, dial Dial, servers []string, admin Admin) []Server {
	answers := make([]Server, len(servers))
	var wg sync.WaitGroup
	for i, server := range servers {
		wg.Go(func() {
			s, err := askEither(ctx, dial, server, admin)
			if err != nil {
				s = Server{Error: err.Error()}
			}
			s.Server = server
			answers[i] = s
		})
	}
	wg.Wait()
	return answers
}

// patience is how long Ask waits for a server's answer before it asks the AdminServer, too.
const patience = 500 * time.Millisecond

// askEither asks a server on its port for clients. If that fails or takes longer than patience, it
// asks the AdminServer, too. If both fail, the error is that of the port for clients.
func askEither(ctx context.Context, dial Dial, server string, admin Admin) (Server, error) {
	if admin.Port == 0 {
		return ask(ctx, dial, server)
	}
	ctx, cancel := context.WithCancel(ctx)
	var asking sync.WaitGroup
	defer asking.Wait()
	defer cancel()
	word, other := make(chan reply, 1), make(chan reply, 1)
	asking.Go(func() { word <- replyOf(ask(ctx, dial, server)) })
	timer := time.NewTimer(patience)
	defer timer.Stop()
	var said reply
	wordSaid, adminSaid := false, false
	select {
	case said = <-word:
		wordSaid = true
	case <-timer.C:
	}
	if wordSaid && said.definite() {
		return said.server, said.err
	}
	asking.Go(func() { other <- replyOf(admin.ask(ctx, server)) })
	for !wordSaid || !adminSaid {
		select {
		case said = <-word:
			wordSaid = true
			if said.definite() {
				return said.server, said.err
			}
		case r := <-other:
			adminSaid = true
			if r.definite() {
				return r.server, r.err
			}
		}
	}
	return said.server, said.err
}

// reply is the answer of a port.
type reply struct {
	server Server
	err    error
}

func replyOf(s Server, err error) reply { return reply{s, err} }

// definite reports whether the other port need not be asked.
func (r reply) definite() bool { return r.err == nil || errors.Is(r.err, errNotServing) }

// Healthy reports whether all servers serve requests, and either one of them is the leader or there
// is only one, a standalone server.
func Healthy(servers []Server) bool {
	leaders := 0
	for _, s := range servers {
		switch s.Mode {
		case "leader":
			leaders++
		case "standalone":
			if len(servers) > 1 {
				return false
			}
			leaders++
		case "follower", "observer":
		default:
			return false
		}
	}
	return leaders == 1
}
