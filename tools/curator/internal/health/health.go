// Package health asks each server of an ensemble for its state, with ZooKeeper's command srvr,
// which servers answer by default, or otherwise through the AdminServer. It asks for counters
// with mntr, which servers may refuse. It needs no session, and works without a quorum. Its
// functions are safe for concurrent use.
package health

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
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

// Server is the state of a server, as the server reports it. If there is an Error, the other fields
// are zero, but for Server.
type Server struct {
	Server      string  `json:"server"` // host:port
	Mode        string  `json:"mode"`   // "leader", "follower", "observer", "standalone", "read-only"
	Version     string  `json:"version"`
	Zxid        string  `json:"zxid"` // hexadecimal
	LatencyMin  float64 `json:"latencyMinMs"`
	LatencyAvg  float64 `json:"latencyAvgMs"`
	LatencyMax  float64 `json:"latencyMaxMs"`
	Connections int     `json:"connections"`
	Outstanding int     `json:"outstanding"` // queued requests
	Nodes       int     `json:"nodes"`
	Error       string  `json:"error,omitempty"`
}

// maxAnswer bounds how much of an answer is read, because the server may not be ZooKeeper.
const maxAnswer = 64 << 10

// notServing is a part of the answers of a server without a quorum.
const notServing = "not currently serving"

var errNotServing = errors.New("the server runs, but does not serve requests: it has no quorum")

// Bounds above which a value is a problem.
const (
	slowLatency     = 100 // ms, on average
	manyOutstanding = 100
	farBehind       = 10_000 // transactions
)

// Problems returns a sentence for each problem of the servers, none if all is well.
func Problems(servers []Server) []string {
	problems := []string{}
	say := func(format string, args ...any) { problems = append(problems, fmt.Sprintf(format, args...)) }
	leaders, up, versions := 0, 0, map[string]bool{}
	for _, s := range servers {
		if s.Error != "" {
			say("%s does not serve requests: %s.", s.Server, s.Error)
			continue
		}
		up++
		versions[s.Version] = true
		switch s.Mode {
		case "leader", "standalone":
			leaders++
		case "read-only":
			say("%s has lost its quorum, and serves reads only.", s.Server)
		}
		if s.Mode == "standalone" && len(servers) > 1 {
			say("%s is a standalone server: it is not in an ensemble with the others.", s.Server)
		}
		if s.LatencyAvg > slowLatency {
			say("%s is slow: requests have taken %.0f ms on average.", s.Server, s.LatencyAvg)
		}
		if s.Outstanding > manyOutstanding {
			say("%s has %d queued requests.", s.Server, s.Outstanding)
		}
	}
	switch {
	case up == 0:
		say("No server serves requests.")
	case leaders == 0:
		say("None of these servers is the leader. If the ensemble has others, name all of them.")
	case leaders > 1:
		say("There is more than one leader: the servers are of different ensembles.")
	}
	if len(versions) > 1 {
		say("The servers run different versions of ZooKeeper.")
	}
	return append(problems, behind(servers)...)
}

// behind returns a problem for each follower that is far behind the leader. A zxid has an epoch and a
// counter, 32 bits each.
func behind(servers []Server) (problems []string) {
	var leader uint64
	for _, s := range servers {
		if s.Mode == "leader" {
			leader = zxid(s.Zxid)
		}
	}
	for _, s := range servers {
		at := zxid(s.Zxid)
		if s.Mode != "follower" && s.Mode != "observer" || at >= leader {
			continue
		}
		if at>>32 != leader>>32 {
			problems = append(problems, fmt.Sprintf("%s is in an earlier epoch than the leader.", s.Server))
		} else if leader-at > farBehind {
			problems = append(problems, fmt.Sprintf("%s is %d transactions behind the leader.", s.Server, leader-at))
		}
	}
	return problems
}

func zxid(text string) uint64 {
	n, _ := strconv.ParseUint(strings.TrimPrefix(text, "0x"), 16, 64) // 0 if it cannot be parsed
	return n
}
