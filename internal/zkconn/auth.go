package zkconn

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/zkconn/hosts"
)

// auth holds the client's credentials, which are sent as requests, its SASL function, which comes before them, and what
// servers have answered to both. The lock of the Conn guards the credentials and the rejections.
type auth struct {
	sasl       SASL
	limit      int // of a token, in bytes
	mechanisms mechanisms

	credentials []Auth // Config.Auth and what AddAuth has added
	rejections  rejections
}

// calls returns the requests that present the credentials.
func (a *auth) calls() []*Call {
	var calls []*Call
	for _, c := range a.credentials {
		calls = append(calls, &Call{Op: jute.OpAuth, Req: &jute.AuthPacket{Scheme: c.Scheme, Auth: c.Auth}})
	}
	return calls
}

// keep keeps a credential for later connections.
func (a *auth) keep(added Auth) {
	same := func(c Auth) bool { return added.Scheme == c.Scheme && bytes.Equal(added.Auth, c.Auth) }
	if !slices.ContainsFunc(a.credentials, same) {
		a.credentials = append(a.credentials, added)
	}
}

// converse hands the tokens of the mechanism and of the server of m to each other, until the deadline. It tells whether
// the server has answered a token.
func (a *auth) converse(life context.Context, m *muxConn, deadline time.Time) (heard bool, err error) {
	if a.sasl == nil {
		return false, nil
	}
	ctx, cancel := context.WithDeadline(life, deadline)
	defer cancel()
	conversation, err := a.mechanisms.begin(ctx, a.sasl, m.server)
	if err != nil {
		return false, err
	}
	s, err := conversation.next(ctx, m.dead) // it has its mechanism
	name := s.name
	var challenge []byte
	for err == nil {
		if s, err = conversation.hand(ctx, m.dead, challenge); err != nil || s.done && s.answer == nil {
			break
		}
		challenge, err = m.exchange(s.answer, a.limit, deadline)
		if heard = heard || err == nil || errors.Is(err, errTokenRefused); s.done {
			break
		}
	}
	if name != "" && err != nil {
		err = fmt.Errorf("SASL %s: %w", name, err)
	}
	return heard, err
}

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
