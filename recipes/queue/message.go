package queue

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/zkclient"
	"github.com/go-curator/curator/recipes/internal/ephemeral"
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

// delivery is a node of the queue that a consumer works on. With the option WithLockPath a lock
// node holds it, and one transaction deletes both:
//
//	open      the lock node and the item are there, as far as this consumer knows
//	consumed  a transaction has deleted both
//	doubtful  a transaction of Guard may have deleted both
//	settled   nothing more is done with the item
type delivery struct {
	q    *core
	name string
	stat framework.Stat
	data []byte

	// WithLockPath; else nil
	node  *ephemeral.Node
	lease *locks.Lease
	turn  chan struct{} // full while a transaction is on its way; it guards state
	state deliveryState
}

type deliveryState int8

const (
	open deliveryState = iota
	consumed
	doubtful
	settled
)

// watchAfter is the time from the lock until the lock node is watched by itself. The functions of
// most items take less.
const watchAfter = 20 * time.Millisecond

// newDelivery takes charge of a lock node. An error says that the item is not ours.
func newDelivery(ctx context.Context, q *core, name string, c *claim) (*delivery, error) {
	d := &delivery{q: q, name: name, stat: zkclient.UserStat[framework.Stat](&c.stat), data: c.data, turn: make(chan struct{}, 1)}
	var err error
	d.node, err = ephemeral.Own(ephemeral.Config{
		Client: q.api, ErrorPolicy: q.client.ErrorPolicy(), NameShared: true, WatchAfter: watchAfter,
		Unwatched: d.logUnwatched,
	}, c.node, false)
	if err != nil {
		q.dropAfter(c.lock, nil)
		return nil, err
	}
	if d.lease, err = d.hold(ctx); err != nil {
		d.giveBack(ctx)
		return nil, err
	}
	d.node.Watch(nil, ephemeral.Content{})
	return d, nil
}

// leaseKind is the kind of the leases of items in metrics.
const leaseKind = "queue_item"

// hold returns the lease. When the session is in doubt, as it is when it is young, hold waits
// for a proof.
func (d *delivery) hold(ctx context.Context) (*locks.Lease, error) {
	for {
		lease, err := locks.OnNode(ctx, d.q.client, d.path(), leaseKind, d.node)
		if !errors.Is(err, ephemeral.ErrInDoubt) {
			return lease, err
		}
		conn, err := d.q.api.Conn()
		if err == nil {
			err = conn.Ready(ctx)
		}
		if err == nil {
			err = conn.AwaitProof(ctx, d.node.Session())
		}
		if err != nil {
			return nil, err
		}
	}
}

func (d *delivery) logUnwatched(err error) {
	d.q.warn("the lock node of an item cannot be watched: if somebody deletes it, the consumer does not learn of it",
		"item", d.path(), "error", err)
}

func (d *delivery) path() string { return d.q.itemPath(d.name) }

func (d *delivery) lockPath() string { return d.q.lockPath(d.name) }

// guard commits ops together with the removal of the item.
func (d *delivery) guard(ctx context.Context, ops []framework.Op) (results []framework.OpResult, err error) {
	if d == nil || d.lease == nil {
		return nil, fmt.Errorf("%w: the queue is not used WithLockPath", locks.ErrNotHeld)
	}
	if ctx == nil {
		return nil, zkclient.ErrNilContext
	}
	select {
	case d.turn <- struct{}{}:
		defer func() { <-d.turn }()
	case <-ctx.Done():
		return nil, fmt.Errorf("item %s: %w", d.path(), ctx.Err())
	}
	if err := d.lease.Err(); err != nil {
		return nil, err
	}
	if d.state != open {
		return nil, fmt.Errorf("item %s: %w: an earlier Guard may have been applied", d.path(), locks.ErrNotHeld)
	}
	d.node.DeleteBy(func() bool {
		results, err = d.transact(ctx, ops, false)
		return err == nil
	})
	switch {
	case err == nil:
		d.state = consumed
		_ = d.lease.Release(ctx) // the node is deleted, so that nothing is sent
		return results[1 : 1+len(ops)], nil
	case framework.MaybeApplied(err):
		d.state = doubtful
	case d.lockMissing(err):
		d.node.Lose(zkclient.Loss{Kind: zkclient.LossDeleted, Session: d.node.Session()})
		return nil, d.lease.Err()
	case errors.Is(err, framework.ErrSessionExpired):
		d.node.Check()
		if lost := d.lease.Err(); lost != nil {
			return nil, lost
		}
	}
	return nil, fmt.Errorf("item %s: %w", d.path(), err)
}

// transact commits ops between a check of the lock node and the removal of the item, which may be
// put back. It is sent on the session that owns the lock node, because another consumer may have a
// lock node of the same name when that session is over.
func (d *delivery) transact(ctx context.Context, ops []framework.Op, putBack bool) ([]framework.OpResult, error) {
	tx := d.q.client.TransactionOp()
	all := append(make([]framework.Op, 0, len(ops)+4), tx.Check().ForPath(d.lockPath()))
	all = append(all, ops...)
	if putBack {
		create := tx.Create().WithMode(framework.PersistentSequential).WithData(d.data)
		all = append(all, create.ForPath(d.q.path+"/"+d.q.kind.Prefix(d.name)))
	}
	all = append(all, tx.Delete().ForPath(d.path()), tx.Delete().ForPath(d.lockPath()))
	return d.q.client.Transaction().ForOperations(zkclient.OnSession(ctx, d.node.Session()), all...)
}

// lockMissing reports whether a transaction was refused because the lock node is missing.
func (d *delivery) lockMissing(err error) bool { return refused(err, "check", d.lockPath()) }

// itemMissing reports whether a transaction was refused because the item is missing.
func (d *delivery) itemMissing(err error) bool { return refused(err, "delete", d.path()) }

func refused(err error, op, path string) bool {
	failed, ok := errors.AsType[*framework.OpError](err)
	return ok && failed.Op == op && failed.Path == path && isNoNode(err)
}

// giveBack ends the lease and deletes the lock node, in the background if ctx ends. The item keeps
// its place.
func (d *delivery) giveBack(ctx context.Context) {
	if d.lease != nil {
		_ = d.lease.Release(ctx) // a lease that was lost leaves the node
	}
	d.node.Delete(ctx, ephemeral.Release{})
	d.q.dropAfter(d.q.locks+"/"+d.name, d.node.Deletion())
}
