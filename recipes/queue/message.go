package queue

import (
	"context"
	"fmt"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/framework/codec"
	"github.com/go-curator/curator/internal/layout"
	"github.com/go-curator/curator/recipes/locks"
)

// Message is an item that is being consumed. It may be copied, and is valid until its function
// returns.
type Message[T any] struct {
	// Item is the decoded item.
	Item T
	// Path is the path of the item's node.
	Path string
	// Stat is the node's. Ctime is the time at which the item was put, or put back.
	Stat framework.Stat
	// Lease is held on the lock node while the function runs, with WithLockPath; otherwise it
	// is nil, which behaves like a lease that was never held. Its Token rises when another
	// consumer gets the item. Use Message.Guard instead of the lease's Guard, which does not
	// remove the item.
	Lease *locks.Lease

	delivery *delivery
	behind   int // items of the same node that follow
}

// Guard commits ops together with the removal of the message's node, if its lease is held at
// that moment: all or nothing. It returns the results of ops, which must be made by the queue's
// client or a view of it. When Guard has succeeded the item is consumed, the lease is released, and the
// function's result does not matter.
//
// When the reply is lost, or ctx ends, the transaction may have been applied: see
// framework.MaybeApplied. Return the error then; Consume finds out whether it was applied, and
// the ops are not applied twice. After other errors, such as an error of one of the ops,
// nothing was applied, and Guard may be called again.
//
// If a node has several items, Guard works only for the last one; for the others it returns
// framework.ErrInvalidOption. Other errors: locks.ErrNotHeld when the lease is over, and always
// without WithLockPath; framework.ErrNoNode when somebody has deleted the item. Guard may be
// called from several goroutines, which wait for each other.
//
// Java has no counterpart.
func (m Message[T]) Guard(ctx context.Context, ops ...framework.Op) ([]framework.OpResult, error) {
	if m.behind > 0 {
		return nil, fmt.Errorf("item %s: %w: %d items of the node follow, and only the last can be guarded",
			m.Path, framework.ErrInvalidOption, m.behind)
	}
	return m.delivery.guard(ctx, ops)
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
