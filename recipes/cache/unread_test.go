package cache_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/internal/zkconn"
	"github.com/go-curator/curator/recipes/cache"
	"github.com/go-curator/curator/tools/curatortest"
)

// heard has what a listener was told.
type heard struct {
	mu   sync.Mutex
	told []string
	errs []error
}

func (f *fixture) hear() *heard {
	h := &heard{}
	f.cache.Listenable().Add(func(_ context.Context, e cache.Event) {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.told = append(h.told, f.record(e))
		if e.Err != nil {
			h.errs = append(h.errs, e.Err)
		}
	})
	return h
}

// take returns what was told since the last call.
func (h *heard) take() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	told := h.told
	h.told = nil
	return told
}

// fail has the next reads of a node by the cache fail.
func (f *fixture) fail(name string, times int) {
	f.b.Server().Inject(curatortest.Rule{
		Op: "getData", Path: f.path(name), SessionID: f.client.SessionID(), Times: times, Do: curatortest.Fail(zkconn.ErrBadArguments),
	})
}

// A node whose reads go on failing after a reconnect does not hold up the others: it stays as it was
// known, which is told, until it can be read. No snapshot is exact meanwhile, and the cache asks
// the server for little.
func TestUnreadableAfterReconnect(t *testing.T) {
	virtual(t, cache.NewCuratorCache, func(f *fixture) {
		f.start()
		h := f.hear()
		f.fail("a", 9)
		heal := f.network.Isolate()
		f.write("a=5 d=6 e=7")
		heal()
		time.Sleep(10 * time.Second)
		settle()
		f.has("= a=1 a/b=2 a/b/c=3 d=6 e=7")
		if since, stale := f.cache.Stale(); stale {
			t.Errorf("stale since %v", since)
		}
		if f.cache.Snapshot().Exact() {
			t.Error("exact, with a node that cannot be read")
		}
		if told, want := h.take(), []string{"d=4>6", "+e=7", "unreadable a=1"}; !slices.Equal(told, want) {
			t.Errorf("told %q, want %q", told, want)
		}
		var op *framework.OpError
		if len(h.errs) != 1 || !errors.Is(h.errs[0], zkconn.ErrBadArguments) || !errors.As(h.errs[0], &op) || op.Path != f.path("a") {
			t.Errorf("told why: %v", h.errs)
		}
		suite.OK(t, f.cache.Await(f.Context(), f.write("d=8 a/b=9 a/x=1")))
		f.has("= a=1 a/b=9 a/b/c=3 a/x=1 d=8 e=7")
		settle() // the listener
		h.take()
		time.Sleep(time.Minute)
		settle()
		f.has("= a=5 a/b=9 a/b/c=3 a/x=1 d=8 e=7")
		if told, want := h.take(), []string{"readable a=5", "a=1>5"}; !slices.Equal(told, want) {
			t.Errorf("told %q, want %q", told, want)
		}
		if !f.cache.Snapshot().Exact() {
			t.Error("not exact in the end")
		}
	})
}

// A child that was made during an outage is found, although the first reads of its parent behind the reconnect are
// refused, and no snapshot is exact before: also when the parent was left out before.
func TestUnreadableParentOfNewChild(t *testing.T) {
	for name, before := range map[string]bool{"left out at the reconnect": false, "left out before": true} {
		t.Run(name, func(t *testing.T) {
			virtual(t, cache.NewCuratorCache, func(f *fixture) {
				f.start()
				f.b.Server().Inject(curatortest.Rule{
					Path: f.path("a"), SessionID: f.client.SessionID(), Do: curatortest.Fail(zkconn.ErrBadArguments),
					Op: map[bool]string{false: "exists", true: "getData"}[before], Times: 6,
				})
				if before {
					f.write("a=5")
					time.Sleep(10 * time.Second)
				}
				heal := f.network.Isolate()
				f.write("a/new=6")
				heal()
				time.Sleep(5 * time.Second) // it is connected
				want := "= a=1 a/b=2 a/b/c=3 a/new=6 d=4"
				if before {
					want = "= a=5 a/b=2 a/b/c=3 a/new=6 d=4"
				}
				for range 5 * 60 {
					time.Sleep(time.Second)
					settle()
					if f.cache.Snapshot().Exact() {
						f.has(want)
						return
					}
				}
				t.Error("not exact in five minutes")
			})
		})
	}
}

// A server that is overloaded for a while is not the fault of the nodes.
func TestOverloadLeavesNothingOut(t *testing.T) {
	virtual(t, cache.NewCuratorCache, func(f *fixture) {
		f.start()
		h := f.hear()
		f.b.Server().Inject(curatortest.Rule{
			Op: "getData", Path: f.path("a"), SessionID: f.client.SessionID(), Times: 12, Do: curatortest.Fail(zkconn.ErrThrottled),
		})
		f.write("a=5")
		time.Sleep(5 * time.Minute)
		settle()
		f.has("= a=5 a/b=2 a/b/c=3 d=4")
		if told, want := h.take(), []string{"a=1>5"}; !slices.Equal(told, want) {
			t.Errorf("told %q, want %q", told, want)
		}
	})
}

// While a node cannot be read the cache tries it every 30 s and sends no probes; changes of the node
// have it tried once a second at most.
func TestUnreadableCostsLittle(t *testing.T) {
	virtual(t, cache.NewCuratorCache, func(f *fixture) {
		f.start()
		f.fail("a", 1_000_000)
		f.write("a=5")
		time.Sleep(5 * time.Minute)
		sent := f.sent(func() { time.Sleep(10 * time.Minute) })
		if sent["getData"] < 19 || sent["getData"] > 21 || sent["exists"] > 0 {
			t.Errorf("in ten minutes: %v", sent)
		}
		sent = f.sent(func() {
			for range 1000 {
				f.write("a=6")
				time.Sleep(10 * time.Millisecond)
			}
		})
		if sent["getData"] < 9 || sent["getData"] > 12 || sent["exists"] > 0 {
			t.Errorf("in ten seconds of changes: %v", sent)
		}
		sent = f.sent(func() {
			for range 10 {
				f.write("d=5")
				settle()
			}
		})
		if sent["getData"] != 10 || sent["exists"] > 0 {
			t.Errorf("ten changes of another node: %v", sent)
		}
	})
}

// A new node that cannot be read is told with nothing, and its deletion ends that. So does that of a node
// which is known. Updates tells the same.
func TestUnreadableIsDeleted(t *testing.T) {
	virtual(t, cache.NewCuratorCache, func(f *fixture) {
		f.start()
		h := f.hear()
		f.fail("e", 1_000_000)
		f.fail("d", 1_000_000)
		f.write("e=5 d=6")
		time.Sleep(time.Minute)
		settle()
		if told, want := h.take(), []string{"unreadable d=4", "unreadable e="}; !slices.Equal(slices.Sorted(slices.Values(told)), want) {
			t.Errorf("told %q, want %q", told, want)
		}
		var updates []string
		ctx, cancel := context.WithCancel(f.Context())
		defer cancel()
		var group sync.WaitGroup
		group.Go(func() {
			for u := range f.cache.Updates(ctx) {
				for _, e := range u.Events {
					updates = append(updates, f.record(e))
				}
			}
		})
		settle()
		if want := []string{"unreadable d=4", "unreadable e="}; len(updates) < 2 || !slices.Equal(updates[len(updates)-2:], want) {
			t.Errorf("the loop begins with %q, want %q in the end", updates, want)
		}
		updates = nil
		f.write("-d")
		settle()
		time.Sleep(time.Minute)
		f.write("-e")
		time.Sleep(time.Minute)
		settle()
		want := []string{"readable d=", "-d=4", "readable e="}
		if told := h.take(); !slices.Equal(told, want) || !slices.Equal(updates, want) {
			t.Errorf("told %q and %q, want %q", told, updates, want)
		}
		if !f.cache.Snapshot().Exact() {
			t.Error("not exact in the end")
		}
		cancel()
		group.Wait()
	})
}

// A node with more children than a reply can carry does not hold up the rest after a reconnect: its
// known children are followed, and the others are found when they can be listed.
func TestTooManyChildrenAfterReconnect(t *testing.T) {
	t.Parallel()
	suite.EachOf(t, suite.InVirtualTime|suite.OnRealServer, func(t *testing.T, b *suite.Backend) {
		f := newFixture(t, b, framework.WithMaxReply(1<<20))
		f.write("a/b=2 d=4")
		f.make(cache.NewCuratorCache)
		f.start()
		h := f.hear()
		wide := "a/" + strings.Repeat("x", 1000)
		heal := f.network.Isolate()
		f.createMany(wide, 1100, 200)
		f.write("d=5 e=6")
		heal()
		f.eventually("= a= a/b=2 d=5 e=6")
		f.write("a/b=7 a/c=8")
		f.eventually("= a= a/b=7 a/c=8 d=5 e=6")
		suite.Eventually(t, "what is told", func() bool {
			h.mu.Lock()
			defer h.mu.Unlock()
			return slices.Contains(h.told, "unreadable a=") && len(h.errs) == 1 && errors.Is(h.errs[0], framework.ErrTooLarge)
		})
		if f.cache.Snapshot().Exact() {
			t.Error("exact, with children that are not known")
		}
		var gone []framework.Op
		names := suite.Got(f.writer.GetChildren().ForPath(f.Context(), f.path("a"))).OK(t)
		for _, name := range names {
			if len(name) > 1 && len(gone) < 300 {
				gone = append(gone, f.writer.TransactionOp().Delete().ForPath(f.path("a/"+name)))
			}
		}
		suite.Got(f.writer.Transaction().ForOperations(f.Context(), gone...)).OK(t)
		suite.Eventually(t, "all is known", func() bool { s := f.cache.Snapshot(); return s.Exact() && s.Len() == 800+6 })
	})
}

// A node that may not be read is left out, does not make snapshots inexact, and appears within 30 s
// when it may be read.
func TestNoAuthIsTriedAgain(t *testing.T) {
	virtual(t, cache.NewCuratorCache, func(f *fixture) {
		acl := func(perms framework.Perm) {
			t.Helper()
			suite.Got(f.writer.SetACL().ForPath(f.Context(), f.path("a"), []framework.ACL{{Perms: perms, Scheme: "world", ID: "anyone"}})).OK(t)
		}
		acl(framework.PermAll &^ framework.PermRead)
		f.start()
		h := f.hear()
		f.has("= d=4")
		sent := f.sent(func() { time.Sleep(10 * time.Minute) })
		if !f.cache.Snapshot().Exact() || sent["getData"] < 19 || sent["getData"] > 21 || sent["exists"] > 0 {
			t.Errorf("exact %t, in ten minutes: %v", f.cache.Snapshot().Exact(), sent)
		}
		if told := h.take(); len(told) > 0 {
			t.Errorf("told %q", told)
		}
		acl(framework.PermAll)
		time.Sleep(31 * time.Second)
		settle()
		f.has("= a=1 a/b=2 a/b/c=3 d=4")
		if got := f.network.Requests(jute.OpGetData); got == 0 || !f.cache.Snapshot().Exact() {
			t.Error("not exact")
		}
		if told, want := h.take(), []string{"+a=1", "+a/b=2", "+a/b/c=3"}; !slices.Equal(told, want) {
			t.Errorf("told %q, want %q", told, want)
		}
	})
}

// The time without a connection is no time in which a node fails, and reads that are lost with their
// connection are no failures: they are made again on the next connection, without a pause.
func TestLostReadsDoNotCount(t *testing.T) {
	virtual(t, cache.NewCuratorCache, func(f *fixture) {
		f.start()
		h := f.hear()
		f.write("a=5")
		settle()
		if told, want := h.take(), []string{"a=1>5"}; !slices.Equal(told, want) {
			t.Errorf("told %q, want %q", told, want)
		}
		for range 10 { // the pauses between connections that have ended at once are random, and grow
			f.network.On(jute.OpGetData, suite.CutAfter, nil)
		}
		f.write("a=6")
		f.eventually("= a=6 a/b=2 a/b/c=3 d=4")
		settle()
		if told, want := h.take(), []string{"a=5>6"}; !slices.Equal(told, want) {
			t.Errorf("told %q, want %q", told, want)
		}
		f.b.Server().Inject(curatortest.Rule{ // in every session
			Op: "getData", Path: f.path("a"), Times: 1_000_000, Do: curatortest.Fail(zkconn.ErrBadArguments),
		})
		f.write("a=7")
		settle() // it has failed once
		before := f.network.Requests(jute.OpGetData)
		heal := f.network.Isolate()
		time.Sleep(40 * time.Second)
		f.write("d=6")
		heal()
		suite.Eventually(t, "the rest is shown", func() bool { node, _ := f.cache.Get(f.path("d")); return string(node.Data) == "6" })
		settle()
		if told, want := h.take(), []string{"d=4>6", "unreadable a=6"}; !slices.Equal(told, want) {
			t.Errorf("told %q, want %q", told, want)
		}
		if n := f.network.Requests(jute.OpGetData) - before; n != 6 { // one that is lost, four more that are refused, and one of d
			t.Errorf("%d reads until the node was left out", n)
		}
	})
}

// While very many nodes wait to be read, the cache waits too: it does nothing until an answer comes.
func TestVeryManyWait(t *testing.T) {
	t.Parallel()
	const nodes = 20_000
	virtual(t, cache.NewCuratorCache, func(f *fixture) {
		f.createMany("n", nodes, 2000)
		f.start()
		f.b.Server().Inject(curatortest.Rule{Op: "getData", SessionID: f.client.SessionID(), Do: curatortest.Delay(2 * time.Second)})
		var ops []framework.Op
		for node := range f.cache.All() {
			if ops = append(ops, f.writer.TransactionOp().SetData().ForPath(node, []byte("9"))); len(ops) == 2000 {
				suite.Got(f.writer.Transaction().ForOperations(f.Context(), ops...)).OK(t)
				ops = nil
			}
		}
		settle() // it would not return if the cache went on and on
		if n := f.sent(func() { time.Sleep(time.Second) })["getData"]; n > 0 {
			t.Errorf("%d reads while no answer came", n)
		}
		time.Sleep(2 * time.Second)
		settle()
		if node, _ := f.cache.Get(f.path("n000001")); string(node.Data) != "9" || !f.cache.Snapshot().Exact() {
			t.Errorf("%q, exact %t", node.Data, f.cache.Snapshot().Exact())
		}
	})
}
