package framework_test

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/suite"
)

// eachBench runs a test as the checks of steps are run.
func eachBench(t *testing.T, test func(t bench)) {
	benchOn(t, suite.InVirtualTime|suite.OnRealServer, test)
}

// benchOn runs a test so on some backends.
func benchOn(t *testing.T, on suite.Backends, test func(t bench)) {
	suite.EachOf(t, on, func(t *testing.T, b *suite.Backend) {
		c, network := b.Client(t)
		if _, err := c.Create().CreatingParentsIfNeeded().ForPath(t.Context(), b.Path("x")); err != nil {
			t.Fatal(err)
		}
		test(bench{t, b, c, network, b.Path("node")})
	})
}

// A Watcher is told of one event once, however it was set.
func TestToldOnce(t *testing.T) {
	eachBench(t, func(t bench) {
		t.create(t.path)
		w, events := watch()
		parent := t.path[:len(t.path)-len("/node")]
		for range 2 {
			_, err := t.c.GetData().UsingWatcher(w).ForPath(t.Context(), t.path)
			t.ok(err)
			_, err = t.c.CheckExists().UsingWatcher(w).ForPath(t.Context(), t.path)
			t.ok(err)
			_, err = t.c.GetChildren().UsingWatcher(w).ForPath(t.Context(), t.path)
			t.ok(err)
			for _, mode := range []framework.AddWatchMode{framework.PersistentWatch, framework.PersistentRecursive} {
				t.ok(t.c.Watches().Add().WithMode(mode).ForPath(t.Context(), t.path, w))
			}
			t.ok(t.c.Watches().Add().ForPath(t.Context(), parent, w))
			t.ok(t.c.UsingNamespace(parent[1:]).Watches().Add().ForPath(t.Context(), "/", w))
		}
		t.set(t.path, "x")
		t.event(events, framework.NodeDataChanged)
		t.ok(t.c.Delete().ForPath(t.Context(), t.path))
		t.event(events, framework.NodeDeleted)
		t.create(t.path)
		t.event(events, framework.NodeCreated)
		t.silent(events)
	})
}

// A one-shot watch beside a persistent one fires once, the persistent one goes on.
func TestOneShotBesidePersistent(t *testing.T) {
	eachBench(t, func(t bench) {
		t.create(t.path)
		once, onceEvents := watch()
		always, alwaysEvents := watch()
		for _, mode := range []framework.AddWatchMode{framework.PersistentWatch, framework.PersistentRecursive} {
			t.ok(t.c.Watches().Add().WithMode(mode).ForPath(t.Context(), t.path, always))
			_, err := t.c.GetData().UsingWatcher(once).ForPath(t.Context(), t.path)
			t.ok(err)
			for range 3 {
				t.set(t.path, "x")
				t.event(alwaysEvents, framework.NodeDataChanged)
			}
			t.event(onceEvents, framework.NodeDataChanged)
			t.ok(t.c.Watches().Remove().ForPath(t.Context(), t.path, always))
			t.removed(alwaysEvents, framework.PersistentWatchRemoved)
			t.want(t.c.Watches().Remove().ForPath(t.Context(), t.path, once), framework.ErrNoWatcher)
		}
		t.set(t.path, "x")
		t.silent(onceEvents, alwaysEvents)
	})
}

// A persistent watch is back before a read after the reconnect is done: what is changed
// behind that read is heard of.
func TestPutBackBeforeReads(t *testing.T) {
	eachBench(t, func(t bench) {
		t.create(t.path)
		w, events := watch()
		t.ok(t.c.Watches().Add().ForPath(t.Context(), t.path, w))
		other, _ := t.b.Client(t.T)
		for i, end := range []func(){t.network.Cut, func() { t.network.Expire(t.T) }} {
			restored := t.network.Requests(jute.OpSetWatches2)
			end()
			t.event(events, framework.WatchReset)
			t.data(t.path)
			if n := t.network.Requests(jute.OpSetWatches2) - restored; n != 1 {
				t.Fatalf("end %d: put back %d times", i, n)
			}
			_, err := other.SetData().ForPath(t.Context(), t.path, nil)
			t.ok(err)
			t.event(events, framework.NodeDataChanged)
		}
	})
}

// A call that waits for a connection sets a watch of its own: the end of an earlier one of
// the same Watcher is not its end.
func TestWatchSetWhileAnotherFires(t *testing.T) {
	eachBench(t, func(t bench) {
		t.create(t.path)
		w, events := watch()
		_, err := t.c.GetData().UsingWatcher(w).ForPath(t.Context(), t.path)
		t.ok(err)
		heal := t.network.Isolate()
		t.network.Cut()
		done := make(chan error)
		go func() {
			_, err := t.c.GetData().UsingWatcher(w).ForPath(t.Context(), t.path)
			done <- err
		}()
		suite.Eventually(t.T, "the second call", func() bool { return w.Registrations() == 2 })
		heal()
		t.ok(<-done)
		t.set(t.path, "x")
		for e := range events {
			if e.Type == framework.NodeDataChanged {
				break
			}
		}
	})
}

// A Watcher that is set over and over for the same does not grow, and it forgets a client
// that is closed.
func TestWatcherDoesNotGrow(t *testing.T) {
	eachBench(t, func(t bench) {
		t.create(t.path)
		w, events := watch()
		var calls sync.WaitGroup
		for range 8 {
			calls.Go(func() {
				for range 20 {
					_, err := t.c.GetData().UsingWatcher(w).ForPath(t.Context(), t.path)
					if err != nil {
						t.Error(err)
					}
				}
			})
		}
		calls.Wait()
		if n := w.Registrations(); n < 1 || n > 8 {
			t.Fatalf("%d settings", n)
		}
		t.set(t.path, "x")
		t.event(events, framework.NodeDataChanged)
		if n := w.Registrations(); n != 0 || t.watches() != 0 {
			t.Fatalf("%d settings, %d watches", n, t.watches())
		}
		_, err := t.c.GetData().UsingWatcher(w).ForPath(t.Context(), t.path)
		t.ok(err)
		t.ok(t.c.Watches().Add().ForPath(t.Context(), t.path, w))
		t.silent(events)
		if n := w.Registrations(); n != 0 {
			t.Fatalf("%d settings of a closed client", n)
		}
	})
}

// What is removed while its call is under way is not there when the call returns. Only then is
// it known that there was a watch, and its watcher told.
func TestRemoveUnderWay(t *testing.T) {
	eachBench(t, func(t bench) {
		t.create(t.path)
		for told, call := range map[framework.EventType]func(w *framework.Watcher) error{
			framework.PersistentWatchRemoved: func(w *framework.Watcher) error {
				return t.c.Watches().Add().ForPath(t.Context(), t.path, w)
			},
			framework.DataWatchRemoved: func(w *framework.Watcher) error {
				_, err := t.c.GetData().UsingWatcher(w).ForPath(t.Context(), t.path)
				return err
			},
		} {
			t.removeUnderWay(told, call, true)
			t.removeUnderWay(told, call, false)
		}
	})
}

// removeUnderWay removes a watch ahead of the first attempt to set it that can succeed, or, if lost, while an attempt is
// under way whose connection is lost then.
func (t bench) removeUnderWay(told framework.EventType, call func(w *framework.Watcher) error, lost bool) {
	t.Helper()
	t.data(t.path)
	w, events := watch()
	heal := t.network.Isolate()
	if !lost {
		t.network.Cut()
	}
	done := make(chan error)
	go func() { done <- call(w) }()
	suite.Eventually(t.T, "the removal", func() bool {
		return t.c.Watches().Remove().Locally().ForPath(t.Context(), t.path, w) == nil
	})
	if len(events) > 0 {
		t.Fatalf("event %+v before the call has returned", <-events)
	}
	if lost {
		t.network.Cut()
	}
	heal()
	t.ok(<-done)
	if n := t.watches(); n != 0 || w.Registrations() != 0 {
		t.Fatalf("%d: %d watches, %d settings", told, n, w.Registrations())
	}
	t.removed(events, told)
	t.set(t.path, "x")
	if t.data(t.path); len(events) > 0 {
		t.Fatalf("%d: event %+v", told, <-events)
	}
}

// An event that a Watcher was not told yet is not told after Remove.
func TestRemoveTakesWhatWaits(t *testing.T) {
	eachBench(t, func(t bench) {
		t.create(t.path)
		in, leave := make(chan framework.EventType, 16), make(chan bool)
		w := framework.NewWatcher(func(_ context.Context, e framework.WatchedEvent) {
			in <- e.Type
			<-leave
		})
		t.ok(t.c.Watches().Add().ForPath(t.Context(), t.path, w))
		marker, marked := watch()
		t.ok(t.c.Watches().Add().ForPath(t.Context(), t.path, marker))
		for range 3 {
			t.set(t.path, "x")
			<-marked
		}
		<-in // of the first event
		t.ok(t.c.Watches().Remove().ForPath(t.Context(), t.path, w))
		close(leave)
		if e := <-in; e != framework.PersistentWatchRemoved {
			t.Fatalf("it is told of another: %d", e)
		}
		t.silent(marked)
		if len(in) > 0 {
			t.Fatal("it is told of more")
		}
	})
}

// RemoveWatchers takes back what was set through the view and its views, and nothing else.
func TestWatcherRemovingView(t *testing.T) {
	eachBench(t, func(t bench) {
		t.create(t.path)
		w, events := watch()
		other, others := watch()
		view := t.c.WatcherRemovingView()
		parent := t.path[:len(t.path)-len("/node")]
		t.ok(view.RemoveWatchers(t.Context())) // of nothing
		_, err := view.GetData().UsingWatcher(w).ForPath(t.Context(), t.path)
		t.ok(err)
		_, err = view.UsingNamespace(parent[1:]).GetChildren().UsingWatcher(w).ForPath(t.Context(), "/node")
		t.ok(err)
		t.ok(view.Watches().Add().ForPath(t.Context(), t.path, w))
		_, err = view.GetData().UsingWatcher(w).ForPath(t.Context(), t.path+"none")
		t.want(err, framework.ErrNoNode)
		// The same for the client itself stays, though it is the same Watcher's.
		_, err = t.c.GetData().UsingWatcher(other).ForPath(t.Context(), t.path)
		t.ok(err)
		t.ok(t.c.Watches().Add().ForPath(t.Context(), parent, w))
		t.ok(view.RemoveWatchers(t.Context()))
		if n := w.Registrations(); n != 1 {
			t.Fatalf("%d settings", n)
		}
		t.event(events, framework.DataWatchRemoved)
		if e := <-events; e.Type != framework.ChildWatchRemoved || e.Path != "/node" {
			t.Fatalf("event %+v", e)
		}
		t.event(events, framework.PersistentWatchRemoved)
		e := <-others // another watch of the path was given back
		if e.Type == framework.WatchReset {
			_, err = t.c.GetData().UsingWatcher(other).ForPath(t.Context(), t.path)
			t.ok(err)
		}
		t.set(t.path, "x")
		t.event(others, framework.NodeDataChanged)
		t.event(events, framework.NodeDataChanged)
		// Without a connection they are taken back all the same.
		_, err = view.GetData().UsingWatcher(w).ForPath(t.Context(), t.path)
		t.ok(err)
		ctx, heal := t.unreachable()
		t.want(view.RemoveWatchers(ctx), context.DeadlineExceeded)
		heal()
		t.data(t.path) // there is another connection
		if n := w.Registrations(); n != 1 {
			t.Fatalf("%d settings", n)
		}
		t.ok(t.c.Close(context.WithoutCancel(t.Context())))
		t.ok(view.RemoveWatchers(t.Context()))
		if err := (framework.WatcherRemovingView{}).RemoveWatchers(t.Context()); !errors.Is(err, framework.ErrNotStarted) {
			t.Fatal(err)
		}
	})
}

// A Watcher that is told by another of its watches of the same is not told that one was removed.
func TestRemovedWhileSetOtherwise(t *testing.T) {
	eachBench(t, func(t bench) {
		t.create(t.path)
		w, events := watch()
		view := t.c.WatcherRemovingView()
		for _, c := range []*framework.Client{view.Client, t.c} {
			_, err := c.GetData().UsingWatcher(w).ForPath(t.Context(), t.path)
			t.ok(err)
			_, err = c.GetChildren().UsingWatcher(w).ForPath(t.Context(), t.path)
			t.ok(err)
		}
		t.ok(t.c.Watches().Remove().OfType(framework.ChildrenWatcher).ForPath(t.Context(), t.path, w))
		t.removed(events, framework.ChildWatchRemoved) // both, and once
		t.ok(view.RemoveWatchers(t.Context()))
		t.set(t.path, "x")
		for e := range events { // WatchReset, if the server has forgotten both
			if e.Type.IsRemoval() {
				t.Fatalf("event %+v", e)
			}
			if e.Type == framework.NodeDataChanged {
				break
			}
			_, err := t.c.GetData().UsingWatcher(w).ForPath(t.Context(), t.path)
			t.ok(err)
			t.set(t.path, "y")
		}
	})
}
