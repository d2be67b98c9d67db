package queue

import (
	"context"
	"errors"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/framework/codec"
	"github.com/go-curator/curator/internal/layout"
)

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
func (q *core) removeUnlocked(ctx context.Context, name string) (err error) {
	tx := q.client.TransactionOp()
	ops := []framework.Op{
		tx.Create().WithMode(framework.Ephemeral).ForPath(q.lockPath(name)),
		tx.Delete().ForPath(q.itemPath(name)),
		tx.Delete().ForPath(q.lockPath(name)),
	}
	for range createTries {
		_, err = q.client.Transaction().ForOperations(ctx, ops...)
		var failed *framework.OpError
		if !errors.As(err, &failed) || failed.Op != "create" || !errors.Is(err, framework.ErrNoNode) {
			return err
		}
		if err := ensure(ctx, q.client, q.cfg.lockPath); err != nil {
			return err
		}
	}
	return err
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
