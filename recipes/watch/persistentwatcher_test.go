package watch_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/internal/zkclient"
	"github.com/go-curator/curator/recipes/watch"
)

// env is a watcher on a client with faults, and an operator whose network is sound.
type env struct {
	t        *testing.T
	b        *suite.Backend
	path     string
	client   *framework.Client
	network  *suite.Network
	operator *framework.Client
	watcher  *watch.PersistentWatcher

	mu   sync.Mutex
	told []string // to a listener
}

func newEnv(t *testing.T, b *suite.Backend, mode framework.AddWatchMode, opts ...framework.Option) *env {
	t.Helper()
	e := &env{t: t, b: b, path: b.Path("watched")}
	e.operator, _ = b.Client(t)
	e.client, e.network = b.Client(t, opts...)
	for _, client := range []*framework.Client{e.client, e.operator} {
		suite.OK(t, client.BlockUntilConnected(t.Context()))
	}
	e.watch(e.client, e.path, mode)
	return e
}

// watch makes the watcher, which is closed at the end of the test.
func (e *env) watch(client *framework.Client, path string, mode framework.AddWatchMode) {
	e.t.Helper()
	w := suite.Got(watch.NewPersistentWatcher(client, path, mode)).OK(e.t)
	e.watcher = w
	w.Listenable().Add(func(_ context.Context, event framework.WatchedEvent) {
		e.mu.Lock()
		defer e.mu.Unlock()
		e.told = append(e.told, e.text(event))
	})
	e.t.Cleanup(func() {
		err := w.Close(context.WithoutCancel(e.t.Context()))
		if err != nil && !errors.Is(err, context.DeadlineExceeded) { // which the test has seen
			e.t.Errorf("Close: %v", err)
		}
	})
}

// text is an event in short, without the part of the path that is the test's.
func (e *env) text(event framework.WatchedEvent) string {
	kind := map[framework.EventType]string{
		framework.NodeCreated: "created", framework.NodeDeleted: "deleted", framework.NodeDataChanged: "data",
		framework.NodeChildrenChanged: "children", framework.WatchReset: "reset",
	}[event.Type]
	return kind + " " + strings.TrimPrefix(event.Path, strings.TrimSuffix(e.path, "/watched"))
}

func (e *env) start() {
	e.t.Helper()
	suite.OK(e.t, e.watcher.Start(e.t.Context()))
}

func (e *env) close(ctx context.Context) {
	e.t.Helper()
	suite.OK(e.t, e.watcher.Close(ctx))
}

// until waits until the listener was told of this and nothing else.
func (e *env) until(want ...string) {
	e.t.Helper()
	suite.Eventually(e.t, strings.Join(want, ", "), func() bool {
		e.mu.Lock()
		defer e.mu.Unlock()
		if len(e.told) > len(want) {
			e.t.Fatalf("told of %q, want %q", e.told, want)
		}
		return slices.Equal(e.told, want)
	})
}

func (e *env) create(path string) {
	e.t.Helper()
	suite.Got(e.operator.Create().CreatingParentsIfNeeded().ForPath(e.t.Context(), path)).OK(e.t)
}

func (e *env) set(path string) {
	e.t.Helper()
	suite.Got(e.operator.SetData().ForPath(e.t.Context(), path, nil)).OK(e.t)
}

func (e *env) delete(path string) {
	e.t.Helper()
	suite.OK(e.t, e.operator.Delete().ForPath(e.t.Context(), path))
}

func (e *env) wantWatches(n int) {
	e.t.Helper()
	conn := suite.Got(zkclient.Of(e.client).Conn()).OK(e.t)
	if got := conn.Watches(); got != n {
		e.t.Fatalf("the client has %d watches, want %d", got, n)
	}
}

// untilConnected waits for a connection, of another session than the one given, on which the
// watch is back: that is so when a request is answered.
func (e *env) untilConnected(not int64) {
	e.t.Helper()
	suite.Eventually(e.t, "a connection", func() bool {
		return e.client.ConnectionState().IsConnected() && e.client.SessionID() != not
	})
	e.answered()
}

func (e *env) answered() {
	e.t.Helper()
	suite.Got(e.client.CheckExists().ForPath(e.t.Context(), "/")).OK(e.t)
}

// reconnect cuts the connection, and waits until the watch is back.
func (e *env) reconnect() {
	e.t.Helper()
	e.network.Cut()
	e.until("reset /watched")
	e.answered()
}

// W1: each mode tells what it is for, before and after the end of a session, and says after each
// reconnect that something may have been missed.
func TestEvents(t *testing.T) {
	t.Parallel()
	for mode, want := range map[framework.AddWatchMode][]string{
		framework.PersistentRecursive: {"created /watched", "created /watched/child", "data /watched/child", "data /watched", "deleted /watched/child"},
		framework.PersistentWatch:     {"created /watched", "children /watched", "data /watched", "children /watched"},
	} {
		t.Run(fmt.Sprint("mode ", int(mode)), func(t *testing.T) {
			suite.EachOf(t, suite.InVirtualTime|suite.OnRealServer, func(t *testing.T, b *suite.Backend) {
				e := newEnv(t, b, mode)
				e.start()
				change := func() {
					e.create(e.path)
					e.create(e.path + "/child")
					e.set(e.path + "/child")
					e.set(e.path)
					e.delete(e.path + "/child")
				}
				change()
				e.until(want...)
				before := e.client.SessionID()
				e.network.Expire(t)
				e.untilConnected(before)
				all := append(slices.Clone(want), "reset /watched")
				e.until(all...)
				e.delete(e.path)
				change()
				e.until(slices.Concat(all, []string{"deleted /watched"}, want)...)
				e.wantWatches(1)
				e.close(t.Context())
				e.wantWatches(0)
				e.set(e.path)
				e.until(slices.Concat(all, []string{"deleted /watched"}, want)...)
			})
		})
	}
}

// Start is one request, and a reconnect one for all watches of the client together.
func TestRequests(t *testing.T) {
	suite.EachOf(t, suite.InVirtualTime|suite.OnRealServer, func(t *testing.T, b *suite.Backend) {
		e := newEnv(t, b, framework.PersistentRecursive)
		e.start()
		e.reconnect()
		e.create(e.path)
		e.until("reset /watched", "created /watched")
		if n, m := e.network.Requests(jute.OpAddWatch), e.network.Requests(jute.OpSetWatches2); n != 1 || m != 1 {
			t.Errorf("%d requests to set the watch and %d to put it back, want 1 and 1", n, m)
		}
	})
}

// works fails unless the watcher tells of what happens.
func (e *env) works() {
	e.t.Helper()
	e.create(e.path)
	suite.Eventually(e.t, "the event", func() bool {
		e.mu.Lock()
		defer e.mu.Unlock()
		return slices.Contains(e.told, "created /watched")
	})
	e.wantWatches(1)
}

// A view with a namespace tells paths without it.
func TestNamespace(t *testing.T) {
	suite.EachOf(t, suite.InVirtualTime|suite.OnRealServer, func(t *testing.T, b *suite.Backend) {
		e := newEnv(t, b, framework.PersistentRecursive)
		namespace := strings.TrimPrefix(e.path, "/")
		e.watch(e.client.UsingNamespace(namespace), "/a", framework.PersistentRecursive)
		e.start()
		e.create(e.path + "/a")
		e.create(e.path + "/a/b")
		e.until("created /a", "created /a/b")
	})
}

// Two watchers of one path share the server's watch, and the one that is closed takes nothing
// from the other.
func TestShared(t *testing.T) {
	suite.EachOf(t, suite.InVirtualTime|suite.OnRealServer, func(t *testing.T, b *suite.Backend) {
		e := newEnv(t, b, framework.PersistentRecursive)
		other := e.watcher
		suite.OK(t, other.Start(t.Context()))
		e.watch(e.client, e.path, framework.PersistentWatch)
		e.start()
		e.wantWatches(1)
		suite.OK(t, other.Close(t.Context()))
		e.create(e.path)
		e.until("created /watched")
	})
}

// Start gives up with the retry policy of the client, and can be called again.
func TestStartGivesUp(t *testing.T) {
	suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
		e := newEnv(t, b, framework.PersistentRecursive)
		heal := e.network.Isolate()
		before := time.Now()
		err := e.watcher.Start(t.Context())
		if !errors.Is(err, framework.ErrConnectionLoss) || time.Since(before) > time.Hour {
			t.Fatalf("Start returned %v after %v", err, time.Since(before))
		}
		heal()
		e.start()
		e.works()
	})
}

// Close joins the listeners that a Start has called which failed afterwards: the server has the
// watch already for another watcher of the client.
func TestCloseAfterFailedStart(t *testing.T) {
	suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
		e := newEnv(t, b, framework.PersistentWatch)
		e.start()
		e.watch(e.client, e.path, framework.PersistentWatch)
		called, release, done := make(chan struct{}), make(chan struct{}), false
		e.watcher.Listenable().Add(func(context.Context, framework.WatchedEvent) {
			close(called)
			<-release
			done = true
		})
		ctx, cancel := context.WithCancel(t.Context())
		e.network.On(jute.OpAddWatch, suite.CutBefore, func() {
			e.create(e.path)
			<-called
			cancel()
		})
		if err := e.watcher.Start(ctx); !errors.Is(err, context.Canceled) {
			t.Fatalf("Start returned %v", err)
		}
		time.AfterFunc(time.Minute, func() { close(release) })
		if e.close(t.Context()); !done {
			t.Error("Close returned before the listener")
		}
	})
}
