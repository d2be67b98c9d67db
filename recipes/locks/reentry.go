package locks

import (
	"errors"
	"fmt"

	"github.com/go-curator/curator/internal/zkclient"
	"github.com/go-curator/curator/recipes/internal/lockqueue"
)

// errNested says that another lease is nested directly below the same one.
var errNested = errors.New("a lease is nested already")

// errParentOver is returned when the lease to nest in has ended.
var errParentOver = errors.New("the outer lease has ended")

// reenter nests in the lease that the context carries. Without one it returns an error if the queue
// must not be joined.
func (l *queueLock) reenter(a *acquisition) (lease *Lease, nested bool, err error) {
	for parent := l.carried(a.ctx); parent != nil && !l.flat; parent = l.carried(a.ctx) {
		lease, err := parent.nest(a)
		if !errors.Is(err, errParentOver) {
			return lease, true, err
		}
		if a.ctx.Err() != nil { // usually it is the context of the outer lease
			return nil, false, zkclient.ContextError(a.ctx)
		}
	}
	if l.readers != nil && l.readers.carried(a.ctx) != nil {
		return nil, false, fmt.Errorf("%w: from a read lease to a write lease", ErrDeadlock)
	}
	if l.writers != nil {
		if write := l.writers.carried(a.ctx); write != nil {
			a.writer = write.hold
		}
	}
	return nil, false, nil
}

// nest returns a lease below l. Leases directly below one lease exclude each other, so that
// goroutines that all have l's context exclude each other as other processes do.
//
// Shared leases need not exclude each other: they become siblings of l.
func (l *Lease) nest(a *acquisition) (*Lease, error) {
	if l.hold.lock.shared {
		if lease := newLease(a.ctx, l.hold, a.span, nil); lease != nil {
			lease.nested = true
			return lease, nil
		}
		return nil, errParentOver
	}
	if err := l.takeSlot(a); err != nil {
		return nil, err
	}
	if lease := newLease(a.ctx, l.hold, a.span, l.node); lease != nil {
		l.hold.mu.Lock()
		lease.node.site = &a.site
		l.hold.mu.Unlock()
		return lease, nil
	}
	<-l.node.slot
	return nil, errParentOver
}

// takeSlot takes the place directly below l. It waits for the place if it may.
func (l *Lease) takeSlot(a *acquisition) error {
	select {
	case l.node.slot <- struct{}{}:
		return nil
	default:
	}
	if !a.wait {
		return &NotAcquiredError{Holder: l.hold.lock.api.ClientPath(l.hold.node.Path()), Err: errNested}
	}
	defer a.lock.logSlowWait(a.site, l.blocking).Stop()
	select {
	case l.node.slot <- struct{}{}:
		return nil
	case <-l.ctx.Done():
		return errParentOver
	case <-a.waitCtx.Done():
		a.sawBusy(a.lock, lockqueue.Step{Holder: lockqueue.Name(l.hold.node.Path())})
		return a.explain(zkclient.ContextError(a.waitCtx))
	}
}

// blocking returns the hold, and the call site of the lease that is nested below l.
func (l *Lease) blocking() (*hold, callSite) {
	l.hold.mu.Lock()
	defer l.hold.mu.Unlock()
	if nested := l.node.nested; nested != nil && nested.site != nil {
		return l.hold, *nested.site
	}
	return l.hold, l.hold.site
}
