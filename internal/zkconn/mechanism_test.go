package zkconn_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/zkconn"
)

// saslServer is a server that answers everything, and notes what it was asked.
type saslServer struct {
	// answer returns the token and the code of the answer to a token, the n-th of the connection.
	// It may do with c what it likes, and then tell to end it.
	answer func(c net.Conn, connection, n int, token []byte) (challenge []byte, code jute.Code, end bool)

	mu          sync.Mutex
	connections [][]string // the requests
}

func (s *saslServer) note(connection int, what string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.connections[connection] = append(s.connections[connection], what)
}

// asked returns the requests of all connections.
func (s *saslServer) asked() [][]string {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := make([][]string, len(s.connections))
	for i, requests := range s.connections {
		all[i] = slices.Clone(requests)
	}
	return all
}

func (s *saslServer) dial(ctx context.Context, network, address string) (net.Conn, error) {
	s.mu.Lock()
	connection := len(s.connections)
	s.connections = append(s.connections, nil)
	s.mu.Unlock()
	return hijack(func(c net.Conn) {
		c.Write(welcome())
		s.serve(c, connection)
	})(ctx, network, address)
}

func (s *saslServer) serve(c net.Conn, connection int) {
	for n := 0; ; {
		request, err := readFrame(c)
		if err != nil {
			return
		}
		d := jute.NewDecoder(request)
		xid, op := d.Int32(), d.Int32()
		r := jute.ReplyHeader{Xid: xid}
		body := make([]byte, 100)
		if op == jute.OpSASL {
			token := d.Buffer()
			s.note(connection, fmt.Sprintf("sasl %q", token))
			n++
			var challenge []byte
			var end bool
			if challenge, r.Err, end = s.answer(c, connection, n, token); end {
				return
			}
			body = jute.AppendBuffer(nil, challenge)
		} else {
			s.note(connection, jute.OpName(op))
		}
		if _, err := c.Write(frame(append(r.Append(nil), body...))); err != nil {
			return
		}
	}
}

// echo accepts a client after two tokens.
func echo(_ net.Conn, _, n int, _ []byte) ([]byte, jute.Code, bool) {
	return []byte(fmt.Sprint("challenge ", n)), jute.CodeOK, false
}

// mechanism is one of a user's.
type mechanism func(ctx context.Context, challenge []byte) (answer []byte, done bool, err error)

func (m mechanism) Name() string { return "TEST" }

func (m mechanism) Next(ctx context.Context, challenge []byte) ([]byte, bool, error) {
	return m(ctx, challenge)
}

// honest is a mechanism that sends two tokens.
func honest(_ context.Context, challenge []byte) ([]byte, bool, error) {
	switch string(challenge) {
	case "":
		return nil, false, nil
	case "challenge 1":
		return []byte("response"), false, nil
	case "challenge 2":
		return nil, true, nil
	}
	return nil, false, fmt.Errorf("challenge %q: %w", challenge, zkconn.ErrAuthFailed)
}

func always(m mechanism) zkconn.SASL {
	return func(context.Context, string) (zkconn.Mechanism, error) { return m, nil }
}

// authenticating opens a connection that authenticates.
func (t *fixture) authenticating(s *saslServer, sasl zkconn.SASL) {
	t.Helper()
	t.connect("zk1:2181", s.dial, func(cfg *zkconn.Config) {
		cfg.SASL, cfg.Auth = sasl, []zkconn.Auth{{Scheme: "digest", Auth: []byte("a:b")}}
	})
}

// Every connection is authenticated before anything else is sent on it.
func TestSASLFirst(t *testing.T) {
	virtual(t, func(t *fixture) {
		var conns []net.Conn
		s := &saslServer{answer: func(c net.Conn, _, n int, _ []byte) ([]byte, jute.Code, bool) {
			if n == 1 {
				time.Sleep(timeout / 4) // nothing overtakes it
				conns = append(conns, c)
			}
			return echo(c, 0, n, nil)
		}}
		var servers []string
		t.authenticating(s, func(_ context.Context, server string) (zkconn.Mechanism, error) {
			servers = append(servers, server)
			return mechanism(honest), nil
		})
		sub := zkconn.NewSubscription("/a", false, func(zkconn.WatchEvent) {})
		if err := t.conn.Subscribe(t.Context(), sub); err != nil {
			t.Fatal(err)
		}
		conns[0].Close()
		synctest.Wait()
		if err := t.conn.Do(t.Context(), 0, exists("/")); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		asked := s.asked()
		if len(asked) != 2 || !slices.Equal(servers, []string{"zk1:2181", "zk1:2181"}) {
			t.Fatalf("asked %q, mechanisms for %q", asked, servers)
		}
		for i, want := range [][]string{
			{`sasl ""`, `sasl "response"`, "auth", "addWatch"},
			{`sasl ""`, `sasl "response"`, "auth", "sync", "setWatches2", "exists"},
		} {
			got := slices.DeleteFunc(asked[i], func(s string) bool { return s == "multi" || s == "ping" })
			if len(got) < len(want) || !slices.Equal(got[:len(want)], want) {
				t.Errorf("connection %d: asked %q, want %q", i, got, want)
			}
			if !strings.HasPrefix(asked[i][0], "sasl") || !strings.HasPrefix(asked[i][1], "sasl") {
				t.Errorf("connection %d: asked %q", i, asked[i])
			}
		}
	})
}

// What goes wrong on the first connection is tried again on the next, unless three connections were
// refused, by the server or by the mechanism.
func TestSASLFaults(t *testing.T) {
	refuses := func(code jute.Code) func(net.Conn, int) ([]byte, jute.Code, bool) {
		return func(net.Conn, int) ([]byte, jute.Code, bool) { return nil, code, false }
	}
	for name, c := range map[string]struct {
		fault    func(c net.Conn, n int) (challenge []byte, code jute.Code, end bool)
		times    int // connections with the fault; 0 for one
		terminal bool
	}{
		"ends": {fault: func(net.Conn, int) ([]byte, jute.Code, bool) { return nil, 0, true }},
		"ends after a token": {fault: func(c net.Conn, n int) ([]byte, jute.Code, bool) {
			challenge, code, _ := echo(c, 0, n, nil)
			return challenge, code, n == 2
		}},
		"is silent": {fault: func(c net.Conn, _ int) ([]byte, jute.Code, bool) {
			io.Copy(io.Discard, c)
			return nil, 0, true
		}},
		"answers out of order": {fault: func(c net.Conn, _ int) ([]byte, jute.Code, bool) {
			c.Write(frame((&jute.ReplyHeader{Xid: 7}).Append(nil)))
			return nil, 0, true
		}},
		"sends an event": {fault: func(c net.Conn, _ int) ([]byte, jute.Code, bool) {
			c.Write(frame((&jute.WatcherEvent{Type: 1, Path: "/a"}).Append((&jute.ReplyHeader{Xid: -1}).Append(nil))))
			return nil, 0, true
		}},
		"sends a short frame": {fault: func(c net.Conn, _ int) ([]byte, jute.Code, bool) {
			c.Write(frame([]byte("short")))
			return nil, 0, true
		}},
		"has no body": {fault: func(c net.Conn, _ int) ([]byte, jute.Code, bool) {
			c.Write(frame((&jute.ReplyHeader{Xid: -1000}).Append(nil)))
			io.Copy(io.Discard, c)
			return nil, 0, true
		}},
		"is throttled":        {fault: refuses(jute.CodeThrottledOp)},
		"refuses once":        {fault: refuses(jute.CodeAuthFailed)},
		"refuses twice":       {fault: refuses(jute.CodeAuthFailed), times: 2},
		"refuses three times": {fault: refuses(jute.CodeAuthFailed), times: 3, terminal: true},
		"requires":            {fault: refuses(jute.CodeSessionClosedRequireSASLAuth), times: 3, terminal: true},
		"is of another user":  {fault: func(net.Conn, int) ([]byte, jute.Code, bool) { return []byte("other"), 0, false }, times: 3, terminal: true},
		"is it twice":         {fault: func(net.Conn, int) ([]byte, jute.Code, bool) { return []byte("other"), 0, false }, times: 2},
		"refuses the last one": {fault: func(c net.Conn, n int) ([]byte, jute.Code, bool) {
			if n == 2 {
				return nil, jute.CodeAuthFailed, false
			}
			return echo(c, 0, n, nil)
		}, times: 3, terminal: true},
	} {
		t.Run(name, func(t *testing.T) {
			virtual(t, func(t *fixture) {
				s := &saslServer{answer: func(conn net.Conn, connection, n int, token []byte) ([]byte, jute.Code, bool) {
					if connection < max(c.times, 1) {
						return c.fault(conn, n)
					}
					return echo(conn, connection, n, token)
				}}
				t.authenticating(s, always(honest))
				err := t.conn.Do(t.Context(), 0, exists("/"))
				time.Sleep(10 * timeout)
				if !c.terminal {
					if err != nil {
						t.Errorf("error %v", err)
					}
					return
				}
				t.want(err, zkconn.ErrAuthFailed)
				t.want(t.conn.Do(t.Context(), 0, exists("/")), zkconn.ErrAuthFailed)
				if n := len(s.asked()); n != max(c.times, 1) || sent(err) {
					t.Errorf("%d connections, sent %t", n, sent(err))
				}
				begin := time.Now()
				if err := t.conn.Close(t.Context()); err != nil || time.Since(begin) > 0 {
					t.Errorf("Close: %v after %v", err, time.Since(begin))
				}
			})
		})
	}
}

// A server that requires SASL says so to any request. After three connections no other one follows.
func TestSASLRequired(t *testing.T) {
	virtual(t, func(t *fixture) {
		dials := 0
		serve := hijack(func(c net.Conn) {
			c.Write(welcome())
			if request, err := readFrame(c); err == nil {
				r := jute.ReplyHeader{Xid: jute.NewDecoder(request).Int32(), Err: -124}
				c.Write(frame(r.Append(nil)))
			}
			io.Copy(io.Discard, c) // it ends the connection late
		})
		t.connect("zk1:2181", func(ctx context.Context, network, address string) (net.Conn, error) {
			dials++
			return serve(ctx, network, address)
		}, nil)
		time.Sleep(2 * timeout) // the driver's first ping is refused
		for range 2 {
			err := t.conn.Do(t.Context(), 0, exists("/"))
			t.want(err, zkconn.ErrAuthFailed)
			if !strings.Contains(err.Error(), "authenticate by SASL") {
				t.Errorf("error %v", err)
			}
			time.Sleep(10 * timeout)
		}
		begin := time.Now()
		_ = t.conn.Close(t.Context())
		if dials != 3 || time.Since(begin) > 0 {
			t.Errorf("%d connections, Close took %v", dials, time.Since(begin))
		}
	})
}

// What is wrong with a mechanism.
func TestMechanisms(t *testing.T) {
	oops := errors.New("oops")
	for name, c := range map[string]struct {
		sasl zkconn.SASL
		want string // "" for success, at last
	}{
		"fails twice": {func() zkconn.SASL {
			calls := 0
			return func(context.Context, string) (zkconn.Mechanism, error) {
				if calls++; calls < 3 {
					return nil, oops
				}
				return mechanism(honest), nil
			}
		}(), ""},
		"waits with its context": {func() zkconn.SASL {
			calls := 0
			return always(func(ctx context.Context, challenge []byte) ([]byte, bool, error) {
				if calls++; calls == 1 {
					<-ctx.Done()
					return nil, false, ctx.Err()
				}
				return honest(ctx, challenge)
			})
		}(), ""},
		"sends the last token": {always(func(_ context.Context, challenge []byte) ([]byte, bool, error) {
			return []byte("done"), len(challenge) > 0, nil
		}), ""},
		"is done at once": {always(func(context.Context, []byte) ([]byte, bool, error) { return nil, true, nil }), ""},
		"gives up": {func(context.Context, string) (zkconn.Mechanism, error) {
			return nil, fmt.Errorf("%w: %w", oops, zkconn.ErrAuthFailed)
		}, "oops"},
		"gives up later": {always(func(_ context.Context, challenge []byte) ([]byte, bool, error) {
			if challenge == nil {
				return nil, false, nil
			}
			return nil, false, fmt.Errorf("%w: %w", oops, zkconn.ErrAuthFailed)
		}), "SASL TEST: oops"},
		"is nil":          {func(context.Context, string) (zkconn.Mechanism, error) { return nil, nil }, "no mechanism"},
		"is a nil func":   {always(nil), "panicked"},
		"panics at first": {func(context.Context, string) (zkconn.Mechanism, error) { panic("boom") }, "the mechanism panicked: boom"},
		"panics":          {always(func(context.Context, []byte) ([]byte, bool, error) { panic(oops) }), "SASL TEST: SASL: the mechanism panicked: oops"},
		"has a huge token": {always(func(context.Context, []byte) ([]byte, bool, error) {
			return bytes.Repeat([]byte("secret"), 1<<20), false, nil
		}), "too large"},
	} {
		t.Run(name, func(t *testing.T) {
			virtual(t, func(t *fixture) {
				s := &saslServer{answer: echo}
				t.authenticating(s, c.sasl)
				err := t.conn.Do(t.Context(), 0, exists("/"))
				if c.want == "" {
					if err != nil {
						t.Error(err)
					}
					return
				}
				t.want(err, zkconn.ErrAuthFailed)
				if !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "secret") {
					t.Errorf("error %v, want %q", err, c.want)
				}
			})
		})
	}
}

// A mechanism that never returns is called once, and holds up nothing.
func TestMechanismStuck(t *testing.T) {
	virtual(t, func(t *fixture) {
		release, calls := make(chan struct{}), 0
		s := &saslServer{answer: echo}
		t.authenticating(s, func(context.Context, string) (zkconn.Mechanism, error) {
			calls++
			<-release
			return nil, errors.New("too late")
		})
		err := t.conn.Do(t.Context(), 0, exists("/"))
		t.want(err, zkconn.ErrConnectionLoss)
		if sent(err) || !strings.Contains(err.Error(), "SASL: the mechanism") || errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error %v", err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		begin := time.Now()
		err = t.conn.Close(ctx)
		if err == nil || !strings.Contains(err.Error(), "has not returned") || time.Since(begin) > time.Second {
			t.Errorf("Close: %v after %v", err, time.Since(begin))
		}
		close(release)
		synctest.Wait()
		if calls != 1 || len(s.asked()) < 2 {
			t.Errorf("%d calls on %d connections", calls, len(s.asked()))
		}
	})
}

// Close ends an authentication at once.
func TestCloseWhileAuthenticating(t *testing.T) {
	silent := func(c net.Conn, _, _ int, _ []byte) ([]byte, jute.Code, bool) {
		io.Copy(io.Discard, c)
		return nil, 0, true
	}
	for name, m := range map[string]mechanism{
		"mechanism": func(ctx context.Context, _ []byte) ([]byte, bool, error) {
			<-ctx.Done()
			return nil, false, ctx.Err()
		},
		"server": honest,
	} {
		t.Run(name, func(t *testing.T) {
			virtual(t, func(t *fixture) {
				t.authenticating(&saslServer{answer: silent}, always(m))
				synctest.Wait()
				begin := time.Now()
				if err := t.conn.Close(t.Context()); err != nil || time.Since(begin) > 0 {
					t.Errorf("Close: %v after %v", err, time.Since(begin))
				}
			})
		})
	}
}
