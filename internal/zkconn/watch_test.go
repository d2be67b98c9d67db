package zkconn_test

import (
	"context"
	"errors"
	"flag"
	"net"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/zkconn"
)

// read returns a getData that sets a watch, and what the watch receives.
func read(path string) (*zkconn.Call, chan zkconn.EventType) {
	events := make(chan zkconn.EventType, 4)
	return &zkconn.Call{
		Op: jute.OpGetData, Req: &jute.PathWatchRequest{Path: path, Watch: true}, Res: &jute.GetDataResponse{},
		Watch: zkconn.NewWatch(path, zkconn.WatchData, func(e zkconn.WatchEvent) { events <- e.Type }),
	}, events
}

func (t *fixture) do(calls ...*zkconn.Call) {
	t.Helper()
	if err := t.conn.Do(t.Context(), 0, calls...); err != nil {
		t.Fatal(err)
	}
	for _, c := range calls {
		if c.Err != nil {
			t.Fatal(c.Err)
		}
	}
}

// Waiters for one node share a watch at the server, which goes with the last of them.
func TestWatchesAreShared(t *testing.T) {
	virtual(t, func(t *fixture) {
		t.open(nil)
		made, _ := create("/a", 0)
		t.do(made)
		first, firstEvents := read("/a")
		second, secondEvents := read("/a")
		t.do(first, second)
		if t.server.Watches() != 1 || t.conn.Watches() != 1 {
			t.Fatalf("%d watches at the server, %d here", t.server.Watches(), t.conn.Watches())
		}
		t.conn.Unwatch(first.Watch)
		synctest.Wait()
		if t.server.Watches() != 1 {
			t.Fatal("the watch went although a waiter is left")
		}
		third, thirdEvents := read("/a")
		t.conn.Unwatch(second.Watch)
		t.do(third) // behind the removal: its watch is set again
		synctest.Wait()
		if t.server.Watches() != 1 {
			t.Fatalf("%d watches at the server", t.server.Watches())
		}
		t.do(&zkconn.Call{Op: jute.OpDelete, Req: &jute.DeleteRequest{Path: "/a", Version: -1}})
		if e := <-thirdEvents; e != zkconn.NodeDeleted {
			t.Fatalf("event %v", e)
		}
		t.conn.Unwatch(third.Watch) // it has fired: nothing happens
		synctest.Wait()
		if len(firstEvents)+len(secondEvents)+len(thirdEvents) != 0 || t.server.Watches() != 0 {
			t.Fatal("an event for a watch that was given back")
		}
	})
}

// A read that fails sets no watch; exists sets one on a missing node.
func TestWatchOfFailedRead(t *testing.T) {
	virtual(t, func(t *fixture) {
		t.open(nil)
		call, events := read("/a")
		if err := t.conn.Do(t.Context(), 0, call); err != nil || !errors.Is(call.Err, zkconn.ErrNoNode) {
			t.Fatal(err, call.Err)
		}
		look, created := read("/a")
		look.Op, look.Res = jute.OpExists, &jute.StatResponse{}
		if err := t.conn.Do(t.Context(), 0, look); err != nil {
			t.Fatal(err)
		}
		made, _ := create("/a", 0)
		t.do(made)
		if e := <-created; e != zkconn.NodeCreated || len(events) != 0 {
			t.Fatalf("events %v, %d", e, len(events))
		}
	})
}

// What becomes of a watch when its connection, its session or its client ends.
func TestWatchEnds(t *testing.T) {
	for name, c := range map[string]struct {
		happen func(t *fixture)
		want   zkconn.EventType
	}{
		"reconnect": {func(t *fixture) { t.server.Disconnect() }, zkconn.WatchReset},
		"expiry": {func(t *fixture) {
			id, _ := t.conn.Session()
			t.server.ExpireSession(id)
		}, zkconn.WatchSessionLost},
		"close": {func(t *fixture) { _ = t.conn.Close(t.Context()) }, zkconn.WatchClosed},
	} {
		t.Run(name, func(t *testing.T) {
			virtual(t, func(t *fixture) {
				t.open(nil)
				call, events := read("/")
				given, none := read("/")
				t.do(call, given)
				t.conn.Unwatch(given.Watch)
				c.happen(t)
				if e := <-events; e != c.want {
					t.Fatalf("event %v, want %v", e, c.want)
				}
				time.Sleep(timeout)
				if len(none) != 0 || len(events) != 0 {
					t.Fatal("another event")
				}
			})
		})
	}
}

// A reply that is lost with the connection leaves no watch that could fire.
func TestWatchOfLostRead(t *testing.T) {
	virtual(t, func(t *fixture) {
		t.open(nil)
		if _, err := t.conn.Connected(t.Context()); err != nil {
			t.Fatal(err)
		}
		resume := t.server.Pause()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		call, events := read("/")
		if err := t.conn.Do(ctx, 0, call); err == nil {
			t.Fatal("answered by a server that is stopped")
		}
		resume()
		synctest.Wait()
		t.server.Disconnect()
		time.Sleep(timeout)
		if len(events) != 0 || t.server.Watches() != 0 {
			t.Fatalf("%d events, %d watches at the server", len(events), t.server.Watches())
		}
	})
}

// The server is told the highest zxid that was seen, in replies to our own requests, too:
// else it could be one that has not seen what we have.
func TestLastZxid(t *testing.T) {
	virtual(t, func(t *fixture) {
		var hello []jute.ConnectRequest
		t.open(func(cfg *zkconn.Config) {
			cfg.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
				c, err := t.server.DialContext(ctx, network, address)
				return &greeting{Conn: c, hello: &hello}, err
			}
		})
		made, res := create("/a", 0)
		t.do(made)
		t.server.Disconnect()
		time.Sleep(timeout)
		t.do(exists("/"))
		t.server.ExpireSession(made.Session)
		time.Sleep(timeout)
		t.do(exists("/"))
		if len(hello) < 4 || hello[1].LastZxidSeen != res.Stat.Czxid || hello[1].SessionID != made.Session {
			t.Fatalf("connect requests %+v", hello)
		}
		if last := hello[len(hello)-1]; last.SessionID != 0 || last.LastZxidSeen < res.Stat.Czxid {
			t.Fatalf("a new session begins with %+v", last)
		}
	})
}

// greeting keeps the first frame that is written.
type greeting struct {
	net.Conn
	hello *[]jute.ConnectRequest
	said  bool
}

func (g *greeting) Write(p []byte) (int, error) {
	if !g.said && len(p) > 0 {
		g.said = true
		var r jute.ConnectRequest
		if err := jute.Decode(p[4:], &r); err != nil {
			return 0, err
		}
		*g.hello = append(*g.hello, r)
	}
	return g.Conn.Write(p)
}

var timedOut = flag.Int("timedout", 5_000, "how many waiters give up in TestTimedOutWatches")

// TestTimedOutWatches has many waiters for one node give up, one after the other and with
// others waiting: nothing of them stays, here or at the server.
func TestTimedOutWatches(t *testing.T) {
	virtual(t, func(t *fixture) {
		t.open(nil)
		made, _ := create("/a", 0)
		t.do(made)
		giveUp := func(n int) (heap uint64, goroutines int) {
			for range n {
				call, _ := read("/a")
				t.do(call)
				t.conn.Unwatch(call.Watch)
			}
			synctest.Wait()
			if t.server.Watches() != 0 || t.conn.Watches() != 0 {
				t.Fatalf("%d watches at the server, %d here", t.server.Watches(), t.conn.Watches())
			}
			runtime.GC()
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			return m.HeapAlloc, runtime.NumGoroutine()
		}
		heap, goroutines := giveUp(100)
		laterHeap, laterGoroutines := giveUp(*timedOut)
		if laterGoroutines > goroutines {
			t.Errorf("%d goroutines, and then %d", goroutines, laterGoroutines)
		}
		if laterHeap > heap+1<<20 {
			t.Errorf("%d bytes on the heap, and then %d", heap, laterHeap)
		}
		t.Logf("%d waiters gave up: heap %d and %d bytes, goroutines %d and %d", *timedOut, heap, laterHeap, goroutines, laterGoroutines)
	})
}

// The watch goes from the server with the last waiter, and with a waiter that was told
// of an earlier watch's event.
func TestNoWatchIsLeft(t *testing.T) {
	virtual(t, func(t *fixture) {
		t.open(nil)
		made, _ := create("/a", 0)
		t.do(made)
		first, _ := read("/a")
		t.do(first)
		t.conn.Unwatch(first.Watch)
		synctest.Wait()
		if n := t.server.Watches(); n != 0 {
			t.Fatalf("%d watches are left after the last waiter", n)
		}
		// A read is on its way, behind a removal, when the event of the old watch comes.
		old, _ := read("/a")
		t.do(old)
		resume := t.server.Pause()
		t.conn.Unwatch(old.Watch)
		next, events := read("/a")
		done := make(chan error, 1)
		go func() { done <- t.conn.Do(t.Context(), 0, next) }()
		synctest.Wait()
		resume()
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		t.conn.Unwatch(next.Watch)
		synctest.Wait()
		if n := t.server.Watches(); n != 0 || len(events) != 0 {
			t.Fatalf("%d watches, %d events", n, len(events))
		}
	})
}

// A watch is given back while its read is on its way: it never fires, and nothing is left of it.
func TestUnwatchDuringTheRead(t *testing.T) {
	virtual(t, func(t *fixture) {
		t.open(nil)
		if _, err := t.conn.Connected(t.Context()); err != nil {
			t.Fatal(err)
		}
		for range 200 {
			watch := zkconn.NewWatch("/a", zkconn.WatchData, func(zkconn.WatchEvent) { t.Error("it fired") })
			call := exists("/a")
			call.Req = &jute.PathWatchRequest{Path: "/a", Watch: true}
			call.Watch = watch
			done := make(chan error)
			go func() { done <- t.conn.Do(t.Context(), 0, call) }()
			t.conn.Unwatch(watch)
			if err := <-done; err != nil {
				t.Fatal(err)
			}
		}
		synctest.Wait()
		if n, m := t.conn.Watches(), t.server.Watches(); n != 0 || m != 0 {
			t.Errorf("%d watches are left here and %d at the server", n, m)
		}
		made, _ := create("/a", 0)
		t.do(made)
	})
}
