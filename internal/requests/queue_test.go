package requests_test

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/framework/codec"
	"github.com/go-curator/curator/recipes/queue"
)

// consumer is any queue, with one way to put items.
type consumer interface {
	Consume(ctx context.Context, fn func(ctx context.Context, m queue.Message[string]) error) error
}

// queueKind is a kind of queue.
type queueKind struct {
	name string
	of   func(c *framework.Client, opts ...queue.Option) (q consumer, put func(ctx context.Context, items ...string) error, err error)
}

var queueKinds = []queueKind{
	{"*DistributedQueue", func(c *framework.Client, opts ...queue.Option) (consumer, func(ctx context.Context, items ...string) error, error) {
		q, err := queue.NewDistributedQueue(c, "/queue", codec.String(), opts...)
		return q, func(ctx context.Context, items ...string) error { return q.Put(ctx, items...) }, err
	}},
	{"*DistributedIDQueue", func(c *framework.Client, opts ...queue.Option) (consumer, func(ctx context.Context, items ...string) error, error) {
		q, err := queue.NewDistributedIDQueue(c, "/queue", codec.String(), opts...)
		return q, func(ctx context.Context, items ...string) error { return q.Put(ctx, "id", items...) }, err
	}},
	{"*DistributedPriorityQueue", func(c *framework.Client, opts ...queue.Option) (consumer, func(ctx context.Context, items ...string) error, error) {
		q, err := queue.NewDistributedPriorityQueue(c, "/queue", codec.String(), opts...)
		return q, func(ctx context.Context, items ...string) error { return q.Put(ctx, 7, items...) }, err
	}},
	{"*DistributedDelayQueue", func(c *framework.Client, opts ...queue.Option) (consumer, func(ctx context.Context, items ...string) error, error) {
		q, err := queue.NewDistributedDelayQueue(c, "/queue", codec.String(), opts...)
		return q, func(ctx context.Context, items ...string) error {
			return q.Put(ctx, time.Now().Add(time.Second), items...)
		}, err
	}},
}

func queueCases() []tableCase {
	var all []tableCase
	for _, k := range queueKinds {
		all = append(all, k.cases()...)
	}
	return append(all, slices.Concat(lockPathCases(), queueOptionCases(), simpleQueueCases())...)
}

// made returns a queue.
func (k queueKind) made(f *fixture, c *framework.Client, opts ...queue.Option) (consumer, func(ctx context.Context, items ...string) error) {
	f.Helper()
	q, put, err := k.of(c, opts...)
	f.ok(err)
	return q, put
}

// consumed runs Consume until stop is called.
func consumed(f *fixture, q consumer, fn func() error) (stop func()) {
	ctx, cancel := context.WithCancel(f.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = q.Consume(ctx, func(context.Context, queue.Message[string]) error { return fn() })
	}()
	return func() { cancel(); <-done }
}

func done() error { return nil }

func (k queueKind) cases() []tableCase {
	name := "recipes/queue: (" + k.name + ") "
	consume := func(row string, fn func() error, opts ...queue.Option) tableCase {
		return tableCase{name + "Consume", row, func(f *fixture) {
			q, _ := k.made(f, f.client, opts...)
			_, put := k.made(f, f.other, opts...)
			f.ok(put(f.Context(), "a"))
			var stop func()
			f.step("Consume, with one item there", func() { stop = consumed(f, q, fn) })
			f.step("another client puts one", func() { f.ok(put(f.Context(), "b")) })
			f.step("and three together", func() { f.ok(put(f.Context(), "c", "d", "e")) })
			f.cut()
			f.expire()
			f.step("another client puts one", func() { f.ok(put(f.Context(), "f")) })
			f.step("the context ends", func() { stop() })
		}}
	}
	all := []tableCase{
		{name + "Put", "one, then two together", func(f *fixture) {
			_, put := k.made(f, f.client)
			f.step("one", func() { f.ok(put(f.Context(), "a")) })
			f.step("two", func() { f.ok(put(f.Context(), "a", "b")) })
		}},
		{name + "Put", "an answer is lost", func(f *fixture) {
			_, put := k.made(f, f.client)
			f.ok(put(f.Context(), "a"))
			f.step("call", func() {
				f.unanswered("create")
				_ = put(f.Context(), "b") // it is not repeated
			})
		}},
		{name + "Consume", "an answer to a multi is lost", func(f *fixture) {
			q, put := k.made(f, f.client)
			f.ok(put(f.Context(), "a"))
			settle()
			var stop func()
			f.step("Consume", func() {
				f.unanswered("multi")
				stop = consumed(f, q, done)
			})
			f.step("the context ends", func() { stop() })
		}},
		consume("free", done),
		consume("at least once", done, queue.WithLockPath("/locks")),
	}
	if k.name == "*DistributedIDQueue" {
		all = append(all, tableCase{name + "Remove", "two items", func(f *fixture) {
			q, err := queue.NewDistributedIDQueue(f.client, "/queue", codec.String())
			f.ok(err)
			f.ok(q.Put(f.Context(), "id", "a"))
			f.ok(q.Put(f.Context(), "id", "b"))
			f.ok(q.Put(f.Context(), "x", "c"))
			f.step("call", func() { f.must(q.Remove(f.Context(), "id")) })
			f.step("call again", func() { f.must(q.Remove(f.Context(), "id")) })
		}})
	}
	return all
}

func lockPathCases() []tableCase {
	k := queueKinds[0]
	return []tableCase{
		{"recipes/queue: WithLockPath", "the function fails once", func(f *fixture) {
			q, put := k.made(f, f.client, queue.WithLockPath("/locks"))
			f.ok(put(f.Context(), "a"))
			calls := 0
			var stop func()
			f.step("Consume", func() {
				stop = consumed(f, q, func() error {
					if calls++; calls == 1 {
						return errors.New("once")
					}
					return nil
				})
			})
			f.step("the context ends", func() { stop() })
		}},
		{"recipes/queue: WithLockPath", "cut while the function runs", func(f *fixture) {
			q, put := k.made(f, f.client, queue.WithLockPath("/locks"))
			f.ok(put(f.Context(), "a"))
			next := make(chan struct{})
			var stop func()
			f.step("Consume", func() { stop = consumed(f, q, func() error { <-next; return nil }) })
			f.cut()
			f.step("the function returns", func() { close(next) })
			f.step("the context ends", func() { stop() })
		}},
		{"recipes/queue: WithLockPath", "two consumers", func(f *fixture) {
			first, put := k.made(f, f.other, queue.WithLockPath("/locks"))
			second, _ := k.made(f, f.client, queue.WithLockPath("/locks"))
			f.ok(put(f.Context(), "a"))
			next := make(chan struct{})
			var stopFirst, stop func()
			f.step("the other client consumes", func() { stopFirst = consumed(f, first, func() error { <-next; return nil }) })
			f.step("Consume", func() { stop = consumed(f, second, done) })
			f.step("another item", func() { f.ok(put(f.Context(), "b")) })
			f.step("the other client is done", func() { close(next) })
			f.step("the contexts end", func() { stopFirst(); stop() })
		}},
		{"recipes/queue: (Message) Guard", "with a lock", func(f *fixture) {
			q, err := queue.NewDistributedQueue(f.client, "/queue", codec.String(), queue.WithLockPath("/locks"))
			f.ok(err)
			f.nodes("/x")
			f.ok(q.Put(f.Context(), "a"))
			ctx, cancel := context.WithCancel(f.Context())
			f.step("Consume", func() {
				_ = q.Consume(ctx, func(ctx context.Context, m queue.Message[string]) error {
					defer cancel()
					return value(m.Guard(ctx, f.client.TransactionOp().SetData().ForPath("/x", nil)))
				})
			})
		}},
	}
}

func queueOptionCases() []tableCase {
	k := queueKinds[0]
	return []tableCase{
		{"recipes/queue: WithMaxItems", "two of two, then a third", func(f *fixture) {
			_, put := k.made(f, f.client, queue.WithMaxItems(2))
			q, _ := k.made(f, f.other)
			f.step("the first", func() { f.ok(put(f.Context(), "a")) })
			f.step("the second", func() { f.ok(put(f.Context(), "b")) })
			var end func()
			f.step("the third waits", func() { end = f.waits(func(ctx context.Context) error { return put(ctx, "c") }) })
			f.cut()
			f.step("another client consumes", func() { f.Cleanup(consumed(f, q, done)); end() })
		}},
		{"recipes/queue: WithConcurrency", "two of four at once", func(f *fixture) {
			q, put := k.made(f, f.client, queue.WithConcurrency(2))
			for _, item := range []string{"a", "b", "c", "d"} {
				f.ok(put(f.Context(), item))
			}
			var stop func()
			f.unordered("Consume", func() { stop = consumed(f, q, done) })
			f.step("the context ends", func() { stop() })
		}},
	}
}

func simpleQueueCases() []tableCase {
	of := func(f *fixture, c *framework.Client) *queue.SimpleDistributedQueue {
		q, err := queue.NewSimpleDistributedQueue(c, "/parent/queue")
		return made(f, q, err)
	}
	var all []tableCase
	add := func(name, request string, call func(ctx context.Context, q *queue.SimpleDistributedQueue) error) {
		all = append(all,
			tableCase{"recipes/queue: (*SimpleDistributedQueue) " + name, "no queue, then two items", func(f *fixture) {
				q := of(f, f.client)
				f.step("no queue", func() { _ = call(f.Context(), q) }) // some have no item to return
				f.ok(q.Offer(f.Context(), nil))
				f.ok(q.Offer(f.Context(), nil))
				f.step("two offers, and the call", func() { f.ok(call(f.Context(), q)) })
			}},
			tableCase{"recipes/queue: (*SimpleDistributedQueue) " + name, "an answer is lost", func(f *fixture) {
				q := of(f, f.client)
				f.ok(q.Offer(f.Context(), nil))
				f.step("call", func() {
					f.unanswered(request)
					_ = call(f.Context(), q)
				})
			}},
		)
	}
	add("Offer", "create", func(ctx context.Context, q *queue.SimpleDistributedQueue) error { return q.Offer(ctx, nil) })
	add("Peek", "getData", func(ctx context.Context, q *queue.SimpleDistributedQueue) error { return value(q.Peek(ctx)) })
	add("Poll", "multi", func(ctx context.Context, q *queue.SimpleDistributedQueue) error { return value(q.Poll(ctx)) })
	return append(all, tableCase{"recipes/queue: (*SimpleDistributedQueue) Take", "it waits", func(f *fixture) {
		f.nodes("/parent")
		var end func()
		f.step("Take", func() { end = f.waits(func(ctx context.Context) error { return value(of(f, f.client).Take(ctx)) }) })
		f.cut()
		f.expire()
		f.step("another client makes the queue", func() { f.nodes("/parent/queue") })
		f.step("and offers one item", func() { f.ok(of(f, f.other).Offer(f.Context(), nil)); end() })
		f.step("and two", func() { f.ok(of(f, f.other).Offer(f.Context(), nil)); f.ok(of(f, f.other).Offer(f.Context(), nil)) })
		f.step("Take", func() { f.must(of(f, f.client).Take(f.Context())) })
	}})
}
