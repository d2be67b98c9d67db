package queue

import (
	"context"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/framework/codec"
	"github.com/go-curator/curator/internal/layout"
)

// DistributedQueue is a queue in the order in which items were put. It may be used by several
// goroutines. A nil DistributedQueue, and the zero value, return framework.ErrNotStarted.
//
// Java: DistributedQueue.
type DistributedQueue[T any] struct{ q typed[T] }

// NewDistributedQueue returns the queue at path. It does no I/O. The queue both puts and
// consumes; a program may do only one of them. Errors: framework.ErrInvalidPath,
// framework.ErrInvalidOption, also for a nil codec, framework.ErrNotStarted for a nil client.
//
// Java: QueueBuilder.buildQueue.
func NewDistributedQueue[T any](client *framework.Client, path string, c codec.Codec[T], opts ...Option) (*DistributedQueue[T], error) {
	q, err := newTyped(client, path, c, layout.PlainItems, opts)
	if err != nil {
		return nil, err
	}
	return &DistributedQueue[T]{q}, nil
}

// Put puts items into the queue, and returns when they are stored. Several items of one call go
// into one node: they appear together, follow each other, go to one consumer, and are put back
// together. Without items Put does nothing. The queue's node is created if it is missing.
//
// When the reply is lost, or ctx ends, the items may be in the queue: see
// framework.MaybeApplied. Put does not try again then. Errors: ErrFull, framework.ErrTooLarge,
// the encoding's, or the server's.
//
// Java: put, putMulti.
func (d *DistributedQueue[T]) Put(ctx context.Context, items ...T) error {
	if d == nil {
		return (*core)(nil).usable(ctx)
	}
	return d.q.put(ctx, layout.PlainPrefix, items)
}

// Consume calls fn for every item until ctx ends, one after the other, or for several items at
// the same time with WithConcurrency. Items that were put together are consumed one after the
// other.
//
// The context of fn ends with ctx, when Consume ends with an error and, with WithLockPath, when
// the message's lease is lost.
//
// With WithLockPath, the node is put back when fn returns an error: at the end of the queue,
// with its priority, id or time. If ctx has ended by then, or the lease was lost, it keeps its
// place. Without WithLockPath the item is gone, and the error is logged. If the item was already
// deleted when ctx ended, fn is still called, with the ended context. Items that cannot be decoded
// are removed, as in Java, and logged.
//
// After an error of fn, and when the server refuses to remove an item or to put it back, this
// consumer takes no item for 10 ms. The pause is doubled with each such failure in a row, up to 1 s,
// and ends with an item that was consumed. Java makes no pause.
//
// An item that cannot be read, because the server refuses it or its data cannot be decompressed, is
// skipped, and logged once. It is tried again after every reconnect, and every 30 s.
//
// A panic in fn is not recovered. The item becomes free when the session of the process ends.
//
// Consume returns nil after the end of ctx, when every fn has returned. A lost connection does
// not end it. These errors end it: framework.ErrClosed, framework.ErrNoAuth for a list, a watch, the
// creation of a lock node or, without WithLockPath, the deletion of an item, framework.ErrAuthFailed,
// framework.ErrTooLarge for a queue whose list is too large,
// framework.ErrUnimplemented for a server before ZooKeeper 3.6, and framework.ErrInvalidOption
// for a nil fn. Several goroutines may call Consume; each call is a separate consumer.
//
// Java: start, QueueConsumer.consumeMessage, close.
func (d *DistributedQueue[T]) Consume(ctx context.Context, fn func(ctx context.Context, m Message[T]) error) error {
	if d == nil {
		return (*core)(nil).usable(ctx)
	}
	return d.q.consume(ctx, fn)
}
