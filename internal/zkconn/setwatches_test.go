package zkconn_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/zkconn"
)

// several sets two watches at a time, as one of those of watchTogether.
func (t *together) several(name, present, missing string) {
	look := exists("/")
	_ = t.try(look)
	seen := rapid.SampledFrom([]int64{0, look.Zxid}).Draw(t.r, "seen")
	there, gone := &watching{name: name + "p", path: present}, &watching{name: name + "m", path: missing}
	var set [2]*zkconn.Watch
	covered := false
	for i, w := range []*watching{there, gone} {
		watch := zkconn.NewWatch(w.path, zkconn.WatchData, t.d.of(w.name))
		set[i], w.oneShot, w.giveBack = watch, zkconn.WatchData, func() { t.conn.Unwatch(watch) }
		for _, other := range t.watches {
			covered = covered || other.oneShot == 0 && other.path == w.path
		}
	}
	call := zkconn.SetWatches(seen, set[:1], set[1:])
	err := t.conn.Do(t.Context(), 0, call)
	if covered != errors.Is(err, zkconn.ErrPersistentWatch) || !covered && (err != nil || call.Err != nil) {
		t.r.Fatal(covered, err, call.Err)
	}
	if covered {
		return
	}
	t.watches[there.name], t.watches[gone.name] = there, gone
	// Who else on this connection watches these nodes is told, too, as if it was news.
	switch {
	case !t.exist[present]:
		t.news("deleted", present)
	case seen == 0:
		t.tell("changed", present)
	}
	if t.exist[missing] {
		t.news("created", missing)
	}
}

// news tells what the server says as if it had happened. It says nothing of the parent's
// children: that is concluded where a recursive subscription is all that there is.
func (t *together) news(what, path string) {
	t.tell(what, path)
	parent := path[:strings.LastIndexByte(path, '/')]
	for _, w := range t.watches {
		if w.recursive && w.path == parent {
			t.tell("children", parent)
			return
		}
	}
}

// TestSetWatchesUnanswered has the requests fail, and their answers not come: what was to be
// set never fires, and nothing stays at the server.
func TestSetWatchesUnanswered(t *testing.T) {
	virtual(t, func(t *fixture) {
		t.open(nil)
		made, _ := create("/a", 0)
		t.do(made)
		told := make(chan zkconn.EventType, 8)
		set := func(ctx context.Context) (*zkconn.Call, error) {
			watch := func(path string) []*zkconn.Watch {
				return []*zkconn.Watch{zkconn.NewWatch(path, zkconn.WatchData, func(e zkconn.WatchEvent) { told <- e.Type })}
			}
			call := zkconn.SetWatches(made.Zxid, watch("/a"), watch("/b"))
			return call, t.conn.Do(ctx, 0, call)
		}
		if call, err := set(t.Context()); err != nil || call.Err != nil || t.server.Watches() != 2 || t.conn.Watches() != 2 {
			t.Fatal(err, call.Err, t.server.Watches(), t.conn.Watches())
		}
		t.server.Disconnect()
		for range 2 {
			if e := <-told; e != zkconn.WatchReset {
				t.Fatalf("event %v", e)
			}
		}
		resume := t.server.Pause()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := set(ctx); err == nil {
			t.Fatal("answered by a server that is stopped")
		}
		resume()
		synctest.Wait()
		t.do(&zkconn.Call{Op: jute.OpDelete, Req: &jute.DeleteRequest{Path: "/a", Version: -1}})
		synctest.Wait()
		if len(told) != 0 || t.server.Watches() != 0 || t.conn.Watches() != 0 {
			t.Fatalf("%d events, %d watches at the server, %d here", len(told), t.server.Watches(), t.conn.Watches())
		}
	})
}

// Two waiters for one node whose data has changed: for one it is news, for the other not.
func TestSetWatchesOfTwo(t *testing.T) {
	virtual(t, func(t *fixture) {
		t.open(nil)
		made, _ := create("/a", 0)
		t.do(made)
		set := &zkconn.Call{Op: jute.OpSetData, Req: &jute.SetDataRequest{Path: "/a", Version: -1}, Res: &jute.StatResponse{}}
		t.do(set)
		w := func() *zkconn.Watch {
			return zkconn.NewWatch("/a", zkconn.WatchData, func(zkconn.WatchEvent) {})
		}
		first, second := w(), w()
		a, b := zkconn.SetWatches(made.Zxid, []*zkconn.Watch{first}, nil), zkconn.SetWatches(set.Zxid, []*zkconn.Watch{second}, nil)
		if err := t.conn.Do(t.Context(), 0, a, b); err != nil || a.Err != nil || b.Err != nil {
			t.Fatal(err, a.Err, b.Err)
		}
		t.conn.Unwatch(first)
		t.conn.Unwatch(second)
		synctest.Wait()
		if t.server.Watches() != 0 || t.conn.Watches() != 0 {
			t.Errorf("%d watches at the server, %d here", t.server.Watches(), t.conn.Watches())
		}
	})
}
