package curatortest_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/zkserver/rawclient"
	"github.com/go-curator/curator/tools/curatortest"
)

// ended tells whether the server has closed the connection.
func ended(t *testing.T, c *rawclient.Client) {
	t.Helper()
	if f, err := c.Receive(); !errors.Is(err, io.EOF) {
		t.Errorf("the connection goes on: %v, %v", f, err)
	}
}

func TestExpireSession(t *testing.T) {
	inBubble(t, func(t *testing.T, s *curatortest.Server) {
		owner, watcher := connect(t, dial(t, s)), connect(t, dial(t, s))
		do(t, owner, jute.OpCreate, create("/e", jute.FlagEphemeral))
		do(t, watcher, jute.OpExists, watch("/e"))
		s.ExpireSession(12345)
		s.ExpireSession(owner.Session.SessionID)
		ended(t, owner)
		if s.Sessions() != 1 || len(s.Children("/")) != 1 {
			t.Errorf("%d sessions, nodes %v", s.Sessions(), s.Children("/"))
		}
		if f, err := watcher.Receive(); err != nil || f.Xid != jute.XidNotification {
			t.Errorf("no event: %v, %v", f, err)
		}
		if _, err := tryResume(owner, dial(t, s)); !errors.Is(err, rawclient.ErrExpired) {
			t.Errorf("resumed: %v", err)
		}
	})
}

func TestDisconnect(t *testing.T) {
	inBubble(t, func(t *testing.T, s *curatortest.Server) {
		a, b, fresh := connect(t, dial(t, s)), connect(t, dial(t, s)), dial(t, s)
		do(t, a, jute.OpCreate, create("/e", jute.FlagEphemeral))
		s.DisconnectSession(0)
		s.DisconnectSession(b.Session.SessionID)
		ended(t, b)
		do(t, a, jute.OpPing, nil)
		synctest.Wait()
		s.Disconnect()
		ended(t, a)
		if _, err := fresh.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
			t.Errorf("a connection without a session: %v", err)
		}
		a = resume(t, a, dial(t, s))
		do(t, a, jute.OpExists, read("/e"))
	})
}

func TestRefuse(t *testing.T) {
	inBubble(t, func(t *testing.T, s *curatortest.Server) {
		c := connect(t, dial(t, s))
		accept := s.Refuse()
		if _, err := s.DialContext(t.Context(), "tcp", ""); !errors.Is(err, syscall.ECONNREFUSED) {
			t.Errorf("dial: %v", err)
		}
		do(t, c, jute.OpPing, nil)
		accept()
		accept()
		connect(t, dial(t, s))
	})
}

// TestRefuseTCP shows what clients see that do not connect through the server's own dialer.
func TestRefuseTCP(t *testing.T) {
	s := curatortest.Start(t)
	s.Refuse()
	conn, err := net.Dial("tcp", s.ConnectString())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := rawclient.Connect(conn, jute.ConnectRequest{TimeOut: 10000}); err == nil {
		t.Error("connected")
	}
}

func TestPartition(t *testing.T) {
	for _, d := range []curatortest.Direction{curatortest.Both, curatortest.ToServer, curatortest.ToClient} {
		t.Run(d.String(), func(t *testing.T) {
			inBubble(t, func(t *testing.T, s *curatortest.Server) { testPartition(t, s, d) })
		})
	}
}

func testPartition(t *testing.T, s *curatortest.Server, d curatortest.Direction) {
	c := connect(t, dial(t, s))
	heal := s.Partition(d)
	if _, err := c.Send(jute.OpCreate, create("/a", jute.FlagEphemeral)); err != nil {
		t.Fatal(err)
	}
	pass(5 * time.Second)
	if _, arrived := s.Get("/a"); arrived != (d == curatortest.ToClient) {
		t.Errorf("the request has arrived: %t", arrived)
	}
	if err := c.Conn.SetReadDeadline(time.Now().Add(time.Second)); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Receive(); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("an answer has arrived: %v", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if _, err := s.DialContext(ctx, "tcp", ""); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("dial: %v", err)
	}
	if err := c.Conn.SetReadDeadline(time.Time{}); err != nil {
		t.Fatal(err)
	}
	heal()
	heal()
	if f, err := c.Receive(); err != nil || f.Err != jute.CodeOK {
		t.Errorf("after the heal: %v, %v", f, err)
	}
	do(t, c, jute.OpExists, read("/a"))
}

// TestPartitionHidesTheEnd shows that neither side learns of the other one's end before
// the network is there again.
func TestPartitionHidesTheEnd(t *testing.T) {
	inBubble(t, func(t *testing.T, s *curatortest.Server) {
		a, b := connect(t, dial(t, s)), connect(t, dial(t, s))
		watchFor(t, a, "/x")
		heal := s.Partition(curatortest.Both)
		if err := a.Conn.Close(); err != nil {
			t.Fatal(err)
		}
		s.ExpireSession(b.Session.SessionID)
		synctest.Wait()
		if s.Watches() != 1 {
			t.Error("the server knows that a client has gone")
		}
		if err := b.Conn.SetReadDeadline(time.Now().Add(time.Second)); err != nil {
			t.Fatal(err)
		}
		if _, err := b.Receive(); errors.Is(err, io.EOF) {
			t.Error("the client knows that its session is over")
		}
		if err := b.Conn.SetReadDeadline(time.Time{}); err != nil {
			t.Fatal(err)
		}
		heal()
		ended(t, b)
		synctest.Wait()
		if s.Watches() != 0 {
			t.Error("a watch of a client that has gone")
		}
	})
}

// TestPartitionLetsSessionsExpire cuts one direction for longer than a session lasts.
func TestPartitionLetsSessionsExpire(t *testing.T) {
	inBubble(t, func(t *testing.T, s *curatortest.Server) {
		c := connect(t, dial(t, s))
		heal := s.Partition(curatortest.ToServer)
		for range 12 {
			if _, err := c.Send(jute.OpPing, nil); err != nil {
				break // the server has closed the connection
			}
			pass(time.Second)
		}
		if s.Sessions() != 0 {
			t.Error("the session lives")
		}
		heal()
		ended(t, c)
	})
}

func TestPause(t *testing.T) {
	inBubble(t, func(t *testing.T, s *curatortest.Server) {
		c := connect(t, dial(t, s))
		resume := s.Pause()
		if _, err := c.Send(jute.OpCreate, create("/a", 0)); err != nil {
			t.Fatal(err)
		}
		fresh := dial(t, s)
		pass(9 * time.Second)
		if _, done := s.Get("/a"); done {
			t.Error("a paused server has done a request")
		}
		resume()
		resume()
		if f, err := c.Receive(); err != nil || f.Err != jute.CodeOK {
			t.Errorf("after the resume: %v, %v", f, err)
		}
		connect(t, fresh)

		outer, inner := s.Pause(), s.Pause()
		if _, err := c.Send(jute.OpPing, nil); err != nil {
			t.Fatal(err)
		}
		pass(time.Minute)
		outer()
		if s.Sessions() != 2 {
			t.Error("a paused server has ended a session")
		}
		inner()
		ended(t, c)
		if s.Sessions() != 0 {
			t.Error("sessions that have not been heard of go on")
		}
	})
}

func TestRestart(t *testing.T) {
	inBubble(t, func(t *testing.T, s *curatortest.Server) {
		c := connect(t, dial(t, s))
		do(t, c, jute.OpCreate, create("/e", jute.FlagEphemeral))
		do(t, c, jute.OpExists, watch("/e"))
		pass(9 * time.Second)
		s.Restart()
		ended(t, c)
		if s.Watches() != 0 {
			t.Error("a watch is left")
		}
		pass(9 * time.Second) // the session has its full time anew
		c = resume(t, c, dial(t, s))
		do(t, c, jute.OpExists, read("/e"))
		if data, ok := s.Get("/e"); !ok || string(data) != "data" {
			t.Errorf("data %q, %t", data, ok)
		}
	})
}

func TestRestartEmpty(t *testing.T) {
	inBubble(t, func(t *testing.T, s *curatortest.Server) {
		c := connect(t, dial(t, s))
		seen := do(t, c, jute.OpCreate, create("/a", 0)).Zxid
		s.RestartEmpty()
		ended(t, c)
		if s.Sessions() != 0 || len(s.Children("/")) != 1 {
			t.Errorf("%d sessions, nodes %v", s.Sessions(), s.Children("/"))
		}
		if _, err := tryResume(c, dial(t, s)); !errors.Is(err, rawclient.ErrExpired) {
			t.Errorf("resume: %v", err)
		}
		if _, err := rawclient.Connect(dial(t, s), jute.ConnectRequest{LastZxidSeen: seen}); !errors.Is(err, io.EOF) {
			t.Errorf("a client that has seen more: %v", err)
		}
		if fresh := connect(t, dial(t, s)); fresh.Session.SessionID == c.Session.SessionID {
			t.Error("a session id is used twice")
		}
	})
}

// codedError is an error with a code, as package framework's are.
type codedError jute.Code

func (c codedError) Error() string { return fmt.Sprint("code ", jute.Code(c)) }
func (c codedError) Code() int32   { return jute.Code(c) }

func TestInjectFail(t *testing.T) {
	inBubble(t, func(t *testing.T, s *curatortest.Server) {
		c := connect(t, dial(t, s))
		hit := s.Inject(curatortest.Rule{
			Op: "create", Times: 2, Do: curatortest.Fail(fmt.Errorf("wrapped: %w", codedError(jute.CodeNoAuth))),
		})
		if hit() {
			t.Error("hit before a request")
		}
		for range 2 {
			if f, err := c.Do(jute.OpCreate2, create("/a", 0)); err != nil || f.Err != jute.CodeNoAuth {
				t.Errorf("%v, %v", f, err)
			}
		}
		if !hit() {
			t.Error("no hit")
		}
		do(t, c, jute.OpCreate, create("/a", 0))
	})
}

func TestInjectCut(t *testing.T) {
	for name, test := range map[string]struct {
		fate    curatortest.Fate
		applied bool
	}{
		"CutBefore": {curatortest.CutBefore(), false},
		"CutAfter":  {curatortest.CutAfter(), true},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, s *curatortest.Server) {
				c := connect(t, dial(t, s))
				do(t, c, jute.OpGetChildren, watch("/"))
				s.Inject(curatortest.Rule{Path: "/a", Do: test.fate})
				// The first answer, which is on its way by then, arrives.
				for _, path := range []string{"/b/none", "/a"} {
					if _, err := c.Send(jute.OpCreate, create(path, jute.FlagEphemeral)); err != nil {
						t.Fatal(err)
					}
				}
				if f, err := c.Receive(); err != nil || f.Err != jute.CodeNoNode {
					t.Errorf("the request before: %v, %v", f, err)
				}
				ended(t, c)
				if _, applied := s.Get("/a"); applied != test.applied {
					t.Errorf("applied: %t", applied)
				}
				resume(t, c, dial(t, s))
			})
		})
	}
}

// TestInjectCutHandshake loses the answer to a handshake, and a handshake.
func TestInjectCutHandshake(t *testing.T) {
	inBubble(t, func(t *testing.T, s *curatortest.Server) {
		for sessions, fate := range []curatortest.Fate{curatortest.CutBefore(), curatortest.CutAfter()} {
			s.Inject(curatortest.Rule{Op: "createSession", Do: fate})
			if _, err := rawclient.Connect(dial(t, s), jute.ConnectRequest{TimeOut: 10000}); !errors.Is(err, io.EOF) {
				t.Errorf("handshake: %v", err)
			}
			if s.Sessions() != sessions {
				t.Errorf("%d sessions", s.Sessions())
			}
		}
		c := connect(t, dial(t, s))
		s.Inject(curatortest.Rule{
			Op: "createSession", SessionID: c.Session.SessionID, Do: curatortest.Fail(codedError(jute.CodeSessionExpired)),
		})
		if _, err := tryResume(c, dial(t, s)); !errors.Is(err, rawclient.ErrExpired) {
			t.Errorf("resume: %v", err)
		}
	})
}

func TestInjectDelay(t *testing.T) {
	inBubble(t, func(t *testing.T, s *curatortest.Server) {
		c, other := connect(t, dial(t, s)), connect(t, dial(t, s))
		watchFor(t, c, "/b")
		s.Inject(curatortest.Rule{Op: "create", Path: "/a", Do: curatortest.Delay(3 * time.Second)})
		start := time.Now()
		if _, err := c.Send(jute.OpCreate, create("/a", 0)); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		do(t, other, jute.OpExists, read("/a")) // it is done at once
		do(t, other, jute.OpCreate, create("/b", 0))
		if waited := time.Since(start); waited != 0 {
			t.Errorf("another connection waited for %v", waited)
		}
		f, err := c.Receive()
		if waited := time.Since(start); err != nil || f.Xid == jute.XidNotification || waited != 3*time.Second {
			t.Errorf("%v, %v after %v", f, err, waited)
		}
		if f, err := c.Receive(); err != nil || f.Xid != jute.XidNotification {
			t.Errorf("the event behind the answer: %v, %v", f, err)
		}
		do(t, c, jute.OpPing, nil)
		if waited := time.Since(start); waited != 3*time.Second {
			t.Errorf("later requests waited until %v", waited)
		}
	})
}

// TestInjectMatches has rules that fit a request, and some that do not.
func TestInjectMatches(t *testing.T) {
	fail := curatortest.Fail(codedError(jute.CodeAPIError))
	multi := func(bodies ...*jute.CreateRequest) rawclient.Raw {
		var b []byte
		for _, body := range bodies {
			b = body.Append((&jute.MultiHeader{Type: jute.OpCreate}).Append(b))
		}
		return (&jute.MultiHeader{Type: -1, Done: true, Err: -1}).Append(b)
	}
	for name, test := range map[string]struct {
		rule curatortest.Rule
		op   jute.Op
		body rawclient.Body
		want bool
	}{
		"any":                        {curatortest.Rule{}, jute.OpExists, read("/a"), true},
		"any but ping":               {curatortest.Rule{}, jute.OpPing, nil, false},
		"ping":                       {curatortest.Rule{Op: "ping"}, jute.OpPing, nil, true},
		"another operation":          {curatortest.Rule{Op: "getData"}, jute.OpExists, read("/a"), false},
		"no such operation":          {curatortest.Rule{Op: "none"}, jute.OpExists, read("/a"), false},
		"later form":                 {curatortest.Rule{Op: "getChildren"}, jute.OpGetChildren2, read("/a"), true},
		"only the later form":        {curatortest.Rule{Op: "getChildren2"}, jute.OpGetChildren, read("/a"), false},
		"path":                       {curatortest.Rule{Path: "/a"}, jute.OpExists, read("/a"), true},
		"another path":               {curatortest.Rule{Path: "/a"}, jute.OpExists, read("/a/b"), false},
		"below":                      {curatortest.Rule{Path: "/a/**"}, jute.OpExists, read("/a/b/c"), true},
		"below but itself":           {curatortest.Rule{Path: "/a/**"}, jute.OpExists, read("/a"), false},
		"below but beside":           {curatortest.Rule{Path: "/a/**"}, jute.OpExists, read("/ab"), false},
		"below everything":           {curatortest.Rule{Path: "/**"}, jute.OpExists, read("/a"), true},
		"path of a request without":  {curatortest.Rule{Path: "/**"}, jute.OpWhoAmI, nil, false},
		"multi":                      {curatortest.Rule{Path: "/b"}, jute.OpMulti, multi(create("/a", 0), create("/b", 0)), true},
		"multi of others":            {curatortest.Rule{Path: "/c"}, jute.OpMulti, multi(create("/a", 0), create("/b", 0)), false},
		"another session":            {curatortest.Rule{SessionID: 1}, jute.OpExists, read("/a"), false},
		"sequential without numbers": {curatortest.Rule{Op: "create", Path: "/s-"}, jute.OpCreate, create("/s-", jute.FlagSequential), true},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, s *curatortest.Server) {
				c := connect(t, dial(t, s))
				test.rule.Do = fail
				hit := s.Inject(test.rule)
				f, err := c.Do(test.op, test.body)
				if err != nil || hit() != test.want || (f.Err == jute.CodeAPIError) != test.want {
					t.Errorf("hit %t, code %d, %v", hit(), f.Err, err)
				}
			})
		})
	}
}

// TestFaultsEndWithTheTest leaves faults to the cleanup of a test that goes before its
// server does.
func TestFaultsEndWithTheTest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tb := &fakeTB{}
		s := curatortest.Start(tb, curatortest.Virtual())
		conn, err := s.DialContext(t.Context(), "tcp", "")
		if err != nil {
			t.Fatal(err)
		}
		c := connect(t, conn)
		tb.cleanups = append(tb.cleanups, func() {
			do(t, c, jute.OpCreate, create("/a", 0))
			accepted, err := s.DialContext(t.Context(), "tcp", "")
			if err != nil {
				t.Fatal(err)
			}
			accepted.Close()
		})
		hit := s.Inject(curatortest.Rule{Op: "create", Do: curatortest.CutBefore()})
		s.Refuse()
		s.Pause()
		for _, d := range []curatortest.Direction{curatortest.Both, curatortest.ToServer, curatortest.ToClient} {
			s.Partition(d)
		}
		tb.end()
		if hit() || len(tb.failures) > 0 {
			t.Errorf("hit %t, failures %v", hit(), tb.failures)
		}
		ended(t, c)
	})
}

func TestInjectWithoutCodeFails(t *testing.T) {
	rule := curatortest.Rule{Do: curatortest.Fail(errors.New("no code"))}
	tb := &fakeTB{}
	s := curatortest.Start(tb)
	if hit := s.Inject(rule); hit() || len(tb.failures) != 1 {
		t.Errorf("failures: %v", tb.failures)
	}
	tb.end()
	s, err := curatortest.New()
	if err != nil {
		t.Fatal(err)
	}
	s.Inject(rule)
	if err := s.Close(); err == nil {
		t.Error("Close says nothing of it")
	}
}

func TestOptionsThatMakeNoSense(t *testing.T) {
	for name, opts := range map[string][]curatortest.Option{
		"nil":                nil,
		"tick":               {curatortest.WithTickTime(0)},
		"no address":         {curatortest.WithListen("")},
		"virtual address":    {curatortest.Virtual(), curatortest.WithListen("127.0.0.1:0")},
		"container interval": {curatortest.WithContainerCheckInterval(-1)},
	} {
		if opts == nil {
			opts = []curatortest.Option{nil}
		}
		if _, err := curatortest.New(opts...); !errors.Is(err, curatortest.ErrInvalidOption) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := curatortest.New(curatortest.WithListen("256.0.0.1:0")); err == nil {
		t.Error("listens on an address that is none")
	}
	if _, err := curatortest.NewReal(1, curatortest.Virtual()); !errors.Is(err, curatortest.ErrInvalidOption) {
		t.Errorf("a virtual real server: %v", err)
	}
	if _, err := curatortest.NewReal(0); !errors.Is(err, curatortest.ErrInvalidOption) {
		t.Errorf("no servers: %v", err)
	}
}
