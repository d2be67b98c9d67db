package queue

import (
	"context"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/framework/codec"
	"github.com/go-curator/curator/internal/layout"
)

// DistributedDelayQueue is a queue whose items have a time. They are not consumed before their
// time, and they are ordered by it. A consumer compares the times with the clock of its own
// machine. It may be used by several goroutines. A nil DistributedDelayQueue, and the zero
// value, return framework.ErrNotStarted.
//
// Java: DistributedDelayQueue.
type DistributedDelayQueue[T any] struct{ q typed[T] }

// NewDistributedDelayQueue returns the queue at path. See NewDistributedQueue.
//
// Java: QueueBuilder.buildDelayQueue.
func NewDistributedDelayQueue[T any](client *framework.Client, path string, c codec.Codec[T], opts ...Option) (*DistributedDelayQueue[T], error) {
	q, err := newTyped(client, path, c, layout.DelayItems, opts)
	if err != nil {
		return nil, err
	}
	return &DistributedDelayQueue[T]{q}, nil
}

// Put puts items into the queue that are due at a time, which is stored in whole milliseconds,
// rounded up. Items with a past time are due immediately. A time that is too far away for 64 bits of
// milliseconds counts as the last one that is not. See DistributedQueue.Put.
//
// Java: put, putMulti.
func (d *DistributedDelayQueue[T]) Put(ctx context.Context, due time.Time, items ...T) error {
	if d == nil {
		return (*core)(nil).usable(ctx)
	}
	return d.q.put(ctx, layout.DelayPrefix(due), items)
}

// Consume is DistributedQueue.Consume. A change of the machine's clock is noticed after a minute
// at most.
//
// Java: start, QueueConsumer.consumeMessage, close.
func (d *DistributedDelayQueue[T]) Consume(ctx context.Context, fn func(ctx context.Context, m Message[T]) error) error {
	if d == nil {
		return (*core)(nil).usable(ctx)
	}
	return d.q.consume(ctx, fn)
}
