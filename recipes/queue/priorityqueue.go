package queue

import (
	"context"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/framework/codec"
	"github.com/go-curator/curator/internal/layout"
)

// DistributedPriorityQueue is a queue whose items have priorities: the lowest number comes
// first, and items of one priority have the order in which they were put. It may be used by
// several goroutines. A nil DistributedPriorityQueue, and the zero value, return
// framework.ErrNotStarted.
//
// Java: DistributedPriorityQueue.
type DistributedPriorityQueue[T any] struct{ q typed[T] }

// NewDistributedPriorityQueue returns the queue at path. See NewDistributedQueue. Before every
// item a consumer checks whether another item comes first, which costs no request. Java's
// minItemsBeforeRefresh is not needed.
//
// Java: QueueBuilder.buildPriorityQueue.
func NewDistributedPriorityQueue[T any](client *framework.Client, path string, c codec.Codec[T], opts ...Option) (*DistributedPriorityQueue[T], error) {
	q, err := newTyped(client, path, c, layout.PriorityItems, opts)
	if err != nil {
		return nil, err
	}
	return &DistributedPriorityQueue[T]{q}, nil
}

// Put puts items into the queue with a priority, which may be negative. See DistributedQueue.Put.
//
// Java: put, putMulti.
func (d *DistributedPriorityQueue[T]) Put(ctx context.Context, priority int32, items ...T) error {
	if d == nil {
		return (*core)(nil).usable(ctx)
	}
	return d.q.put(ctx, layout.PriorityPrefix(priority), items)
}

// Consume is DistributedQueue.Consume. An item that Java has put back has lost its priority:
// its name comes before all items whose priority is zero or more.
//
// Java: start, QueueConsumer.consumeMessage, close.
func (d *DistributedPriorityQueue[T]) Consume(ctx context.Context, fn func(ctx context.Context, m Message[T]) error) error {
	if d == nil {
		return (*core)(nil).usable(ctx)
	}
	return d.q.consume(ctx, fn)
}
