package curatortest_test

import (
	"context"
	"errors"
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

// ended fails the test unless the server closes the connection.
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

// TestRefuseTCP checks Refuse with clients that do not use the server's own dialer.
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

// TestPartitionHidesTheEnd checks that during a partition neither side notices that the other one has
// closed the connection.
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

// TestPartitionLetsSessionsExpire cuts one direction for longer than the session timeout.
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
		pass(9 * time.Second) // the session has its full timeout again
		c = resume(t, c, dial(t, s))
		do(t, c, jute.OpExists, read("/e"))
		if data, ok := s.Get("/e"); !ok || string(data) != "data" {
			t.Errorf("data %q, %t", data, ok)
		}
	})
}

// TestRestartForgetsLaterTimeouts restarts the server of a session that has changed its timeout at a
// reconnect. ZooKeeper 3.8.0 ended such a session, with 2 s at first and 9 s later, 2.3 s after the
// restart.
func TestRestartForgetsLaterTimeouts(t *testing.T) {
	inBubble(t, func(t *testing.T, s *curatortest.Server) {
		req := jute.ConnectRequest{TimeOut: 2000}
		for range 2 {
			c, err := rawclient.Connect(dial(t, s), req)
			if err != nil || c.Session.TimeOut != req.TimeOut {
				t.Fatalf("%d ms, %v", c.Session.TimeOut, err)
			}
			req = jute.ConnectRequest{TimeOut: 9000, SessionID: c.Session.SessionID, Passwd: c.Session.Passwd}
		}
		s.Restart()
		pass(2 * time.Second)
		if s.Sessions() != 1 {
			t.Error("the session has ended too early")
		}
		pass(tick)
		if s.Sessions() != 0 {
			t.Error("the session goes on")
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
