package queue

import (
	"context"
	"errors"
	"fmt"
	"time"

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
// framework.ErrTooLarge for a queue whose list is too large, and framework.ErrInvalidOption
// for a nil fn. Several goroutines may call Consume; each call is a separate consumer.
//
// Java: start, QueueConsumer.consumeMessage, close.
func (d *DistributedQueue[T]) Consume(ctx context.Context, fn func(ctx context.Context, m Message[T]) error) error {
	if d == nil {
		return (*core)(nil).usable(ctx)
	}
	return d.q.consume(ctx, fn)
}

// DistributedIDQueue is a queue whose items have ids, by which they can be removed. They are
// ordered as in a DistributedQueue, independent of their ids. It may be used by several
// goroutines. A nil DistributedIDQueue, and the zero value, return framework.ErrNotStarted.
//
// Java: DistributedIdQueue.
type DistributedIDQueue[T any] struct{ q typed[T] }

// NewDistributedIDQueue returns the queue at path. See NewDistributedQueue.
//
// Java: QueueBuilder.buildIdQueue.
func NewDistributedIDQueue[T any](client *framework.Client, path string, c codec.Codec[T], opts ...Option) (*DistributedIDQueue[T], error) {
	q, err := newTyped(client, path, c, layout.IDItems, opts)
	if err != nil {
		return nil, err
	}
	return &DistributedIDQueue[T]{q}, nil
}

// Put puts items into the queue under an id, which other items may have, too. A "/" and a "|" in
// the id become "_", as in Java. See DistributedQueue.Put. For an id that cannot be part of a
// path it returns framework.ErrInvalidPath.
//
// Java: put, putMulti.
func (d *DistributedIDQueue[T]) Put(ctx context.Context, id string, items ...T) error {
	if d == nil {
		return (*core)(nil).usable(ctx)
	}
	return d.q.put(ctx, layout.IDPrefix(id), items)
}

// Remove removes the nodes of id that nobody consumes at the moment, and returns their number,
// also with an error. With WithLockPath it leaves the nodes that a consumer has. If the
// deletion of a node is in doubt, see framework.MaybeApplied, Remove ends, and the node is not
// counted. Remove costs a list of the queue and a request for each node.
//
// Java: remove.
func (d *DistributedIDQueue[T]) Remove(ctx context.Context, id string) (n int, err error) {
	if d == nil {
		return 0, (*core)(nil).usable(ctx)
	}
	q := d.q.core
	if err := q.usable(ctx); err != nil {
		return 0, err
	}
	names, err := q.client.GetChildren().ForPath(ctx, q.path)
	if errors.Is(err, framework.ErrNoNode) {
		return 0, nil
	}
	if err != nil {
		return 0, q.failed(err)
	}
	for _, name := range names {
		if !layout.HasID(name, id) {
			continue
		}
		removed, err := q.removeItem(ctx, name)
		if err != nil {
			return n, q.failed(err)
		}
		if removed {
			n++
		}
	}
	return n, nil
}

// Consume is DistributedQueue.Consume.
//
// Java: start, QueueConsumer.consumeMessage, close.
func (d *DistributedIDQueue[T]) Consume(ctx context.Context, fn func(ctx context.Context, m Message[T]) error) error {
	if d == nil {
		return (*core)(nil).usable(ctx)
	}
	return d.q.consume(ctx, fn)
}

// removeItem removes an item unless it is gone, or a consumer has it.
func (q *core) removeItem(ctx context.Context, name string) (removed bool, err error) {
	if q.locks == "" {
		err = deleteAlone(ctx, q.client, q.itemPath(name), -1)
	} else {
		err = q.removeUnlocked(ctx, name)
	}
	if errors.Is(err, framework.ErrNoNode) || errors.Is(err, framework.ErrNodeExists) {
		return false, nil
	}
	return err == nil, err
}

// removeUnlocked deletes an item in a transaction that fails if there is a lock node: it creates
// that node and deletes it again.
func (q *core) removeUnlocked(ctx context.Context, name string) error {
	tx := q.client.TransactionOp()
	ops := []framework.Op{
		tx.Create().WithMode(framework.Ephemeral).ForPath(q.lockPath(name)),
		tx.Delete().ForPath(q.itemPath(name)),
		tx.Delete().ForPath(q.lockPath(name)),
	}
	noLockPath := func(err error) bool {
		failed, ok := errors.AsType[*framework.OpError](err)
		return ok && failed.Op == "create" && isNoNode(err)
	}
	return q.below(ctx, q.cfg.lockPath, noLockPath, func() error {
		_, err := q.client.Transaction().ForOperations(ctx, ops...)
		return err
	})
}

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

// typed is a queue whose items are of type T.
type typed[T any] struct {
	core  *core
	codec codec.Codec[T]
}

func newTyped[T any](client *framework.Client, path string, c codec.Codec[T], kind layout.ItemKind, opts []Option) (typed[T], error) {
	if c == nil {
		return typed[T]{}, fmt.Errorf("%w: the codec is nil", framework.ErrInvalidOption)
	}
	q, err := newCore(client, path, kind, opts)
	return typed[T]{q, c}, err
}

// put encodes items and stores them in one node, whose name begins with prefix.
func (q *typed[T]) put(ctx context.Context, prefix string, items []T) error {
	if err := q.core.usable(ctx); err != nil || len(items) == 0 {
		return err
	}
	encoded := make([][]byte, len(items))
	for i, item := range items {
		var err error
		if encoded[i], err = q.codec.Encode(item); err != nil {
			return q.core.failed(fmt.Errorf("encode item %d of %d: %w", i+1, len(items), err))
		}
	}
	return q.core.put(ctx, prefix, encoded)
}

func (q *typed[T]) consume(ctx context.Context, fn func(ctx context.Context, m Message[T]) error) error {
	if err := q.core.usable(ctx); err != nil {
		return err
	}
	if fn == nil {
		return errNilFunction
	}
	return q.core.consume(ctx, func(d *delivery, items [][]byte) ([]func(ctx context.Context) error, error) {
		calls := make([]func(ctx context.Context) error, len(items))
		for i, data := range items {
			item, err := q.codec.Decode(data)
			if err != nil {
				return nil, fmt.Errorf("%w: item %d of %d: %w", codec.ErrDecode, i+1, len(items), err)
			}
			m := Message[T]{
				Item: item, Path: d.path(), Stat: d.stat, Lease: d.lease, delivery: d, behind: len(items) - 1 - i,
			}
			calls[i] = func(ctx context.Context) error { return fn(ctx, m) }
		}
		return calls, nil
	})
}
