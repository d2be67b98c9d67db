package cache_test

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/internal/zkconn"
	"github.com/go-curator/curator/recipes/cache"
	"github.com/go-curator/curator/tools/curatortest"
)

// Listeners are told of a load, of Initialized and of later changes, one by one and in order; one
// that is added later of what happens later. After Close nobody is told of anything.
func TestListeners(t *testing.T) {
	virtual(t, cache.NewCuratorCache, func(f *fixture) {
		var early, late, built []string
		f.cache.Listenable().Add(func(_ context.Context, e cache.Event) { early = append(early, f.record(e)) })
		f.cache.Listenable().Add(cache.NewListener().
			ForCreates(func(_ context.Context, n cache.ChildData) { built = append(built, "created "+string(n.Data)) }).
			ForChanges(func(_ context.Context, old, n cache.ChildData) {
				built = append(built, "changed "+string(old.Data)+string(n.Data))
			}).
			ForDeletes(func(_ context.Context, old cache.ChildData) { built = append(built, "deleted "+string(old.Data)) }).
			ForDeletes(func(_ context.Context, old cache.ChildData) { built = append(built, "and again") }).
			ForInitialized(func(context.Context) { built = append(built, "initialized") }).
			ForCreates(nil).ForChanges(nil).ForDeletes(nil).ForInitialized(nil).
			AfterInitialized().Build())
		f.start()
		f.cache.Listenable().Add(func(_ context.Context, e cache.Event) { late = append(late, f.record(e)) })
		f.write("a=5 e=6")
		settle()
		f.write("-a")
		settle()
		f.close()
		f.write("g=7")
		settle()
		changes := []string{"a=1>5", "+e=6", "-a/b/c=3", "-a/b=2", "-a=5"}
		if want := append([]string{"+=", "+a=1", "+a/b=2", "+a/b/c=3", "+d=4", "!"}, changes...); !slices.Equal(early, want) {
			t.Errorf("told %q, want %q", early, want)
		}
		if !slices.Equal(late, changes) {
			t.Errorf("the one that was added later was told %q, want %q", late, changes)
		}
		want := "initialized, changed 15, created 6, deleted 3, and again, deleted 2, and again, deleted 5, and again"
		if got := strings.Join(built, ", "); got != want {
			t.Errorf("the builder's was told %q, want %q", got, want)
		}
	})
}

// A listener that takes very long holds up neither the cache nor other listeners, and Close waits
// for it for as long as its context lives.
func TestListenerBlocks(t *testing.T) {
	virtual(t, cache.NewCuratorCache, func(f *fixture) {
		release := make(chan struct{})
		var slow, quick []string
		f.cache.Listenable().Add(func(_ context.Context, e cache.Event) {
			<-release
			slow = append(slow, f.record(e))
		})
		f.cache.Listenable().Add(func(_ context.Context, e cache.Event) { quick = append(quick, f.record(e)) })
		f.start()
		f.write("a=5 d=5 a=6")
		f.eventually("= a=6 a/b=2 a/b/c=3 d=5")
		settle()
		if len(slow) != 0 || len(quick) < 8 { // two changes of one node may be one
			t.Errorf("%d and %d events, want 0 and all", len(slow), len(quick))
		}
		ctx, cancel := context.WithTimeout(f.Context(), time.Minute)
		defer cancel()
		if err := f.cache.Close(ctx); err == nil || !strings.Contains(err.Error(), "listeners still running: 1") {
			t.Errorf("Close: %v", err)
		}
		close(release)
	})
}

// Updates has what there is at first, and then what has changed. A slow loop gets the difference,
// with one event for each node, whatever happened meanwhile.
func TestUpdates(t *testing.T) {
	virtual(t, cache.NewCuratorCache, func(f *fixture) {
		next := make(chan struct{})
		var got [][]string
		var group sync.WaitGroup
		group.Go(func() {
			for u := range f.cache.Updates(f.Context()) {
				var events []string
				for _, e := range u.Events {
					events = append(events, f.record(e))
				}
				got = append(got, events)
				<-next
			}
		})
		settle()
		if len(got) != 0 {
			t.Error("an update before Start")
		}
		f.start()
		settle()
		f.write("a=5 a=6 e=7 e=8 g=1")
		f.write("-g")
		settle()
		next <- struct{}{}
		settle()
		next <- struct{}{}
		f.write("-d")
		settle()
		next <- struct{}{}
		f.close()
		group.Wait()
		want := [][]string{{"+=", "+a=1", "+a/b=2", "+a/b/c=3", "+d=4"}, {"a=1>6", "+e=8"}, {"-d=4"}}
		if !slices.EqualFunc(got, want, slices.Equal[[]string]) {
			t.Errorf("got %q, want %q", got, want)
		}
		for range f.cache.Updates(f.Context()) {
			t.Error("an update of a closed cache")
		}
	})
}

// Updates ends with its context, and with a break.
func TestUpdatesEnd(t *testing.T) {
	virtual(t, cache.NewCuratorCache, func(f *fixture) {
		f.start()
		ctx, cancel := context.WithCancel(f.Context())
		defer cancel()
		n := 0
		for range f.cache.Updates(ctx) {
			n++
			cancel()
		}
		for range f.cache.Updates(f.Context()) {
			n++
			break
		}
		for range f.cache.Updates(ctx) {
			n++
		}
		if n != 2 {
			t.Errorf("%d updates, want 2", n)
		}
	})
}

// Await returns when the cache has a change, also one that is outside of the cache, or one that
// only another server knows.
func TestAwait(t *testing.T) {
	each(t, func(f *fixture) {
		other := suite.Got(f.writer.SetData().ForPath(f.Context(), f.other, nil)).OK(f)
		for _, zxid := range []int64{other.Mzxid, f.write("a=7"), f.write("a=8")} {
			suite.OK(f, f.cache.Await(f.Context(), zxid))
			if got := f.cache.Snapshot().Zxid(); got < zxid {
				f.Errorf("a snapshot of zxid %d, want %d", got, zxid)
			}
		}
		f.has("= a=8 a/b=2 a/b/c=3 d=4")
		ctx, cancel := context.WithTimeout(f.Context(), 500*time.Millisecond)
		defer cancel()
		if err := f.cache.Await(ctx, f.cache.Snapshot().Zxid()+1_000_000); err == nil || ctx.Err() == nil {
			f.Errorf("Await for a change that does not come: %v", err)
		}
	})
}

// A burst of changes of one node is read once or twice, and a transaction is shown as a whole.
func TestBurst(t *testing.T) {
	virtual(t, cache.NewCuratorCache, func(f *fixture) {
		f.start()
		var ops []framework.Op
		for range 100 {
			ops = append(ops, f.writer.TransactionOp().SetData().ForPath(f.path("a"), []byte("5")))
		}
		ops = append(ops, f.writer.TransactionOp().SetData().ForPath(f.path("d"), []byte("6")))
		seen := 0
		f.cache.Listenable().Add(func(context.Context, cache.Event) {
			if a, d := string(data(f, "a")), string(data(f, "d")); a+d != "56" {
				t.Errorf("half of a transaction: a=%s d=%s", a, d)
			}
			seen++
		})
		sent := f.sent(func() {
			suite.Got(f.writer.Transaction().ForOperations(f.Context(), ops...)).OK(t)
		})
		if sent["getData"] > 3 || seen != 2 {
			t.Errorf("%d reads, %d events", sent["getData"], seen)
		}
	})
}

func data(f *fixture, name string) []byte {
	node, _ := f.cache.Get(f.path(name))
	return node.Data
}

// While changes come in without a pause, WithMaxLag bounds how long they are held back, and the
// snapshot says that it is not exact.
func TestMaxLag(t *testing.T) {
	for _, lag := range []time.Duration{0, 50 * time.Millisecond, time.Hour} {
		suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
			f := newFixture(t, b)
			f.write("a=1")
			f.make(cache.NewCuratorCache, cache.WithMaxLag(lag))
			f.start()
			zxid := f.cache.Snapshot().Zxid()
			b.Server().Inject(curatortest.Rule{Op: "getData", Path: f.path("a"), Times: 3, Do: curatortest.Fail(zkconn.ErrThrottled)})
			before := f.write("a=2")
			f.write("b=1")
			time.Sleep(200 * time.Millisecond)
			settle()
			switch s := f.cache.Snapshot(); {
			case lag == time.Hour && (!s.Exact() || s.Zxid() != zxid):
				t.Errorf("lag %v: %q, exact %t, zxid %d", lag, f.text(s), s.Exact(), s.Zxid())
			case lag < time.Hour && (s.Exact() || f.text(s) != "= a=1 b=1" || s.Zxid() < zxid || s.Zxid() >= before):
				t.Errorf("lag %v: %q, exact %t, zxid %d", lag, f.text(s), s.Exact(), s.Zxid())
			}
			f.eventually("= a=2 b=1")
			time.Sleep(time.Second)
			settle()
			if !f.cache.Snapshot().Exact() {
				t.Errorf("lag %v: not exact in the end", lag)
			}
		})
	}
}

// LastZxid is what to wait for after a Delete, which returns no Stat.
func TestAwaitDelete(t *testing.T) {
	each(t, func(f *fixture) {
		for _, name := range []string{"d", "a/b/c", "a/b", "a"} {
			before := f.writer.LastZxid()
			suite.OK(f, f.writer.Delete().ForPath(f.Context(), f.path(name)))
			zxid := f.writer.LastZxid()
			if zxid <= before {
				f.Errorf("the zxid is %d after a delete, and %d before it", zxid, before)
			}
			suite.OK(f, f.cache.Await(f.Context(), zxid))
			if _, ok := f.cache.Get(f.path(name)); ok {
				f.Errorf("%s is still there", name)
			}
		}
	})
}
