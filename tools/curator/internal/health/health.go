// Package health asks each server of an ensemble how it is, by ZooKeeper's command srvr,
// which servers answer by default, and where that is not answered by the AdminServer. It needs
// no session, and works without a quorum. Its functions are safe for concurrent use.
package health

import (
	"context"
	"errors"
	"sync"
	"time"
)

// Ask asks all servers at the same time, until ctx ends, which is an Error of those that have
// not answered. adminPort is the port of their AdminServers, 0 for none. The result has the order
// of servers.
func Ask(ctx context.Context, dial Dial, servers []string, adminPort int) []Server {
	answers := make([]Server, len(servers))
	var wg sync.WaitGroup
	for i, server := range servers {
		wg.Go(func() {
			s, err := askEither(ctx, dial, server, adminPort)
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

// askEither asks the AdminServer, too, if the server has not said what it thinks. An error is that
// of the port for clients.
func askEither(ctx context.Context, dial Dial, server string, adminPort int) (Server, error) {
	// A port that does not answer must leave time for the other one.
	const share = 2
	wordCtx := ctx
	if deadline, ok := ctx.Deadline(); ok && adminPort != 0 {
		var cancel context.CancelFunc
		wordCtx, cancel = context.WithTimeout(ctx, time.Until(deadline)/share)
		defer cancel()
	}
	s, err := ask(wordCtx, dial, server)
	if err == nil || adminPort == 0 || errors.Is(err, errNotServing) {
		return s, err
	}
	if s, adminErr := askAdmin(ctx, server, adminPort); adminErr == nil || errors.Is(adminErr, errNotServing) {
		return s, adminErr
	}
	return s, err
}

// Healthy reports whether all servers serve, with one leader or one server that is alone.
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
