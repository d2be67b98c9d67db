package queue

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/recipes/locks"
	"github.com/go-curator/curator/tracing"
)

// worker does the work on single items: it takes an item, has it consumed, and notes in the list what becomes
// of it.
type worker struct {
	q       *core
	list    *listing
	prepare prepare
}

// prepare decodes the items of a node and returns the calls of the user's function for them.
type prepare func(d *delivery, items [][]byte) ([]func(ctx context.Context) error, error)

// work takes an item and has it consumed.
func (w *worker) work(ctx context.Context, i *item) error {
	if w.q.locks == "" {
		return w.atMostOnce(ctx, i)
	}
	return w.atLeastOnce(ctx, i)
}

// busyTries is how often a consumer immediately tries an item again that another consumer has
// taken. Usually the event of its lock comes first, and there is no such try.
const busyTries = 2

// atMostOnce deletes the item before it is handed over.
func (w *worker) atMostOnce(ctx context.Context, i *item) error {
	d := &delivery{q: w.q, name: i.name}
	var err error
	d.data, err = w.q.client.GetData().StoringStatIn(&d.stat).ForPath(ctx, d.path())
	if err = unreadable(err); err == nil {
		if ctx.Err() != nil {
			w.list.again(i)
			return nil
		}
		// The end of ctx must not lose the reply, and the item with it.
		life, cancel := afterwards(ctx)
		defer cancel()
		err = deleteAlone(life, w.q.client, d.path(), d.stat.Version)
	}
	switch {
	case err == nil:
	case isNoNode(err):
		w.list.gone(i)
		return nil
	case framework.MaybeApplied(err):
		_, span := w.q.processing(ctx)
		span.End(tracing.OutcomeInDoubt, err)
		w.q.warn("the reply to the deletion of an item was lost: if it was applied nobody gets the item", "item", d.path(), "error", err)
		w.list.later(i, time.Now(), 0)
		return nil
	default:
		w.list.later(i, time.Now(), 0)
		return err
	}
	w.list.gone(i)
	ctx, span := w.q.processing(ctx)
	err = w.call(ctx, d)
	w.list.settled(err == nil, time.Now())
	outcome := tracing.OutcomeConsumed
	if err != nil {
		outcome = tracing.OutcomeError
		w.q.warn("a function failed, and its item is gone", "item", d.path(), "error", err)
	}
	span.End(outcome, err)
	return nil
}

// atLeastOnce holds the item by a lock node while it is consumed.
func (w *worker) atLeastOnce(ctx context.Context, i *item) error {
	claimed, err := w.q.lockItem(ctx, i.name)
	if claimed.mayBeOurs() {
		w.list.claimed(i)
	}
	switch {
	case errors.Is(err, errClaimed):
		w.list.later(i, time.Now(), 0)
		return nil
	case err != nil:
		w.list.later(i, time.Now(), 0)
		return err
	case claimed.outcome == claimLocked:
		w.list.later(i, time.Now(), busyTries)
		return nil
	case claimed.outcome == claimItemGone:
		w.list.gone(i)
		return nil
	}
	d, err := newDelivery(ctx, w.q, i.name, claimed)
	if err != nil { // the session is over, or ctx is
		w.list.later(i, time.Now(), 0)
		return nil
	}
	processCtx, span := w.q.processing(ctx)
	failed := errPanic
	defer func() { // a panic leaves the item to its lease
		if errors.Is(failed, errPanic) {
			span.End(tracing.OutcomeError, failed)
		}
	}()
	failed = w.call(processCtx, d)
	outcome := d.settle(processCtx, failed)
	if failed != nil && outcome == tracing.OutcomePutBack {
		w.q.warn("a function failed, and its item was put back", "item", d.path(), "error", failed)
	}
	span.End(outcome, failed)
	w.list.settled(failed == nil && outcome == tracing.OutcomeAlreadyGone || outcome == tracing.OutcomeConsumed, time.Now())
	switch outcome {
	case tracing.OutcomeConsumed, tracing.OutcomePutBack, tracing.OutcomeAlreadyGone:
		w.list.gone(i)
	default:
		w.list.later(i, time.Now(), 0)
	}
	return nil
}

// call decodes the items of a node and calls the function for each. It returns the first error.
// Items that are not held by a lock node are gone, so that the others are handed over all the
// same.
func (w *worker) call(ctx context.Context, d *delivery) (err error) {
	items, err := decodeItems(d.data)
	var calls []func(ctx context.Context) error
	if err == nil {
		calls, err = w.prepare(d, items)
	}
	if err != nil {
		w.q.warn("an item cannot be decoded, and is removed", "item", d.path(), "error", err)
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

// gone ends the work on an item that is not there any more.
func (l *listing) gone(i *item) {
	defer l.wake.Set()
	l.mu.Lock()
	defer l.mu.Unlock()
	i.busy = false
	if at, known := l.find(i.name); known && l.items[at] == i {
		l.items = slices.Delete(l.items, at, at+1)
	}
}

// later ends the work on an item that could not be taken. There is no pause after the first free
// failures. After that it grows with their number.
func (l *listing) later(i *item, now time.Time, free int) {
	defer l.wake.Set()
	l.mu.Lock()
	defer l.mu.Unlock()
	i.busy = false
	i.failures++
	if n := i.failures - free; n > 0 {
		i.not = now.Add(min(longestPause, 5*time.Millisecond<<min(n, 10)))
	}
}

// readAgain is the time until an item is tried again that could not be read.
const readAgain = 30 * time.Second

// unreadable ends the work on an item that could not be read, and reports whether that is new.
func (l *listing) unreadable(i *item, now time.Time) (first bool) {
	defer l.wake.Set()
	l.mu.Lock()
	defer l.mu.Unlock()
	first = !i.refused
	i.busy, i.refused, i.not = false, true, now.Add(readAgain)
	return first
}

// claimed takes note that this consumer has made the item's lock node, or may have. The end of an earlier
// lock node was told before.
func (l *listing) claimed(i *item) {
	l.mu.Lock()
	defer l.mu.Unlock()
	i.claimed = true
}

// firstRest is the pause of the consumer after the first failure of a function or settlement in a row. It is
// doubled with each, up to longestPause.
const firstRest = 10 * time.Millisecond

// settled takes note of how the work on an item that was handed over has ended.
func (l *listing) settled(ok bool, now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if ok {
		l.failed, l.rest = 0, time.Time{}
		return
	}
	l.rest = now.Add(min(longestPause, firstRest<<min(l.failed, 10)))
	l.failed++
}

// again ends the work on an item that is still there.
func (l *listing) again(i *item) {
	defer l.wake.Set()
	l.mu.Lock()
	defer l.mu.Unlock()
	i.busy, i.failures, i.not = false, 0, time.Time{}
}
