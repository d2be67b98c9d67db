package zkconn_test

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/zkconn"
	"github.com/go-curator/curator/state"
	"github.com/go-curator/curator/tools/curatortest"
)

// The tests of this file and of hazards_requests_test.go show the defects of the driver, go-zookeeper/zk v1.0.4, that this
// package is there to cure: each on the bare driver, and then on ours. When a later driver
// fails one of the former, its cure here may have become needless.
//
// Two have their cure elsewhere: that of A8 is shown in package framework, that of A10 in
// recipes/locks.

// bare runs test on the bare driver and the embedded server, in virtual time.
func bare(t *testing.T, test func(t *testing.T, server *curatortest.Server)) {
	t.Run("driver", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			test(t, curatortest.Start(t, curatortest.Virtual(), curatortest.WithTickTime(200*time.Millisecond)))
		})
	})
}

func ours(t *testing.T, test func(t *fixture)) {
	t.Run("ours", func(t *testing.T) { virtual(t, test) })
}

// TestA1AuthResendFails: after one failed write of the credentials on a new connection the
// driver never connects again, however healthy the network is. It answers the request
// twice, through a channel that takes one answer, and holds its lock meanwhile.
func TestA1AuthResendFails(t *testing.T) {
	cut := make(chan struct{})
	peer := &script{serve: func(n int, c net.Conn) {
		if n == 0 {
			go func() { <-cut; c.Close() }()
		}
		answer(c)
	}}
	fail := failing{fail: new(atomic.Bool), op: jute.OpAuth}
	fault := func() { // the connection falls, and credentials cannot be sent for a second
		fail.fail.Store(true)
		close(cut)
		time.Sleep(time.Second)
		fail.fail.Store(false)
		time.Sleep(time.Hour)
	}
	t.Run("driver", func(t *testing.T) {
		out, err := apart(t, func() {
			synctest.Test(t, func(t *testing.T) {
				cut = make(chan struct{})
				conn, _ := driver(t, timeout, fail.over(peer.dial))
				if err := conn.AddAuth("digest", []byte("user:password")); err != nil {
					t.Fatal(err)
				}
				fault()
				fmt.Printf("after %d dials: %v\n", peer.dials.Load(), conn.State())
				os.Exit(0) // the bubble would find the driver's goroutine stuck
			})
		})
		if err != nil || !strings.Contains(out, "after 2 dials: StateDisconnected") {
			t.Fatalf("the driver has recovered: %v\n%s", err, out)
		}
	})
	ours(t, func(t *fixture) {
		cut = make(chan struct{})
		t.open(func(cfg *zkconn.Config) {
			cfg.Auth = []zkconn.Auth{{Scheme: "digest", Auth: []byte("user:password")}}
			cfg.Dial = fail.over(peer.dial)
		})
		if _, err := t.conn.Connected(t.Context()); err != nil {
			t.Fatal(err)
		}
		fault()
		t.do(exists("/"))
	})
}

// TestA2ShortFrame: a frame that is too short for a header crashes the driver's process, on
// a goroutine of the driver's.
func TestA2ShortFrame(t *testing.T) {
	peer := &script{serve: func(_ int, c net.Conn) {
		c.Write(welcome())
		readFrame(c)
		event := jute.ReplyHeader{Xid: jute.XidNotification}
		c.Write(frame(event.Append(nil)[:8]))
		io.Copy(io.Discard, c)
	}}
	t.Run("driver", func(t *testing.T) {
		out, err := apart(t, func() {
			synctest.Test(t, func(t *testing.T) {
				conn, _ := driver(t, timeout, peer.dial)
				conn.Exists("/")
			})
		})
		if err == nil || !strings.Contains(out, "slice bounds out of range") || !strings.Contains(out, "recvLoop") {
			t.Fatalf("the driver has survived: %v\n%s", err, out)
		}
	})
	ours(t, func(t *fixture) {
		t.open(func(cfg *zkconn.Config) { cfg.Dial = peer.dial })
		t.want(t.conn.Do(t.Context(), 0, exists("/")), zkconn.ErrConnectionLoss)
	})
}

// TestA3A4StalledHandshake: the driver waits for the greeting of a silent server for 6.67
// session timeouts, after which the session is lost for certain, and for the rest of one
// that has begun for ever, though the next server on its list is healthy.
func TestA3A4StalledHandshake(t *testing.T) {
	for name, c := range map[string]struct {
		says  []byte
		least time.Duration // that the driver waits for the next server
	}{
		"A3 stalls": {[]byte{0, 0, 0, 37}, time.Hour},
		"A4 silent": {nil, timeout * 10 * 2 / 3},
	} {
		t.Run(name, func(t *testing.T) {
			enough := make(chan struct{})
			var second atomic.Int64 // when the second server was asked
			peer := &script{serve: func(n int, conn net.Conn) {
				if n > 0 {
					second.CompareAndSwap(0, time.Now().UnixNano())
					answer(conn)
					return
				}
				conn.Write(c.says)
				<-enough
			}}
			t.Run("driver", func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					enough = make(chan struct{})
					begin := time.Now()
					conn, _ := driver(t, timeout, peer.dial)
					time.Sleep(c.least - time.Millisecond)
					if at := second.Load(); at != 0 {
						t.Errorf("the driver went on after %v", time.Unix(0, at).Sub(begin))
					}
					close(enough)
					withSession(conn)
				})
			})
			peer.dials.Store(0)
			ours(t, func(t *fixture) {
				enough = make(chan struct{})
				defer close(enough)
				begin := time.Now()
				t.open(func(cfg *zkconn.Config) { cfg.Servers, cfg.Dial = []string{"a:1", "b:1"}, peer.dial })
				t.do(exists("/"))
				if took := time.Since(begin); took > timeout/3 {
					t.Errorf("it took %v", took)
				}
			})
		})
	}
}

// TestA5RawWriteError: what the driver says of a failed write is the network's error, which
// matches none of its own, as if the request could not have been sent.
func TestA5RawWriteError(t *testing.T) {
	fail := failing{fail: new(atomic.Bool)}
	bare(t, func(t *testing.T, server *curatortest.Server) {
		conn, _ := driver(t, timeout, fail.over(server.DialContext))
		withSession(conn)
		fail.fail.Store(true)
		_, _, err := conn.Exists("/")
		fail.fail.Store(false)
		var raw *net.OpError
		if errors.Is(err, zk.ErrConnectionClosed) || !errors.As(err, &raw) {
			t.Fatalf("the driver says %v", err)
		}
		withSession(conn)
	})
	ours(t, func(t *fixture) {
		t.open(func(cfg *zkconn.Config) { cfg.Dial = fail.over(t.server.DialContext) })
		if _, err := t.conn.Connected(t.Context()); err != nil {
			t.Fatal(err)
		}
		fail.fail.Store(true)
		err := t.conn.Do(t.Context(), 0, exists("/"))
		fail.fail.Store(false)
		t.want(err, zkconn.ErrConnectionLoss, zk.ErrConnectionClosed)
		if !sent(err) {
			t.Fatalf("%v says that it was not sent", err)
		}
	})
}

// TestA9EventsAreDropped: the driver drops the events that its channel of six does not
// take, so that who reads it late ends up with a state that is not the last.
func TestA9EventsAreDropped(t *testing.T) {
	const times = 20
	bare(t, func(t *testing.T, server *curatortest.Server) {
		conn, events := driver(t, timeout, server.DialContext)
		for range times {
			withSession(conn)
			server.Disconnect()
			synctest.Wait()
		}
		withSession(conn)
		synctest.Wait()
		last, n := zk.StateUnknown, len(events)
		for range n {
			last = (<-events).State
		}
		if n > 6 || last == zk.StateHasSession {
			t.Fatalf("%d events, the last is %v", n, last)
		}
	})
	ours(t, func(t *fixture) {
		late := make(chan struct{})
		var states []state.ConnectionState
		t.open(func(cfg *zkconn.Config) {
			cfg.OnEvent = func(e zkconn.Event) {
				<-late
				if e.Kind == zkconn.StateChanged {
					states = append(states, e.State)
				}
			}
		})
		for range times {
			t.do(exists("/"))
			t.server.Disconnect()
			synctest.Wait()
		}
		t.do(exists("/"))
		close(late)
		synctest.Wait()
		want := []state.ConnectionState{state.Connected}
		for range times {
			want = append(want, state.Suspended, state.Reconnected)
		}
		if !slices.Equal(states, want) {
			t.Fatalf("states %v", states)
		}
	})
}

// TestA12NegotiatedTimeout: the driver does not tell which timeout the server has granted,
// from which a lease follows, and asks for no more than that ever after.
func TestA12NegotiatedTimeout(t *testing.T) {
	const asked = time.Minute // the server grants twenty ticks, as timeout is
	bare(t, func(t *testing.T, server *curatortest.Server) {
		var hello []jute.ConnectRequest
		conn, _ := driver(t, asked, greetings(server.DialContext, &hello))
		withSession(conn)
		server.Disconnect()
		synctest.Wait()
		withSession(conn)
		if len(hello) != 2 || hello[1].TimeOut != int32(timeout/time.Millisecond) {
			t.Errorf("the driver asks again with %+v", hello)
		}
	})
	ours(t, func(t *fixture) {
		var hello []jute.ConnectRequest
		t.open(func(cfg *zkconn.Config) {
			cfg.SessionTimeout, cfg.Dial = asked, greetings(t.server.DialContext, &hello)
		})
		t.do(exists("/"))
		t.server.Disconnect()
		synctest.Wait()
		t.do(exists("/"))
		if _, granted := t.conn.Session(); granted != timeout {
			t.Errorf("granted %v", granted)
		}
		if len(hello) != 2 || hello[1].TimeOut != int32(asked/time.Millisecond) {
			t.Errorf("we ask again with %+v", hello)
		}
	})
}
