package zkconn

import (
	"errors"
	"fmt"

	"github.com/go-curator/curator/internal/zkconn/hosts"
)

// minRefusals is how many refusals it takes at least until the client gives up. A server may refuse a client
// that is right: ZooKeeper 3.8 keeps the name of the user whose DIGEST-MD5 answer it checks in one
// field for all connections (see ZOOKEEPER-4839). So of two users who log in at the same moment, one
// may be checked against the password of the other one.
const minRefusals = 3

// rejections is what servers have answered to the client's credentials since one of them served it. One
// server may refuse a client that the others accept, for example while their configuration is changed one
// after the other. So a refusal ends the connection, and the client tries the other servers.
//
// The client gives up when every server of the list was tried, every one of them that could be reached has
// refused, and there were at least minRefusals refusals.
type rejections struct {
	n       int                  // refusals
	servers map[string]rejection // those that were tried since the first refusal, by the text of their target
}

// rejection is what one server has answered.
type rejection struct {
	reached bool  // it has answered a connect request
	why     error // why it has refused the client, the last time; nil if it has not
}

// tried notes an attempt, which has reached the server or has not.
func (r *rejections) tried(server string, reached bool) {
	if r.n == 0 {
		return
	}
	s := r.servers[server]
	s.reached = s.reached || reached
	r.servers[server] = s
}

// refused notes a refusal.
func (r *rejections) refused(server string, why error) {
	if r.n++; r.servers == nil {
		r.servers = map[string]rejection{}
	}
	r.servers[server] = rejection{reached: true, why: why}
}

// verdict returns nil as long as one of the targets may accept the client, and otherwise which servers
// have refused it, and why.
func (r *rejections) verdict(targets []hosts.Target) (why error) {
	if r.n < minRefusals {
		return nil
	}
	for _, t := range targets {
		switch s, tried := r.servers[t.String()]; {
		case !tried, s.reached && s.why == nil:
			return nil
		case !s.reached:
		case why == nil:
			why = fmt.Errorf("%s: %w", t, s.why)
		default:
			why = fmt.Errorf("%w; %s: %w", why, t, s.why)
		}
	}
	return why
}

// refusalError is why a server serves the client nothing. It has done nothing of what was sent on the
// connection.
type refusalError struct{ error }

func (e refusalError) Unwrap() error { return e.error }

// isRefusal tells whether a connection has ended because the server serves the client nothing.
func isRefusal(err error) bool {
	_, ok := errors.AsType[refusalError](err)
	return ok
}
