package queue

import (
	"context"
	"errors"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/wait"
	"github.com/go-curator/curator/internal/zkclient"
	"github.com/go-curator/curator/internal/zkconn"
	"github.com/go-curator/curator/recipes/locks"
	"github.com/go-curator/curator/tracing"
)

// settle decides what becomes of an item that is held by a lock node, when its functions have
// ended with err. ctx is that of Consume. settle returns the outcome as package tracing has it.
//
//	functions       ctx, lease    what is done
//	nil             any           the item and the lock node are deleted
//	an error        live          the item is put back to the end of its line
//	an error        one ended     the lock node is deleted: the item keeps its place
//	any             node deleted  nothing: another consumer may have the item
//
// The first two are transactions that the server refuses when the lock node is not ours any more.
func (d *delivery) settle(ctx context.Context, err error) (outcome string) {
	d.turn <- struct{}{} // waits for a Guard that is on its way
	defer func() { <-d.turn }()
	state, ended := d.state, ctx.Err() != nil
	d.state = settled
	ctx, cancel := afterwards(ctx)
	defer cancel()
	if state == doubtful {
		switch gone, known := d.itemGone(ctx); {
		case gone && d.lockLeft(ctx):
			d.warnDeleted()
			d.giveBack(ctx)
			return tracing.OutcomeAlreadyGone
		case gone:
			d.node.DeleteBy(func() bool { return true })
			state = consumed
		case !known:
			d.giveBack(ctx)
			return tracing.OutcomeUnknown
		}
	}
	switch {
	case state == consumed:
		d.leave(ctx)
		return tracing.OutcomeConsumed
	case d.lockDeleted():
		d.node.DeleteBy(func() bool { return true })
		d.leave(ctx)
		return tracing.OutcomeLost
	case err == nil:
		return d.commit(ctx, false)
	case d.lease.Err() != nil:
		d.giveBack(ctx)
		return tracing.OutcomeLost
	case ended:
		d.giveBack(ctx)
		return tracing.OutcomeGivenBack
	}
	return d.commit(ctx, true)
}

// settleWait bounds the clean-up of a Consume whose context has ended.
const settleWait = time.Second

// afterwards returns a context that ends a second after ctx.
func afterwards(ctx context.Context) (context.Context, context.CancelFunc) {
	life, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(settleWait, cancel) })
	return life, func() {
		stop()
		cancel()
	}
}

// commit removes the item, or puts it back to the end of its line, with the lock node. If that
// fails, the item keeps its place.
func (d *delivery) commit(ctx context.Context, putBack bool) (outcome string) {
	unlocked := false
	d.node.DeleteBy(func() bool {
		outcome, unlocked = d.transactUntilKnown(ctx, putBack)
		return unlocked
	})
	if unlocked {
		d.leave(ctx)
	} else {
		d.giveBack(ctx)
	}
	return outcome
}

// lockDeleted reports whether the consumer knows that somebody has deleted its lock node. Nothing
// is sent then that is about a node of this name: another consumer may have made one.
func (d *delivery) lockDeleted() bool {
	loss, lost := errors.AsType[*locks.LossError](d.lease.Err())
	return lost && loss.Reason == locks.LossNodeDeleted
}

// leave ends the lease of a lock node that is gone, so that nothing is sent.
func (d *delivery) leave(ctx context.Context) {
	_ = d.lease.Release(ctx) // a lease that was lost says so
	d.q.dropAfter(d.q.locks+"/"+d.name, nil)
}

// transactUntilKnown repeats the transaction until its outcome is known, and reports whether the
// lock node of this consumer is gone. To repeat it is safe after a lost reply: a transaction that was
// applied is refused the second time, because the item is gone.
func (d *delivery) transactUntilKnown(ctx context.Context, putBack bool) (outcome string, unlocked bool) {
	doubt, pace := false, retryPace()
	for { // no wait for a connection: without one a transaction of a session that is over fails at once
		_, err := d.transact(ctx, nil, putBack)
		switch {
		case err == nil:
			return committed(putBack), true
		case d.lockMissing(err), d.itemMissing(err):
			return d.afterRefusal(ctx, err, doubt, putBack)
		case errors.Is(err, framework.ErrSessionExpired):
			return tracing.OutcomeLost, false // another consumer gets the item, if it is there
		case !framework.MaybeApplied(err) && !framework.Retryable(err):
			d.q.warn("an item could not be settled, and keeps its place", "item", d.path(), "error", err)
			return tracing.OutcomeGivenBack, false
		}
		doubt = doubt || framework.MaybeApplied(err)
		if wait.For(ctx, pace.Next()) != nil {
			return tracing.OutcomeUnknown, false
		}
	}
}

func committed(putBack bool) string {
	if putBack {
		return tracing.OutcomePutBack
	}
	return tracing.OutcomeConsumed
}

// afterRefusal finds out why the server refused a transaction: an earlier one whose reply was lost
// was applied, or somebody else has deleted the item or the lock node.
func (d *delivery) afterRefusal(ctx context.Context, err error, doubt, putBack bool) (outcome string, unlocked bool) {
	unlocked = d.lockMissing(err)
	gone, known := d.itemGone(ctx)
	switch {
	case !known:
		return tracing.OutcomeUnknown, unlocked
	case gone && doubt:
		return committed(putBack), unlocked
	case gone:
		d.warnDeleted()
		return tracing.OutcomeAlreadyGone, unlocked
	}
	d.q.warn("the lock of an item was lost while it was consumed, which is left to another consumer", "item", d.path(), "error", err)
	return tracing.OutcomeLost, unlocked
}

// warnDeleted logs that somebody else has deleted the item.
func (d *delivery) warnDeleted() {
	d.q.warn("an item was deleted while it was consumed", "item", d.path())
}

// itemGone reports whether the item is gone, if that can be found out.
func (d *delivery) itemGone(ctx context.Context) (gone, known bool) {
	there, _, known := d.exists(ctx, d.q.full)
	return known && !there, known
}

// lockLeft reports whether the lock node of this consumer is still there, although the item is
// gone: then somebody else has deleted the item, and no transaction of this consumer.
func (d *delivery) lockLeft(ctx context.Context) bool {
	there, owner, _ := d.exists(ctx, d.q.locks)
	return there && owner == d.node.Session()
}

// exists reports whether the node with the item's name below dir exists, and which session owns it, if
// that can be found out. The owner of a node that we may not read is 0: we are permitted to read our own. A server
// without a quorum is not asked: it may not know of the transaction yet.
func (d *delivery) exists(ctx context.Context, dir string) (there bool, owner int64, known bool) {
	full := dir + "/" + d.name
	try := func(ctx context.Context, conn *zkconn.Conn) error {
		call := zkconn.Exists(full, nil)
		if err := conn.DoAtQuorum(ctx, call); err != nil {
			return zkclient.NotApplied(err)
		}
		if stat := call.Stat(); stat != nil {
			there, owner = true, stat.EphemeralOwner
		}
		switch {
		case isNoNode(call.Err):
			return nil
		case errors.Is(call.Err, framework.ErrNoAuth): // who may not read a node is told so only if it exists
			there = true
			return nil
		}
		return call.Err
	}
	conn, err := d.q.api.Conn()
	if err == nil {
		err = zkclient.RetryForever(ctx, conn, retryPace(), framework.Retryable, func(ctx context.Context) error {
			return d.q.api.Retry(ctx, "exists", d.q.api.ClientPath(full), try)
		})
	}
	return there, owner, err == nil
}
