package blocking_test

import (
	"context"
	"time"

	"github.com/go-curator/curator/framework/codec"
	"github.com/go-curator/curator/recipes/queue"
)

func queueRows() map[string]row {
	simple := func(f *fixture) *queue.SimpleDistributedQueue {
		q, err := queue.NewSimpleDistributedQueue(f.client, f.path+"/queue")
		return made(f, q, err)
	}
	plain := func(f *fixture) *queue.DistributedQueue[string] {
		q, err := queue.NewDistributedQueue(f.client, f.path+"/queue", codec.String())
		return made(f, q, err)
	}
	byID := func(f *fixture) *queue.DistributedIDQueue[string] {
		q, err := queue.NewDistributedIDQueue(f.client, f.path+"/queue", codec.String())
		return made(f, q, err)
	}
	priority := func(f *fixture) *queue.DistributedPriorityQueue[string] {
		q, err := queue.NewDistributedPriorityQueue(f.client, f.path+"/queue", codec.String())
		return made(f, q, err)
	}
	delay := func(f *fixture) *queue.DistributedDelayQueue[string] {
		q, err := queue.NewDistributedDelayQueue(f.client, f.path+"/queue", codec.String())
		return made(f, q, err)
	}
	type consumer interface {
		Consume(ctx context.Context, fn func(ctx context.Context, m queue.Message[string]) error) error
	}
	consumes := func(make func(f *fixture) consumer) row {
		return runs(func(f *fixture) call {
			q := make(f)
			return func(ctx context.Context) error {
				return q.Consume(ctx, func(context.Context, queue.Message[string]) error { return nil })
			}
		})
	}
	return map[string]row{
		"recipes/queue: (*SimpleDistributedQueue) Offer": asks(func(f *fixture) call {
			return func(ctx context.Context) error { return simple(f).Offer(ctx, nil) }
		}),
		"recipes/queue: (*SimpleDistributedQueue) Peek": asks(func(f *fixture) call {
			return func(ctx context.Context) error { return value(simple(f).Peek(ctx)) }
		}),
		"recipes/queue: (*SimpleDistributedQueue) Poll": asks(func(f *fixture) call {
			return func(ctx context.Context) error { return value(simple(f).Poll(ctx)) }
		}),
		"recipes/queue: (*SimpleDistributedQueue) Take": waits(func(f *fixture) call {
			return func(ctx context.Context) error { return value(simple(f).Take(ctx)) }
		}),
		"recipes/queue: (*DistributedQueue) Put": asks(func(f *fixture) call {
			return func(ctx context.Context) error { return plain(f).Put(ctx, "x") }
		}),
		"recipes/queue: (*DistributedQueue) Consume": consumes(func(f *fixture) consumer { return plain(f) }),
		"recipes/queue: (*DistributedIDQueue) Put": asks(func(f *fixture) call {
			return func(ctx context.Context) error { return byID(f).Put(ctx, "id", "x") }
		}),
		"recipes/queue: (*DistributedIDQueue) Remove": asks(func(f *fixture) call {
			return func(ctx context.Context) error { return value(byID(f).Remove(ctx, "id")) }
		}),
		"recipes/queue: (*DistributedIDQueue) Consume": consumes(func(f *fixture) consumer { return byID(f) }),
		"recipes/queue: (*DistributedPriorityQueue) Put": asks(func(f *fixture) call {
			return func(ctx context.Context) error { return priority(f).Put(ctx, 1, "x") }
		}),
		"recipes/queue: (*DistributedPriorityQueue) Consume": consumes(func(f *fixture) consumer { return priority(f) }),
		"recipes/queue: (*DistributedDelayQueue) Put": asks(func(f *fixture) call {
			return func(ctx context.Context) error { return delay(f).Put(ctx, time.Now(), "x") }
		}),
		"recipes/queue: (*DistributedDelayQueue) Consume": consumes(func(f *fixture) consumer { return delay(f) }),
	}
}
