package framework_test

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/suite"
)

// most is how many events wait for a Watcher.
const most = 1 << 16

// heldUp is a Watcher whose first call waits until it may go on.
type heldUp struct {
	*framework.Watcher
	goOn chan struct{}
	told []framework.WatchedEvent
}

func newHeldUp() *heldUp {
	h := &heldUp{goOn: make(chan struct{})}
	h.Watcher = framework.NewWatcher(func(_ context.Context, e framework.WatchedEvent) {
		h.told = append(h.told, framework.WatchedEvent{Type: e.Type, Path: e.Path})
		<-h.goOn
	})
	return h
}

// limited is a client with nodes that an operator changes.
type limited struct {
	*testing.T
	c, operator *framework.Client
}

func onLimited(t *testing.T, test func(l limited)) {
	suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
		l := limited{T: t}
		l.c, _ = b.ClientAt(t, "")
		l.operator, _ = b.ClientAt(t, "")
		for _, path := range []string{"/a", "/b", "/c", "/c/x"} {
			_, err := l.operator.Create().ForPath(t.Context(), path)
			l.ok(err)
		}
		test(l)
	})
}

func (l limited) ok(err error) {
	l.Helper()
	if err != nil {
		l.Fatal(err)
	}
}

// change sets the data of a node n times, and waits until all has arrived.
func (l limited) change(path string, n int) {
	l.Helper()
	const atOnce = 5000
	for ; n > 0; n -= atOnce {
		op := l.operator.TransactionOp().SetData().ForPath(path, nil)
		_, err := l.operator.Transaction().ForOperations(l.Context(), slices.Repeat([]framework.Op{op}, min(n, atOnce))...)
		l.ok(err)
	}
	synctest.Wait()
}

func (l limited) add(path string, mode framework.AddWatchMode, w *framework.Watcher) {
	l.Helper()
	l.ok(l.c.Watches().Add().WithMode(mode).ForPath(l.Context(), path, w))
}

// wantTold fails unless the watcher got this many changes of a node, and then the rest.
func (l limited) wantTold(h *heldUp, path string, n int, rest ...framework.WatchedEvent) {
	l.Helper()
	close(h.goOn)
	synctest.Wait()
	want := append(slices.Repeat([]framework.WatchedEvent{{Type: framework.NodeDataChanged, Path: path}}, n), rest...)
	if slices.Equal(h.told, want) {
		return
	}
	i := 0
	for i < min(len(h.told), len(want)) && h.told[i] == want[i] {
		i++
	}
	l.Errorf("%d events, want %d; from number %d on they are %v, want %v", len(h.told), len(want), i,
		h.told[i:min(len(h.told), i+10)], want[i:])
}

// A blocked watcher keeps a bounded number of events. Behind them each watch that has lost events gets
// one WatchReset, and later events come.
func TestWatchLimit(t *testing.T) {
	onLimited(t, func(l limited) {
		h := newHeldUp()
		l.add("/a", framework.PersistentWatch, h.Watcher)
		l.add("/b", framework.PersistentWatch, h.Watcher)
		l.add("/c", framework.PersistentRecursive, h.Watcher)
		l.change("/a", 1)
		l.change("/a", 70_000)
		l.change("/c/x", 20_000)
		l.change("/b", 1)
		l.change("/a", 10_000)
		l.wantTold(h, "/a", 1+most,
			framework.WatchedEvent{Type: framework.WatchReset, Path: "/a"},
			framework.WatchedEvent{Type: framework.WatchReset, Path: "/c"},
			framework.WatchedEvent{Type: framework.WatchReset, Path: "/b"})
		h.told = nil
		l.change("/c/x", 1)
		l.change("/b", 1)
		if want := []framework.WatchedEvent{{Type: framework.NodeDataChanged, Path: "/c/x"}, {Type: framework.NodeDataChanged, Path: "/b"}}; !slices.Equal(h.told, want) {
			t.Errorf("later events are %v, want %v", h.told, want)
		}
	})
}

// No removal is lost, however many events are. A watch that was removed has no other event.
func TestWatchLimitRemovals(t *testing.T) {
	onLimited(t, func(l limited) {
		h := newHeldUp()
		for _, path := range []string{"/a", "/b", "/c"} {
			l.add(path, framework.PersistentWatch, h.Watcher)
		}
		l.change("/a", 1+most)
		l.change("/b", 10)
		l.ok(l.c.Watches().Remove().ForPath(l.Context(), "/b", h.Watcher))
		l.change("/c", 10)
		l.ok(l.c.Watches().Remove().ForPath(l.Context(), "/c", h.Watcher))
		l.add("/b", framework.PersistentWatch, h.Watcher)
		l.change("/b", 10)
		l.change("/a", 10)
		l.wantTold(h, "/a", 1+most,
			framework.WatchedEvent{Type: framework.PersistentWatchRemoved, Path: "/b"},
			framework.WatchedEvent{Type: framework.PersistentWatchRemoved, Path: "/c"},
			framework.WatchedEvent{Type: framework.WatchReset, Path: "/b"},
			framework.WatchedEvent{Type: framework.WatchReset, Path: "/a"})
	})
}

// One-shot watches that fire while the queue is full are not lost either, and those that are set and fire
// again take no more room.
func TestWatchLimitOneShot(t *testing.T) {
	onLimited(t, func(l limited) {
		h := newHeldUp()
		l.add("/a", framework.PersistentWatch, h.Watcher)
		l.change("/a", 1+most)
		for range 3 {
			_, err := l.c.GetData().UsingWatcher(h.Watcher).ForPath(l.Context(), "/b")
			l.ok(err)
			_, err = l.c.GetChildren().UsingWatcher(h.Watcher).ForPath(l.Context(), "/c")
			l.ok(err)
			l.change("/b", 1)
			_, err = l.operator.Create().ForPath(l.Context(), "/c/y")
			l.ok(err)
			l.ok(l.operator.Delete().ForPath(l.Context(), "/c/y"))
			synctest.Wait()
		}
		l.wantTold(h, "/a", 1+most,
			framework.WatchedEvent{Type: framework.WatchReset, Path: "/b"},
			framework.WatchedEvent{Type: framework.WatchReset, Path: "/c"})
	})
}

// A watcher that blocks until its context ends holds Close up no longer than others do, and is told of
// nothing that has come after.
func TestWatchLimitClose(t *testing.T) {
	suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
		l := limited{T: t}
		l.c, _ = b.ClientAt(t, "")
		l.operator, _ = b.ClientAt(t, "")
		_, err := l.operator.Create().ForPath(t.Context(), "/a")
		l.ok(err)
		told := 0
		w := framework.NewWatcher(func(ctx context.Context, _ framework.WatchedEvent) {
			told++
			<-ctx.Done()
		})
		l.add("/a", framework.PersistentWatch, w)
		l.change("/a", most+100)
		l.ok(l.c.Close(context.WithoutCancel(t.Context())))
		if told != most+2 {
			t.Errorf("told of %d events, want %d and one WatchReset", told, most+1)
		}
	})
}
