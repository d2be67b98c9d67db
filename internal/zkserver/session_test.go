package zkserver_test

import (
	"errors"
	"io"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/zkserver"
	"github.com/go-curator/curator/internal/zkserver/rawclient"
	"github.com/go-curator/curator/tools/curatortest"
)

// server is an embedded server in the bubble of a test.
type server struct {
	*curatortest.Server
	t *testing.T
}

// inBubble runs a test in virtual time on a server with ticks of 500 ms.
func inBubble(t *testing.T, test func(t *testing.T, s server), opts ...curatortest.Option) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		opts := append([]curatortest.Option{curatortest.Virtual(), curatortest.WithTickTime(tick)}, opts...)
		test(t, server{curatortest.Start(t, opts...), t})
	})
}

// dial returns a connection, closed at the end of the test.
func (s server) dial() net.Conn {
	s.t.Helper()
	conn, err := s.DialContext(s.t.Context(), "tcp", s.ConnectString())
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { conn.Close() })
	return conn
}

// connect returns a client with a new session.
func (s server) connect(timeout time.Duration) *rawclient.Client {
	s.t.Helper()
	c, err := rawclient.Connect(s.dial(), jute.ConnectRequest{TimeOut: int32(timeout.Milliseconds())})
	if err != nil {
		s.t.Fatal(err)
	}
	return c
}

// resume returns a client with the session of another one.
func (s server) resume(c *rawclient.Client) (*rawclient.Client, error) {
	s.t.Helper()
	return rawclient.Connect(s.dial(), jute.ConnectRequest{
		TimeOut: c.Session.TimeOut, SessionID: c.Session.SessionID, Passwd: c.Session.Passwd,
	})
}

// do does a request that must succeed.
func do(t *testing.T, c *rawclient.Client, op jute.Op, body rawclient.Body) rawclient.Frame {
	t.Helper()
	f, err := c.Do(op, body)
	if err != nil || f.Err != jute.CodeOK {
		t.Fatalf("%s: %v, code %d", describe(op, body), err, f.Err)
	}
	return f
}

// pass lets virtual time pass, and what happens in it.
func pass(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

func TestSessionEndsAtTheTickAfterItsTimeout(t *testing.T) {
	for phase := time.Duration(0); phase <= tick; phase += tick / 5 {
		inBubble(t, func(t *testing.T, s server) {
			pass(phase)
			c := s.connect(2 * tick)
			timeout := time.Duration(c.Session.TimeOut) * time.Millisecond
			if timeout != 2*tick {
				t.Fatalf("timeout %v", timeout)
			}
			heard := time.Now()
			do(t, c, jute.OpCreate, newNode("/e", "", jute.FlagEphemeral))
			pass(timeout)
			if s.Sessions() != 1 {
				t.Errorf("phase %v: ended %v after it was heard of", phase, time.Since(heard))
			}
			pass(tick)
			if s.Sessions() != 0 {
				t.Errorf("phase %v: alive %v after it was heard of", phase, time.Since(heard))
			}
			if _, ok := s.Get("/e"); ok {
				t.Error("the ephemeral node is there")
			}
			if _, err := c.Receive(); !errors.Is(err, io.EOF) {
				t.Errorf("the connection of the session: %v", err)
			}
		})
	}
}

func TestEveryRequestKeepsASession(t *testing.T) {
	requests := map[string]func(c *rawclient.Client) error{
		"ping":  func(c *rawclient.Client) error { _, err := c.Do(jute.OpPing, nil); return err },
		"read":  func(c *rawclient.Client) error { _, err := c.Do(jute.OpExists, &jute.PathWatchRequest{}); return err },
		"write": func(c *rawclient.Client) error { _, err := c.Do(jute.OpDelete, &jute.DeleteRequest{}); return err },
	}
	for name, request := range requests {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, s server) {
				c := s.connect(2 * tick)
				for end := time.Now().Add(time.Hour); time.Now().Before(end); pass(2*tick - time.Millisecond) {
					if err := request(c); err != nil {
						t.Fatal(err)
					}
				}
				if s.Sessions() != 1 {
					t.Error("the session is over")
				}
			})
		})
	}
}

func TestSessionOutlivesItsConnection(t *testing.T) {
	inBubble(t, func(t *testing.T, s server) {
		c := s.connect(4 * tick)
		do(t, c, jute.OpCreate, newNode("/e", "", jute.FlagEphemeral))
		do(t, c, jute.OpExists, &jute.PathWatchRequest{Path: "/e", Watch: true})
		c.Conn.Close()
		synctest.Wait()
		if s.Sessions() != 1 || s.Watches() != 0 {
			t.Fatalf("%d sessions, %d watches", s.Sessions(), s.Watches())
		}
		pass(4*tick - time.Millisecond)
		resumed, err := s.resume(c)
		if err != nil {
			t.Fatal(err)
		}
		pass(4*tick - time.Millisecond)
		do(t, resumed, jute.OpExists, &jute.PathWatchRequest{Path: "/e"})
		resumed.Conn.Close()
		pass(5 * tick)
		if _, err := s.resume(c); !errors.Is(err, rawclient.ErrExpired) {
			t.Errorf("a session that is over: %v", err)
		}
	})
}

// TestEphemeralsEndTogether shows that the nodes of a session go in one transaction, and
// that watches hear of it.
func TestEphemeralsEndTogether(t *testing.T) {
	inBubble(t, func(t *testing.T, s server) {
		owner, watcher := s.connect(2*tick), s.connect(20*tick)
		before := int64(0)
		for _, path := range []string{"/a", "/b", "/c"} {
			before = do(t, owner, jute.OpCreate, newNode(path, "", jute.FlagEphemeral)).Zxid
		}
		do(t, watcher, jute.OpAddWatch, &jute.AddWatchRequest{Path: "/", Mode: jute.ModePersistentRecursive})
		pass(3 * tick)
		f := do(t, watcher, jute.OpExists, &jute.PathWatchRequest{Path: "/"})
		if f.Zxid != before+1 {
			t.Errorf("zxid %d after %d", f.Zxid, before)
		}
		if len(watcher.Events) != 3 {
			t.Errorf("events: %v", watcher.Events)
		}
	})
}

func TestSessionTimeoutsHaveBounds(t *testing.T) {
	config := zkserver.Config{TickTime: time.Second, MinSessionTimeout: 3 * time.Second, MaxSessionTimeout: 5 * time.Second}
	for asked, want := range map[int32]int32{0: 3000, 2999: 3000, 4000: 4000, 5001: 5000, -1: 3000} {
		synctest.Test(t, func(t *testing.T) {
			s := zkserver.New(config)
			defer s.Close()
			client, end := net.Pipe()
			defer client.Close()
			go s.ServeConn(end)
			c, err := rawclient.Connect(client, jute.ConnectRequest{TimeOut: asked})
			if err != nil {
				t.Fatal(err)
			}
			if c.Session.TimeOut != want {
				t.Errorf("asked for %d: %d", asked, c.Session.TimeOut)
			}
		})
	}
}

func TestConnectionWithoutHandshakeEnds(t *testing.T) {
	inBubble(t, func(t *testing.T, s server) {
		conn := s.dial()
		start := time.Now()
		if _, err := conn.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
			t.Errorf("read: %v", err)
		}
		if waited := time.Since(start); waited != 10*time.Second {
			t.Errorf("waited for %v", waited)
		}
	})
}
