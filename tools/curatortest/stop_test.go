package curatortest_test

import (
	"errors"
	"io"
	"net"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/zkserver/rawclient"
	"github.com/go-curator/curator/tools/curatortest"
)

// TestConnectionsEndDuringPause closes connections of a paused server by other faults. They end at
// once.
func TestConnectionsEndDuringPause(t *testing.T) {
	for name, tt := range map[string]struct {
		end   func(s *curatortest.Server, session int64)
		fresh bool // connections without a session end, too
		runs  bool // the fault also ends the pause
	}{
		"Disconnect":        {func(s *curatortest.Server, _ int64) { s.Disconnect() }, true, false},
		"DisconnectSession": {func(s *curatortest.Server, id int64) { s.DisconnectSession(id) }, false, false},
		"Restart":           {func(s *curatortest.Server, _ int64) { s.Restart() }, true, true},
		"Stop, Start":       {func(s *curatortest.Server, _ int64) { s.Stop(); s.Start() }, true, true},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, s *curatortest.Server) {
				c, fresh := connect(t, dial(t, s)), dial(t, s)
				do(t, c, jute.OpCreate, create("/e", jute.FlagEphemeral))
				synctest.Wait() // until the server has accepted the fresh connection
				resume := s.Pause()
				if _, err := c.Send(jute.OpCreate, create("/lost", 0)); err != nil {
					t.Fatal(err)
				}
				start := time.Now()
				tt.end(s, c.Session.SessionID)
				ended(t, c)
				if tt.fresh {
					if _, err := fresh.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
						t.Errorf("a connection without a session: %v", err)
					}
				}
				if !tt.runs {
					again := dial(t, s)
					if err := again.SetDeadline(time.Now().Add(time.Second)); err != nil {
						t.Fatal(err)
					}
					if _, err := tryResume(c, again); err == nil {
						t.Error("a paused server has answered")
					}
					resume()
					synctest.Wait() // otherwise this attempt could take the session from the next one
				} else if passed := time.Since(start); passed != 0 {
					t.Errorf("ended after %v", passed)
				}
				c = resumeSession(t, c, s)
				resume() // has no effect if the pause has ended
				if f, err := c.Do(jute.OpExists, read("/lost")); err != nil || f.Err != jute.CodeNoNode {
					t.Errorf("a request that had not been read: %v, code %d", err, f.Err)
				}
				do(t, c, jute.OpExists, read("/e"))
			})
		})
	}
}

func resumeSession(t *testing.T, c *rawclient.Client, s *curatortest.Server) *rawclient.Client {
	t.Helper()
	return resume(t, c, dial(t, s))
}

// TestExpiredDuringPause expires a session of a paused server. Its client learns of that at the
// resume, unless its connection is closed before.
func TestExpiredDuringPause(t *testing.T) {
	for name, closing := range map[string]bool{"until the resume": false, "until Disconnect": true} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, s *curatortest.Server) {
				c := connect(t, dial(t, s))
				resume := s.Pause()
				s.ExpireSession(c.Session.SessionID)
				if err := c.Conn.SetReadDeadline(time.Now().Add(time.Second)); err != nil {
					t.Fatal(err)
				}
				if _, err := c.Receive(); errors.Is(err, io.EOF) {
					t.Error("a paused server has closed a connection")
				}
				if err := c.Conn.SetReadDeadline(time.Time{}); err != nil {
					t.Fatal(err)
				}
				if closing {
					s.Disconnect()
				} else {
					resume()
				}
				ended(t, c)
			})
		})
	}
}

// TestRestartDuringPauseKeepsSessions restarts a server that was paused for longer than the session
// timeout. The session still exists, and has its full timeout.
func TestRestartDuringPauseKeepsSessions(t *testing.T) {
	inBubble(t, func(t *testing.T, s *curatortest.Server) {
		c := connect(t, dial(t, s))
		resume := s.Pause()
		pass(time.Minute)
		s.Restart()
		resume()
		pass(9 * time.Second)
		c = resumeSession(t, c, s)
		do(t, c, jute.OpPing, nil)
	})
}

// TestStop stops a server for longer than the session timeout, and starts it again.
func TestStop(t *testing.T) {
	inBubble(t, func(t *testing.T, s *curatortest.Server) {
		c := connect(t, dial(t, s))
		do(t, c, jute.OpCreate, create("/e", jute.FlagEphemeral))
		do(t, c, jute.OpCreateContainer, create("/container", jute.FlagContainer))
		do(t, c, jute.OpCreate, create("/container/x", 0))
		do(t, c, jute.OpExists, watch("/e"))
		do(t, c, jute.OpDelete, &jute.DeleteRequest{Path: "/container/x", Version: -1})
		s.Start() // has no effect: the server runs
		do(t, c, jute.OpPing, nil)

		s.Stop()
		s.Stop()
		ended(t, c)
		for range 3 {
			if _, err := s.DialContext(t.Context(), "tcp", ""); !errors.Is(err, syscall.ECONNREFUSED) {
				t.Errorf("dial: %v", err)
			}
			pass(time.Minute)
			s.AdvanceClock(time.Minute)
		}
		if data, ok := s.Get("/e"); !ok || string(data) != "data" || s.Sessions() != 1 || s.Watches() != 0 {
			t.Errorf("data %q, %d sessions, %d watches", data, s.Sessions(), s.Watches())
		}
		if _, ok := s.Get("/container"); !ok {
			t.Error("a stopped server has removed a node")
		}

		s.Start()
		pass(9 * time.Second) // the session has its full timeout again
		c = resumeSession(t, c, s)
		do(t, c, jute.OpExists, read("/e"))
		c.Conn.Close()
		pass(time.Minute)
		if s.Sessions() != 0 || len(s.Children("/")) != 1 {
			t.Errorf("%d sessions, nodes %v: nothing ends any more", s.Sessions(), s.Children("/"))
		}
	})
}

// TestStopTCP checks that a stopped server keeps its port.
func TestStopTCP(t *testing.T) {
	s := curatortest.Start(t)
	s.Stop()
	if l, err := net.Listen("tcp", s.ConnectString()); err == nil {
		l.Close()
		t.Error("somebody else can have the port")
	}
	conn, err := net.Dial("tcp", s.ConnectString())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := rawclient.Connect(conn, jute.ConnectRequest{TimeOut: 10000}); err == nil {
		t.Error("connected")
	}
	s.Start()
	connect(t, dial(t, s))
}

func TestStartAfterClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tb := &fakeTB{}
		s := curatortest.Start(tb, curatortest.Virtual())
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		s.Start()
		if len(tb.failures) != 1 || tb.failures[0] != "start: the server was closed" {
			t.Errorf("failures: %q", tb.failures)
		}
	})
}
