package queue_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/framework/codec"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/recipes/queue"
)

// fixture is a queue of texts on a backend, with an observer that takes no part.
type fixture struct {
	t        *testing.T
	b        *suite.Backend
	path     string
	locks    string // the lock path; "" for at most once
	observer *framework.Client
}

func newFixture(t *testing.T, b *suite.Backend, locked bool) *fixture {
	f := &fixture{t: t, b: b, path: b.Path("queue")}
	if locked {
		f.locks = b.Path("locks")
	}
	f.observer, _ = b.Client(t)
	return f
}

// opts are the options of the queue's users.
func (f *fixture) opts(more ...queue.Option) []queue.Option {
	if f.locks != "" {
		more = append(more, queue.WithLockPath(f.locks))
	}
	return more
}

// queue returns the queue as a client sees it.
func (f *fixture) queue(client *framework.Client, opts ...queue.Option) *queue.DistributedQueue[string] {
	f.t.Helper()
	q := suite.Got(queue.NewDistributedQueue(client, f.path, codec.String(), f.opts(opts...)...)).OK(f.t)
	return q
}

// put has the observer put items, each into a node of its own.
func (f *fixture) put(items ...string) {
	f.t.Helper()
	q := f.queue(f.observer)
	for _, item := range items {
		suite.OK(f.t, q.Put(f.t.Context(), item))
	}
}

// children returns the names of the nodes below a path, in order; none if it is missing.
func (f *fixture) children(path string) []string {
	f.t.Helper()
	names, err := f.observer.GetChildren().ForPath(f.t.Context(), path)
	if err != nil && !errors.Is(err, framework.ErrNoNode) {
		f.t.Fatal(err)
	}
	slices.Sort(names)
	return names
}

// items returns the names of the queue's nodes.
func (f *fixture) items() []string { return f.children(f.path) }

// lockNodes returns the names of the lock nodes.
func (f *fixture) lockNodes() []string { return f.children(f.locks) }

// message is what the tests' functions are called with.
type message = queue.Message[string]

// consumer is a Consume on a goroutine of its own.
type consumer struct {
	f      *fixture
	cancel context.CancelFunc
	ended  chan struct{}
	err    error // of Consume; after ended

	mu      sync.Mutex
	got     []string
	running int // functions
}

// consumeFunc is the type of the Consume methods.
type consumeFunc = func(ctx context.Context, fn func(ctx context.Context, m message) error) error

// consume starts a consumer. A nil fn consumes all. It ends with the test.
func (f *fixture) consume(consume consumeFunc, fn func(ctx context.Context, m message) error) *consumer {
	ctx, cancel := context.WithCancel(f.t.Context())
	c := &consumer{f: f, cancel: cancel, ended: make(chan struct{})}
	go func() {
		defer close(c.ended)
		c.err = consume(ctx, func(ctx context.Context, m message) error {
			c.mu.Lock()
			c.got = append(c.got, m.Item)
			c.running++
			c.mu.Unlock()
			defer func() {
				c.mu.Lock()
				defer c.mu.Unlock()
				c.running--
			}()
			if fn == nil {
				return nil
			}
			return fn(ctx, m)
		})
	}()
	f.t.Cleanup(c.stop)
	return c
}

// stop ends the consumer, and fails the test if Consume fails.
func (c *consumer) stop() {
	c.cancel()
	<-c.ended
	if c.err != nil {
		c.f.t.Errorf("Consume: %v", c.err)
		c.err = nil
	}
}

// items returns what was handed over.
func (c *consumer) items() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.got)
}

// await waits until so many items were handed over, and returns them.
func (c *consumer) await(n int) []string {
	c.f.t.Helper()
	suite.Eventually(c.f.t, "items that are handed over", func() bool { return len(c.items()) >= n })
	return c.items()
}

// want waits for exactly these items, in order.
func (c *consumer) want(items ...string) {
	c.f.t.Helper()
	if got := c.await(len(items)); !slices.Equal(got, items) {
		c.f.t.Errorf("handed over %q, want %q", got, items)
	}
}

// idle waits until no function runs.
func (c *consumer) idle() {
	c.f.t.Helper()
	suite.Eventually(c.f.t, "the end of the functions", func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		return c.running == 0
	})
}

// awaitWatches waits until the observer has set its watches: a persistent one, or on an old server one-shot ones.
func (f *fixture) awaitWatches() {
	f.t.Helper()
	suite.Eventually(f.t, "the watches of the observer", func() bool { return suite.Watches(f.t, f.observer) > 0 })
	suite.Answered(f.t, f.observer)
}

// drained waits until the queue has no items and no locks.
func (f *fixture) drained() {
	f.t.Helper()
	suite.Eventually(f.t, "an empty queue", func() bool {
		return len(f.items()) == 0 && (f.locks == "" || len(f.lockNodes()) == 0)
	})
}

// nothingLeft fails if watches or locks are left.
func (f *fixture) nothingLeft() {
	f.t.Helper()
	if n := f.b.WatchesLeft(); n != 0 {
		f.t.Errorf("%d watches are left", n)
	}
	if f.locks != "" {
		if left := f.lockNodes(); len(left) > 0 {
			f.t.Errorf("locks are left: %q", left)
		}
	}
}

// both runs a test for at most once and for at least once.
func both(t *testing.T, on suite.Backends, test func(f *fixture)) {
	for name, locked := range map[string]bool{"at most once": false, "at least once": true} {
		t.Run(name, func(t *testing.T) {
			suite.EachOf(t, on, func(t *testing.T, b *suite.Backend) { test(newFixture(t, b, locked)) })
		})
	}
}

func numbered(n int) (items []string) {
	for i := range n {
		items = append(items, fmt.Sprintf("item-%03d", i))
	}
	return items
}
