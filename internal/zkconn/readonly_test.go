package zkconn_test

import (
	"context"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/zkconn"
	"github.com/go-curator/curator/state"
)

// quorumMode is what a server of scriptedEnsemble does.
type quorumMode int

const (
	hasQuorum  quorumMode = iota
	readsOnly             // readonlymode.enabled and localSessionsEnabled
	noSessions            // readonlymode.enabled alone
	undecided             // it ends every connection
	lying                 // it says that it serves reads only, without having been asked
)

// scriptedEnsemble is servers that have a quorum, or have not.
type scriptedEnsemble struct {
	mu       sync.Mutex
	modes    map[string]quorumMode
	conns    map[net.Conn]bool
	sessions map[int64]bool // of the quorum
	next     int64
	connects []string // the connect requests
	requests []string // the others
	script   func(server string)
}

func newScriptedEnsemble(modes map[string]quorumMode) *scriptedEnsemble {
	return &scriptedEnsemble{modes: modes, conns: map[net.Conn]bool{}, sessions: map[int64]bool{}}
}

// set changes what a server does, and ends all connections.
func (s *scriptedEnsemble) set(server string, mode quorumMode) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.modes[server] = mode
	for c := range s.conns {
		c.Close()
	}
}

// took returns the connect requests and the others, and forgets them.
func (s *scriptedEnsemble) took() (connects, requests []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	connects, requests = s.connects, s.requests
	s.connects, s.requests = nil, nil
	return connects, requests
}

func (s *scriptedEnsemble) dial(_ context.Context, _, server string) (net.Conn, error) {
	client, conn := net.Pipe()
	go func() {
		defer conn.Close()
		s.mu.Lock()
		s.conns[conn] = true
		s.mu.Unlock()
		if request, err := readFrame(conn); err == nil {
			answer, readOnly := s.connect(server, request)
			if _, err := conn.Write(answer); err == nil && answer != nil {
				s.serve(conn, readOnly)
			}
		}
		s.mu.Lock()
		delete(s.conns, conn)
		s.mu.Unlock()
	}()
	return client, nil
}

// connect answers a connect request, or returns nil to end the connection.
func (s *scriptedEnsemble) connect(server string, request []byte) (answer []byte, readOnly bool) {
	d := jute.NewDecoder(request)
	var r jute.ConnectRequest
	r.Decode(d)
	asked := d.Bool()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.connects = append(s.connects, fmt.Sprintf("%s %x %t", server, r.SessionID, asked))
	mode, known := s.modes[server]
	if !known {
		return nil, false
	}
	if s.script != nil {
		s.script(server)
	}
	res := jute.ConnectResponse{TimeOut: r.TimeOut, SessionID: r.SessionID, Passwd: password}
	switch {
	case mode == undecided, mode == noSessions && !asked, mode == readsOnly && (!asked || r.SessionID != 0):
		return nil, false
	case mode == noSessions:
		return frame((&jute.ReplyHeader{Err: jute.CodeNotReadOnly}).Append(nil)), true
	case mode == hasQuorum && r.SessionID != 0 && !s.sessions[r.SessionID]:
		res = jute.ConnectResponse{Passwd: make([]byte, 16)}
	case r.SessionID == 0:
		s.next++
		if res.SessionID = s.next; mode != hasQuorum {
			res.SessionID += 0xf000
		} else {
			s.sessions[res.SessionID] = true
		}
	}
	return frame(jute.AppendBool(res.Append(nil), mode != hasQuorum)), mode != hasQuorum
}

func (s *scriptedEnsemble) serve(c net.Conn, readOnly bool) {
	for {
		request, err := readFrame(c)
		if err != nil {
			return
		}
		d := jute.NewDecoder(request)
		r := jute.ReplyHeader{Xid: d.Int32(), Zxid: 1}
		op := d.Int32()
		body := make([]byte, 100)
		if readOnly && (op == jute.OpSync || op == jute.OpMulti || op == jute.OpCreate2) {
			r.Err, body = jute.CodeNotReadOnly, nil
		}
		s.mu.Lock()
		s.requests = append(s.requests, jute.OpName(op))
		s.mu.Unlock()
		if _, err := c.Write(frame(append(r.Append(nil), body...))); err != nil {
			return
		}
	}
}

// readOnly opens a connection that is content with reads.
func (t *fixture) readOnly(s *scriptedEnsemble, servers ...string) {
	t.Helper()
	t.connect(servers[0], s.dial, func(cfg *zkconn.Config) {
		cfg.ReadOnly, cfg.Servers, cfg.ConnectionTimeout = true, servers, timeout/4
	})
}

func (t *fixture) states(want ...state.ConnectionState) {
	t.Helper()
	if _, states := t.took(); !slices.Equal(states, want) {
		t.Errorf("states %v, want %v", states, want)
	}
}

// A session goes on to be counted while reads are served on another one, and is lost in time.
func TestReadOnlySession(t *testing.T) {
	virtual(t, func(t *fixture) {
		s := newScriptedEnsemble(map[string]quorumMode{"a:1": hasQuorum})
		t.readOnly(s, "a:1")
		session, err := t.conn.Connected(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(timeout / 4)
		t.states(state.Connected)
		s.took()
		s.set("a:1", readsOnly)
		time.Sleep(timeout / 4)
		t.states(state.Suspended, state.ReadOnly)
		if err := t.conn.Do(t.Context(), 0, exists("/")); err != nil {
			t.Error(err)
		}
		made, _ := create("/a", 0)
		if err := t.conn.Do(t.Context(), 0, made); err != nil {
			t.Error(err)
		}
		t.want(made.Err, zkconn.ErrNotReadOnly)

		// What is bound to the session waits, and is not sent.
		s.took()
		deadline, ok := t.conn.Deadline(session)
		err = t.conn.Do(t.Context(), session, exists("/bound"))
		t.want(err, zkconn.ErrConnectionLoss)
		if _, queued := t.conn.Start(session, nil, exists("/bound")); queued || sent(err) {
			t.Errorf("queued %t, sent %t", queued, sent(err))
		}
		if id, _ := t.conn.Session(); id != session {
			t.Errorf("session %x", id)
		}
		if now, _ := t.conn.Deadline(session); !ok || !now.Equal(deadline) {
			t.Errorf("the deadline moved from %v to %v", deadline, now)
		}
		connects, requests := s.took()
		requests = slices.DeleteFunc(requests, func(r string) bool { return r == "ping" })
		if len(requests) != 0 {
			t.Errorf("requests %q", requests)
		}

		time.Sleep(timeout)
		if more, _ := s.took(); len(connects)+len(more) == 0 {
			t.Error("no quorum was looked for")
		}
		t.states(state.Lost, state.ReadOnly)
		if _, ok := t.conn.Deadline(session); ok {
			t.Error("the session has a deadline")
		}
		if id, _ := t.conn.Session(); id != 0 {
			t.Errorf("session %x", id)
		}
		t.want(t.conn.Do(t.Context(), session, exists("/bound")), zkconn.ErrSessionExpired)
		time.Sleep(10 * timeout) // the connection stays up
		t.states()
		s.set("a:1", hasQuorum)
		time.Sleep(timeout / 4)
		t.states(state.Suspended, state.Reconnected)
		if id, err := t.conn.Connected(t.Context()); err != nil || id == session || id > 0xf000 {
			t.Errorf("session %x, error %v", id, err)
		}
		if err := t.conn.Close(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// A connection that serves reads only is left for another server as soon as that has a quorum, and
// the session goes on. No other session is made of it. Names are looked up, if the client does that.
func TestReadOnlyMoves(t *testing.T) {
	const a, b = "10.0.0.1:2181", "10.0.0.2:2181"
	n := names{addresses: map[string][]string{"a": {"10.0.0.1"}, "b": {"10.0.0.2"}}}
	for name, servers := range map[string][]string{"addresses": {a, b}, "names": {"a:2181", "b:2181"}} {
		t.Run(name, func(t *testing.T) {
			virtual(t, func(t *fixture) {
				s := newScriptedEnsemble(map[string]quorumMode{a: hasQuorum, b: undecided})
				t.connect(servers[0], s.dial, func(cfg *zkconn.Config) {
					cfg.ReadOnly, cfg.Servers, cfg.Resolve, cfg.ConnectionTimeout = true, servers, n.resolve, timeout/4
				})
				session, err := t.conn.Connected(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				s.set(a, readsOnly)
				time.Sleep(timeout / 4)
				t.states(state.Connected, state.Suspended, state.ReadOnly)
				s.mu.Lock()
				s.modes[b] = hasQuorum
				s.mu.Unlock()
				time.Sleep(timeout * 5 / 8) // the pauses between looks for a quorum are random
				t.states(state.Suspended, state.Reconnected)
				if id, err := t.conn.Connected(t.Context()); err != nil || id != session || t.conn.Server() != servers[1] {
					t.Errorf("session %x, was %x; server %s, error %v", id, session, t.conn.Server(), err)
				}
				if len(s.sessions) != 1 {
					t.Errorf("sessions of the quorum: %v", s.sessions)
				}
			})
		})
	}
}

// A server that is asked for reads, and has a quorum by then, does not cost the session.
func TestReadOnlyQuorumComesBack(t *testing.T) {
	virtual(t, func(t *fixture) {
		s := newScriptedEnsemble(map[string]quorumMode{"a:1": hasQuorum})
		t.readOnly(s, "a:1")
		session, err := t.conn.Connected(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		s.set("a:1", undecided)
		s.mu.Lock()
		s.script = func(string) { // its first answer is the last without a quorum
			s.modes["a:1"] = hasQuorum
		}
		s.mu.Unlock()
		time.Sleep(timeout / 2)
		if id, err := t.conn.Connected(t.Context()); err != nil || id != session {
			t.Errorf("session %x, was %x, error %v", id, session, err)
		}
		t.states(state.Connected, state.Suspended, state.Reconnected)
		want := []string{"a:1 0 false", "a:1 1 false", "a:1 0 true", "a:1 1 false"}
		if connects, _ := s.took(); !slices.Equal(connects, want) {
			t.Errorf("connect requests %q, want %q", connects, want)
		}
	})
}

// Servers that serve no reads without a quorum, or not as they should.
func TestReadOnlyRefused(t *testing.T) {
	for _, c := range []struct {
		name   string
		mode   quorumMode
		option bool
		want   string
	}{
		{"no sessions of their own", noSessions, true, "localSessionsEnabled"},
		{"undecided", undecided, true, "EOF"},
		{"not asked for", readsOnly, false, "EOF"},
		{"against the protocol", lying, false, "does not answer as ZooKeeper does"},
	} {
		t.Run(c.name, func(t *testing.T) {
			virtual(t, func(t *fixture) {
				s := newScriptedEnsemble(map[string]quorumMode{"a:1": c.mode})
				t.connect("a:1", s.dial, func(cfg *zkconn.Config) { cfg.ReadOnly, cfg.ConnectionTimeout = c.option, timeout })
				var reasons []string
				for range 20 {
					err := t.conn.Do(t.Context(), 0, exists("/"))
					t.want(err, zkconn.ErrConnectionLoss)
					reasons = append(reasons, err.Error())
				}
				if all := strings.Join(reasons, "\n"); !strings.Contains(all, c.want) {
					t.Errorf("errors:\n%s\nwant %q", all, c.want)
				}
				s.set("a:1", hasQuorum)
				if err := t.conn.Do(t.Context(), 0, exists("/")); err != nil {
					t.Error(err)
				}
				t.states(state.Connected)
			})
		})
	}
}

// Close closes the read-only session, and says that the other one is left.
func TestCloseReadOnly(t *testing.T) {
	virtual(t, func(t *fixture) {
		s := newScriptedEnsemble(map[string]quorumMode{"a:1": hasQuorum})
		t.readOnly(s, "a:1")
		if _, err := t.conn.Connected(t.Context()); err != nil {
			t.Fatal(err)
		}
		s.set("a:1", readsOnly)
		time.Sleep(timeout / 4)
		begin := time.Now()
		t.want(t.conn.Close(t.Context()), zkconn.ErrConnectionLoss)
		if time.Since(begin) > 0 {
			t.Errorf("it took %v", time.Since(begin))
		}
		if _, requests := s.took(); !slices.Contains(requests, "closeSession") {
			t.Errorf("requests %q", requests)
		}
	})
}

// The only connection was one for reads alone, and has ended: there is no session that could be lost, and the
// state is Lost after a session timeout without a connection, as before the first one.
func TestLostWithoutASession(t *testing.T) {
	virtual(t, func(t *fixture) {
		s := newScriptedEnsemble(map[string]quorumMode{"a:1": readsOnly})
		t.readOnly(s, "a:1")
		if _, err := t.conn.Connected(t.Context()); err != nil {
			t.Fatal(err)
		}
		t.states(state.ReadOnly)
		s.set("a:1", undecided)
		time.Sleep(timeout - time.Millisecond)
		t.states(state.Suspended)
		time.Sleep(2 * time.Millisecond)
		t.states(state.Lost)
		time.Sleep(10 * timeout)
		t.states()
		s.set("a:1", readsOnly)
		time.Sleep(timeout)
		t.states(state.ReadOnly)
		s.set("a:1", hasQuorum)
		time.Sleep(timeout)
		t.states(state.Suspended, state.Reconnected)
	})
}
