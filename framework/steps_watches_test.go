package framework_test

import (
	"context"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/internal/zkclient"
)

var watchSteps = map[string]check{
	"Add":               testAdd,
	"Add/WithMode":      testAddWithMode,
	"Remove":            testRemove,
	"Remove/OfType":     testRemoveOfType,
	"Remove/Guaranteed": testRemoveGuaranteed,
	"Remove/Locally":    testRemoveLocally,
	"Remove/Quietly": func(t bench) {
		w, _ := watch()
		t.want(t.c.Watches().Remove().ForPath(t.Context(), t.path, w), framework.ErrNoWatcher)
		t.want(t.c.Watches().Remove().ForPath(t.Context(), t.path, nil), framework.ErrNoWatcher)
		t.ok(t.c.Watches().Remove().Quietly().ForPath(t.Context(), t.path, w))
		t.ok(t.c.Watches().Remove().Quietly().ForPath(t.Context(), t.path, nil))
		t.want(t.c.Watches().Remove().Quietly().ForPath(t.Context(), "relative", w), framework.ErrInvalidPath)
	},
}

// at returns the next event's type, of a path relative to the check's.
func (t bench) at(events chan framework.WatchedEvent, path string) framework.EventType {
	t.Helper()
	e := <-events
	if e.Path != t.path+path {
		t.Fatalf("event %+v, want one of %s", e, t.path+path)
	}
	return e.Type
}

// happens changes the node and its children, and shows what a persistent watch hears.
func (t bench) happens(events chan framework.WatchedEvent, recursive bool) {
	t.Helper()
	t.create(t.path)
	t.set(t.path, "x")
	t.create(t.path + "/a")
	t.set(t.path+"/a", "x")
	t.ok(t.c.Delete().ForPath(t.Context(), t.path+"/a"))
	t.ok(t.c.Delete().ForPath(t.Context(), t.path))
	type heard struct {
		path string
		what framework.EventType
	}
	want := []heard{
		{"", framework.NodeCreated}, {"", framework.NodeDataChanged}, {"", framework.NodeChildrenChanged},
		{"", framework.NodeChildrenChanged}, {"", framework.NodeDeleted},
	}
	if recursive {
		want = []heard{
			{"", framework.NodeCreated}, {"", framework.NodeDataChanged}, {"/a", framework.NodeCreated},
			{"/a", framework.NodeDataChanged}, {"/a", framework.NodeDeleted}, {"", framework.NodeDeleted},
		}
	}
	for i, h := range want {
		if what := t.at(events, h.path); what != h.what {
			t.Fatalf("event %d is %d, want %+v", i, what, h)
		}
	}
}

func testAdd(t bench) {
	w, events := watch()
	for range 2 { // the second does nothing
		t.ok(t.c.Watches().Add().ForPath(t.Context(), t.path, w))
	}
	if n := t.network.Requests(jute.OpAddWatch); n != 1 {
		t.Fatalf("%d requests", n)
	}
	t.happens(events, true)
	// It is there again after a disconnect and after the session's end.
	t.network.Cut()
	if what := t.at(events, ""); what != framework.WatchReset {
		t.Fatalf("event %d", what)
	}
	t.happens(events, true)
	t.network.Expire(t.T)
	if what := t.at(events, ""); what != framework.WatchReset {
		t.Fatalf("event %d", what)
	}
	t.happens(events, true)
	t.want(t.c.Watches().Add().ForPath(t.Context(), t.path, nil), framework.ErrInvalidBuilder)
	// It is not set if the call fails.
	failed, never := watch()
	ctx, cancel := context.WithCancel(t.Context())
	t.network.On(jute.OpAddWatch, suite.CutBefore, cancel)
	t.want(t.c.Watches().Add().ForPath(ctx, t.path, failed), context.Canceled)
	t.want(t.c.Watches().Remove().ForPath(t.Context(), t.path, failed), framework.ErrNoWatcher)
	// The reply is lost, and the call repeated.
	lost, lostEvents := watch()
	t.network.On(jute.OpAddWatch, suite.CutAfter, nil)
	t.ok(t.c.Watches().Add().ForPath(t.Context(), t.path+"lost", lost))
	t.ok(t.c.Watches().Remove().ForPath(t.Context(), t.path, w))
	for e := range events { // WatchReset comes before
		if e.Type == framework.PersistentWatchRemoved {
			break
		}
	}
	t.create(t.path + "lost")
	for e := range lostEvents {
		if e.Type == framework.NodeCreated {
			break
		}
	}
	t.silent(never, events)
}

func testAddWithMode(t bench) {
	w, events := watch()
	t.ok(t.c.Watches().Add().WithMode(framework.PersistentWatch).ForPath(t.Context(), t.path, w))
	t.happens(events, false)
	t.network.Cut()
	if what := t.at(events, ""); what != framework.WatchReset {
		t.Fatalf("event %d", what)
	}
	t.happens(events, false)
	recursive, below := watch()
	t.ok(t.c.Watches().Add().WithMode(framework.PersistentRecursive).ForPath(t.Context(), t.path, recursive))
	t.happens(below, true)
	t.want(t.c.Watches().Add().WithMode(7).ForPath(t.Context(), t.path, w), framework.ErrInvalidBuilder)
}

// watches returns how many watches the client believes to have at the server.
func (t bench) watches() int {
	t.Helper()
	conn, err := zkclient.Of(t.c).Conn()
	t.ok(err)
	return conn.Watches()
}

func testRemove(t bench) {
	t.create(t.path)
	one, oneEvents := watch()
	two, twoEvents := watch()
	set := func(w *framework.Watcher) {
		_, err := t.c.GetData().UsingWatcher(w).ForPath(t.Context(), t.path)
		t.ok(err)
		_, err = t.c.GetChildren().UsingWatcher(w).ForPath(t.Context(), t.path)
		t.ok(err)
	}
	set(one)
	set(two)
	t.ok(t.c.Watches().Remove().ForPath(t.Context(), t.path, one))
	if n := t.network.Requests(jute.OpRemoveWatches); n != 0 || t.watches() != 2 {
		t.Fatalf("%d watches, %d were removed at the server, and another Watcher has them", t.watches(), n)
	}
	t.removed(oneEvents, framework.DataWatchRemoved, framework.ChildWatchRemoved)
	t.want(t.c.Watches().Remove().ForPath(t.Context(), t.path, one), framework.ErrNoWatcher)
	t.set(t.path, "x")
	t.event(twoEvents, framework.NodeDataChanged)
	// A watch that has fired is none; the one of the children still is.
	t.want(t.c.Watches().Remove().OfType(framework.DataWatcher).ForPath(t.Context(), t.path, two), framework.ErrNoWatcher)
	t.ok(t.c.Watches().Remove().ForPath(t.Context(), t.path, two))
	if n := t.network.Requests(jute.OpRemoveWatches); n != 1 || t.watches() != 0 {
		t.Fatalf("%d watches, %d were removed at the server", t.watches(), n)
	}
	t.removed(twoEvents, framework.ChildWatchRemoved)
	// All of the client, its views' and Watched's included, persistent ones, too; of no other path.
	set(one)
	parent, root := t.path[:len(t.path)-len("/node")], "/node"
	_, err := t.c.UsingNamespace(parent[1:]).GetData().UsingWatcher(two).ForPath(t.Context(), root)
	t.ok(err)
	_, err = t.c.GetData().Watched().ForPath(t.Context(), t.path)
	t.ok(err)
	t.ok(t.c.Watches().Add().ForPath(t.Context(), t.path, two))
	elsewhere, elsewhereEvents := watch()
	_, err = t.c.GetChildren().UsingWatcher(elsewhere).ForPath(t.Context(), parent)
	t.ok(err)
	unhandled := make(chan framework.Event, 16)
	t.c.CuratorListenable().Add(func(_ context.Context, e framework.Event) { unhandled <- e })
	t.ok(t.c.Watches().Remove().ForPath(t.Context(), t.path, nil))
	if n := t.watches(); n != 1 {
		t.Fatalf("%d watches", n)
	}
	t.removed(oneEvents, framework.DataWatchRemoved, framework.ChildWatchRemoved)
	if e := <-twoEvents; e.Type != framework.DataWatchRemoved || e.Path != root {
		t.Fatalf("event %+v", e)
	}
	t.removed(twoEvents, framework.PersistentWatchRemoved)
	if e := <-unhandled; e.Op != "watched" || e.Watched.Type != framework.DataWatchRemoved || e.Path != t.path {
		t.Fatalf("event %+v", e)
	}
	t.ok(t.c.Delete().ForPath(t.Context(), t.path))
	if e := <-elsewhereEvents; e.Type != framework.NodeChildrenChanged {
		t.Fatalf("event %+v", e)
	}
	t.silent(oneEvents, twoEvents)
}

func testRemoveOfType(t bench) {
	t.create(t.path)
	w, events := watch()
	for _, c := range []struct {
		removed framework.WatcherType
		told    framework.EventType // of the removal
		want    framework.EventType // of what is left
	}{
		{framework.DataWatcher, framework.DataWatchRemoved, framework.NodeChildrenChanged},
		{framework.ChildrenWatcher, framework.ChildWatchRemoved, framework.NodeDataChanged},
	} {
		_, err := t.c.GetData().UsingWatcher(w).ForPath(t.Context(), t.path)
		t.ok(err)
		_, err = t.c.GetChildren().UsingWatcher(w).ForPath(t.Context(), t.path)
		t.ok(err)
		t.ok(t.c.Watches().Remove().OfType(c.removed).ForPath(t.Context(), t.path, w))
		t.removed(events, c.told)
		t.want(t.c.Watches().Remove().OfType(c.removed).ForPath(t.Context(), t.path, w), framework.ErrNoWatcher)
		t.set(t.path, "x")
		_, err = t.c.Create().WithMode(framework.PersistentSequential).ForPath(t.Context(), t.path+"/")
		t.ok(err)
		t.event(events, c.want)
	}
	// A persistent watch is of no type but any.
	t.ok(t.c.Watches().Add().ForPath(t.Context(), t.path, w))
	for _, kind := range []framework.WatcherType{framework.DataWatcher, framework.ChildrenWatcher} {
		t.want(t.c.Watches().Remove().OfType(kind).ForPath(t.Context(), t.path, w), framework.ErrNoWatcher)
	}
	t.ok(t.c.Watches().Remove().OfType(framework.AnyWatcher).ForPath(t.Context(), t.path, w))
	t.removed(events, framework.PersistentWatchRemoved)
	t.want(t.c.Watches().Remove().OfType(9).ForPath(t.Context(), t.path, w), framework.ErrInvalidBuilder)
	t.set(t.path, "y")
	t.silent(events)
}

// unreachable makes the server silent, and returns a context for a call that is not to wait.
func (t bench) unreachable() (ctx context.Context, heal func()) {
	heal = t.network.Isolate()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	t.Cleanup(cancel)
	return ctx, heal
}

func testRemoveGuaranteed(t bench) {
	t.create(t.path)
	w, events := watch()
	for _, guaranteed := range []bool{false, true} {
		t.ok(t.c.Watches().Add().ForPath(t.Context(), t.path, w))
		remove := t.c.Watches().Remove()
		if guaranteed {
			remove = remove.Guaranteed()
		}
		ctx, heal := t.unreachable()
		err := remove.ForPath(ctx, t.path, w)
		if guaranteed {
			t.ok(err)
		} else {
			t.want(err, context.DeadlineExceeded)
		}
		heal()
		t.data(t.path) // there is another connection
		t.set(t.path, "x")
		if n := t.watches(); n != 0 {
			t.Fatalf("%d watches", n)
		}
		t.removed(events, framework.PersistentWatchRemoved)
	}
	// What is not there is no success.
	t.want(t.c.Watches().Remove().Guaranteed().ForPath(t.Context(), t.path, w), framework.ErrNoWatcher)
	t.silent(events)
}

func testRemoveLocally(t bench) {
	t.create(t.path)
	w, events := watch()
	_, err := t.c.GetData().UsingWatcher(w).ForPath(t.Context(), t.path)
	t.ok(err)
	reads := t.network.Requests(jute.OpExists)
	heal := t.network.Isolate()
	t.ok(t.c.Watches().Remove().Locally().ForPath(t.Context(), t.path, w)) // a wait would have no end
	t.removed(events, framework.DataWatchRemoved)
	t.want(t.c.Watches().Remove().Locally().ForPath(t.Context(), t.path, w), framework.ErrNoWatcher)
	heal()
	t.data(t.path)
	t.set(t.path, "x")
	if n := t.network.Requests(jute.OpExists) - reads; n != 0 {
		t.Fatalf("%d questions to the server", n)
	}
	t.silent(events)
}
