package queue

import (
	"context"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/framework/codec"
)

// DistributedQueue is a queue in the order in which items were put. It has no state but its
// client, and may be used by several goroutines. A nil DistributedQueue, and the zero value,
// return framework.ErrNotStarted.
//
// Java: DistributedQueue.
type DistributedQueue[T any] struct{ q typed[T] }

// NewDistributedQueue returns the queue at path. It does no I/O. The same queue puts and
// consumes; a program may do either alone. Errors: framework.ErrInvalidPath,
// framework.ErrInvalidOption, also for a nil codec, framework.ErrNotStarted for a nil client.
//
// Java: QueueBuilder.buildQueue.
func NewDistributedQueue[T any](client *framework.Client, path string, c codec.Codec[T], opts ...Option) (*DistributedQueue[T], error) {
	q, err := newTyped(client, path, c, plainNames, opts)
	if err != nil {
		return nil, err
	}
	return &DistributedQueue[T]{q}, nil
}

// Put puts items into the queue, and returns when they are stored. Several items go into one
// node: they are there at once, follow each other, are consumed by one consumer, and are put back
// together. Without items Put does nothing. The queue's node is created if it is missing.
//
// When the reply is lost, or ctx ends, the items may be in the queue: see
// framework.MaybeApplied. Put does not try again then. Errors: ErrFull, framework.ErrTooLarge,
// that of encoding, or the server's.
//
// Java: put, putMulti.
func (d *DistributedQueue[T]) Put(ctx context.Context, items ...T) error {
	if d == nil {
		return (*core)(nil).usable(ctx)
	}
	return d.q.put(ctx, itemPrefix, items)
}

// Consume calls fn for every item until ctx ends, one after the other, or WithConcurrency at a
// time. Items that were put together are handed over one after the other.
//
// The context of fn ends with ctx, when Consume ends with an error and, WithLockPath, when the message's
// lease is lost. When fn returns an error, the node is put back WithLockPath: to the end of its
// line, with its priority, id or time. If ctx has ended by then, or the lease was lost, it keeps
// its place. There is no pause before the item is handed out again. Without WithLockPath the item
// is gone, and the error is logged. An item that was deleted when ctx ended is still handed
// over, with the context that has ended. Items that cannot be decoded are removed, as in Java, and
// logged.
//
// A panic in fn is not recovered; the item is left to the session, which ends with the process.
//
// Consume returns nil after the end of ctx, when every fn has returned. It does not end for want
// of a connection. Other errors end it: framework.ErrClosed, framework.ErrNoAuth,
// framework.ErrAuthFailed, framework.ErrTooLarge for a queue whose list is too large,
// framework.ErrUnimplemented for a server before ZooKeeper 3.6, and framework.ErrInvalidOption
// for a nil fn. Several goroutines may call Consume; each is a consumer of its own.
//
// Java: start, QueueConsumer.consumeMessage, close.
func (d *DistributedQueue[T]) Consume(ctx context.Context, fn func(ctx context.Context, m Message[T]) error) error {
	if d == nil {
		return (*core)(nil).usable(ctx)
	}
	return d.q.consume(ctx, fn)
}
