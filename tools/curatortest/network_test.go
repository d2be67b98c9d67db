package curatortest_test

import (
	"errors"
	"net"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/zkserver/rawclient"
	"github.com/go-curator/curator/tools/curatortest"
)

func TestPartitionSession(t *testing.T) {
	for _, d := range []curatortest.Direction{curatortest.Both, curatortest.ToServer, curatortest.ToClient} {
		t.Run(d.String(), func(t *testing.T) {
			inBubble(t, func(t *testing.T, s *curatortest.Server) { testPartitionSession(t, s, d) })
		})
	}
}

// testPartitionSession cuts one client off. The other client is not affected, and the first one
// learns of the end of its session only after the partition.
func testPartitionSession(t *testing.T, s *curatortest.Server, d curatortest.Direction) {
	c, other := connect(t, dial(t, s)), connect(t, dial(t, s))
	s.PartitionSession(0, d)
	heal := s.PartitionSession(c.Session.SessionID, d)
	if _, err := c.Send(jute.OpCreate, create("/a", jute.FlagEphemeral)); err != nil {
		t.Fatal(err)
	}
	synctest.Wait()
	if _, arrived := s.Get("/a"); arrived != (d == curatortest.ToClient) {
		t.Errorf("the request has arrived: %t", arrived)
	}
	silent(t, c.Conn)
	for range 12 {
		do(t, other, jute.OpPing, nil)
		pass(time.Second)
	}
	if s.Sessions() != 1 {
		t.Errorf("%d sessions", s.Sessions())
	}
	if d == curatortest.ToServer {
		ended(t, c) // messages of the server arrive, and so does the end of the connection
	} else {
		silent(t, c.Conn)
	}
	again := dial(t, s)
	asked := make(chan error)
	go func() {
		_, err := tryResume(c, again)
		asked <- err
	}()
	pass(time.Second)
	select {
	case err := <-asked:
		t.Errorf("a client that is cut off has learned: %v", err)
	default:
	}
	heal()
	heal()
	if err := <-asked; !errors.Is(err, rawclient.ErrExpired) {
		t.Errorf("after the heal: %v", err)
	}
	heal = s.PartitionSession(c.Session.SessionID, d)
	defer heal()
	connect(t, dial(t, s)) // the client gets a new session
}

// silent fails the test if anything arrives within a second, or the connection ends.
func silent(t *testing.T, conn net.Conn) {
	t.Helper()
	if err := conn.SetReadDeadline(time.Now().Add(time.Second)); err != nil {
		t.Fatal(err)
	}
	if n, err := conn.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("read: %d bytes, %v", n, err)
	}
	if err := conn.SetReadDeadline(time.Time{}); err != nil {
		t.Fatal(err)
	}
}

// TestPartitionSessionHeals checks that a session works again after a partition.
func TestPartitionSessionHeals(t *testing.T) {
	inBubble(t, func(t *testing.T, s *curatortest.Server) {
		c := connect(t, dial(t, s))
		for _, d := range []curatortest.Direction{curatortest.Both, curatortest.ToServer, curatortest.ToClient} {
			heal := s.PartitionSession(c.Session.SessionID, d)
			if _, err := c.Send(jute.OpPing, nil); err != nil {
				t.Fatal(err)
			}
			silent(t, c.Conn)
			heal()
			if f, err := c.Receive(); err != nil || f.Xid != jute.XidPing {
				t.Errorf("%v: %v, %v", d, f, err)
			}
		}
		c = resume(t, c, dial(t, s))
		defer s.PartitionSession(c.Session.SessionID, curatortest.ToServer)()
		if _, err := c.Send(jute.OpCreate, create("/a", 0)); err != nil {
			t.Fatal(err)
		}
		silent(t, c.Conn)
		if _, arrived := s.Get("/a"); arrived {
			t.Error("a request of a later connection has arrived")
		}
	})
}

// TestLatency checks that a request and its answer take the latency each, and that pipelined requests
// take it together.
func TestLatency(t *testing.T) {
	t.Parallel()
	const latency, requests = 50 * time.Millisecond, 10
	test := func(t *testing.T, conn net.Conn) time.Duration {
		c := connect(t, conn)
		start := time.Now()
		for range requests {
			if _, err := c.Send(jute.OpExists, read("/")); err != nil {
				t.Fatal(err)
			}
		}
		for range requests {
			if _, err := c.Receive(); err != nil {
				t.Fatal(err)
			}
		}
		return time.Since(start)
	}
	t.Run("Virtual", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := curatortest.Start(t, curatortest.Virtual(), curatortest.WithLatency(latency))
			if took := test(t, dial(t, s)); took != 2*latency {
				t.Errorf("%d requests at once took %v", requests, took)
			}
		})
	})
	for name, address := range map[string]func(t *testing.T) string{
		"TCP": func(t *testing.T) string {
			return curatortest.Start(t, curatortest.WithLatency(latency)).ConnectString()
		},
		"Real": func(t *testing.T) string {
			return curatortest.Real(t, curatortest.WithLatency(latency)).ConnectString()
		},
	} {
		t.Run(name, func(t *testing.T) {
			if took := test(t, dialTCP(t, address(t))); took < 2*latency {
				t.Errorf("%d requests at once took %v", requests, took)
			}
		})
	}
}
