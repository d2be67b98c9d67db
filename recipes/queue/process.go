package queue

import (
	"context"
	"errors"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/recipes/locks"
	"github.com/go-curator/curator/tracing"
)

// process takes an item and has it consumed. It returns an error that ends Consume.
func (c *consumer) process(ctx context.Context, i *item) error {
	var err error
	if c.q.locks == "" {
		err = c.atMostOnce(ctx, i)
	} else {
		err = c.atLeastOnce(ctx, i)
	}
	if ctx.Err() != nil {
		return nil //nolint:nilerr // the end of ctx ends Consume without an error
	}
	if refused, ok := errors.AsType[*unreadableError](err); ok {
		if c.list.unreadable(i, time.Now()) {
			c.q.warn("an item cannot be read and is skipped; it is tried again", "item", c.q.itemPath(i.name), "error", refused.err)
		}
		return nil
	}
	c.report(err)
	for _, final := range []error{framework.ErrClosed, framework.ErrNoAuth, framework.ErrAuthFailed} {
		if errors.Is(err, final) {
			return err
		}
	}
	return nil
}

// busyTries is how often a consumer immediately tries an item again that another consumer has
// taken. Usually the event of its lock comes first, and there is no such try.
const busyTries = 2

// atMostOnce deletes the item before it is handed over.
func (c *consumer) atMostOnce(ctx context.Context, i *item) error {
	d := &delivery{q: c.q, name: i.name}
	var err error
	d.data, err = c.q.client.GetData().StoringStatIn(&d.stat).ForPath(ctx, d.path())
	if err = unreadable(err); err == nil {
		if ctx.Err() != nil {
			c.list.again(i)
			return nil
		}
		// The end of ctx must not lose the reply, and the item with it.
		life, cancel := afterwards(ctx)
		defer cancel()
		err = deleteAlone(life, c.q.client, d.path(), d.stat.Version)
	}
	switch {
	case err == nil:
	case errors.Is(err, framework.ErrNoNode):
		c.list.gone(i)
		return nil
	case framework.MaybeApplied(err):
		_, span := c.q.api.Telemetry().Process(ctx, c.q.spans)
		span.End(tracing.OutcomeInDoubt, err)
		c.q.warn("the reply to the deletion of an item was lost: if it was applied nobody gets the item", "item", d.path(), "error", err)
		c.list.later(i, time.Now(), 0)
		return nil
	default:
		c.list.later(i, time.Now(), 0)
		return err
	}
	c.list.gone(i)
	ctx, span := c.q.api.Telemetry().Process(ctx, c.q.spans)
	err = c.call(ctx, d)
	c.list.settled(err == nil, time.Now())
	outcome := tracing.OutcomeConsumed
	if err != nil {
		outcome = tracing.OutcomeError
		c.q.warn("a function failed, and its item is gone", "item", d.path(), "error", err)
	}
	span.End(outcome, err)
	return nil
}

// atLeastOnce holds the item by a lock node while it is consumed.
func (c *consumer) atLeastOnce(ctx context.Context, i *item) error {
	claimed, err := c.q.lockItem(ctx, i.name)
	if claimed.mayBeOurs() {
		c.list.claimed(i)
	}
	switch {
	case errors.Is(err, errClaimed):
		c.list.later(i, time.Now(), 0)
		return nil
	case err != nil:
		c.list.later(i, time.Now(), 0)
		return err
	case claimed.outcome == claimLocked:
		c.list.later(i, time.Now(), busyTries)
		return nil
	case claimed.outcome == claimItemGone:
		c.list.gone(i)
		return nil
	}
	d, err := newDelivery(ctx, c.q, i.name, claimed)
	if err != nil { // the session is over, or ctx is
		c.list.later(i, time.Now(), 0)
		return nil
	}
	processCtx, span := c.q.api.Telemetry().Process(ctx, c.q.spans)
	failed := errPanic
	defer func() { // a panic leaves the item to its lease
		if errors.Is(failed, errPanic) {
			span.End(tracing.OutcomeError, failed)
		}
	}()
	failed = c.call(processCtx, d)
	outcome := d.settle(processCtx, failed)
	if failed != nil && outcome == tracing.OutcomePutBack {
		c.q.warn("a function failed, and its item was put back", "item", d.path(), "error", failed)
	}
	span.End(outcome, failed)
	c.list.settled(failed == nil && outcome == tracing.OutcomeAlreadyGone || outcome == tracing.OutcomeConsumed, time.Now())
	switch outcome {
	case tracing.OutcomeConsumed, tracing.OutcomePutBack, tracing.OutcomeAlreadyGone:
		c.list.gone(i)
	default:
		c.list.later(i, time.Now(), 0)
	}
	return nil
}

// call decodes the items of a node and calls the function for each. It returns the first error.
// Items that are not held by a lock node are gone, so that the others are handed over all the
// same.
func (c *consumer) call(ctx context.Context, d *delivery) (err error) {
	items, err := decodeItems(d.data)
	var calls []func(ctx context.Context) error
	if err == nil {
		calls, err = c.prepare(d, items)
	}
	if err != nil {
		c.q.warn("an item cannot be decoded, and is removed", "item", d.path(), "error", err)
		return nil
	}
	if d.lease != nil {
		var cancel context.CancelFunc
		ctx, cancel = whileHeld(ctx, d.lease)
		defer cancel()
	}
	for _, call := range calls {
		failed := call(ctx)
		if err == nil {
			err = failed
		}
		if err != nil && d.lease != nil {
			return err
		}
	}
	return err
}

// whileHeld returns a context that ends with ctx and when the lease is lost. A release, by
// Message.Guard, does not end it.
func whileHeld(ctx context.Context, lease *locks.Lease) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(lease.Context(), func() {
		if lost := context.Cause(lease.Context()); !errors.Is(lost, locks.ErrReleased) {
			cancel(lost)
		}
	})
	return ctx, func() {
		stop()
		cancel(nil)
	}
}
