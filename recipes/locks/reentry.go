package locks

import (
	"errors"
	"fmt"

	"github.com/go-curator/curator/recipes/internal/lockqueue"
)

// errParentOver: the lease that was to be nested in has ended.
var errParentOver = errors.New("the outer lease has ended")

// reenter nests in the lease that ctx carries, if it does. Else it makes sure that the queue may
// be joined.
func (l *queueLock) reenter(a *acquisition) (lease *Lease, nested bool, err error) {
	for parent := l.carried(a.ctx); parent != nil && !l.flat; parent = l.carried(a.ctx) {
		lease, err := parent.nest(a)
		if !errors.Is(err, errParentOver) {
			return lease, true, err
		}
		if a.ctx.Err() != nil { // as a rule it was the outer lease's own
			return nil, false, lockqueue.ContextError(a.ctx)
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

// nest returns a lease below l. Leases directly below one lease exclude each other: so
// goroutines that were all handed l's context are as safe from each other as from other
// processes.
//
// Shared leases are no danger to each other: they are as siblings of l.
func (l *Lease) nest(a *acquisition) (*Lease, error) {
	if l.hold.lock.shared {
		if lease := newLease(l.hold, a.ctx, a.span, nil); lease != nil {
			lease.nested = true
			return lease, nil
		}
		return nil, errParentOver
	}
	if err := l.takeSlot(a); err != nil {
		return nil, err
	}
	if lease := newLease(l.hold, a.ctx, a.span, l.node); lease != nil {
		l.hold.mu.Lock()
		lease.node.site = &a.site
		l.hold.mu.Unlock()
		return lease, nil
	}
	<-l.node.slot
	return nil, errParentOver
}

// takeSlot takes the place directly below l, for which it waits if it may.
func (l *Lease) takeSlot(a *acquisition) error {
	select {
	case l.node.slot <- struct{}{}:
		return nil
	default:
	}
	if !a.wait {
		return fmt.Errorf("%w: a lease is nested already", ErrNotAcquired)
	}
	defer a.lock.logSlowWait(a.site, l.blocking).Stop()
	select {
	case l.node.slot <- struct{}{}:
		return nil
	case <-l.ctx.Done():
		return errParentOver
	case <-a.waitCtx.Done():
		a.sawBusy(nil)
		return a.explain(lockqueue.ContextError(a.waitCtx))
	}
}

// blocking returns the hold, and where the lease that is nested below l was acquired.
func (l *Lease) blocking() (*hold, callSite) {
	l.hold.mu.Lock()
	defer l.hold.mu.Unlock()
	if nested := l.node.nested; nested != nil && nested.site != nil {
		return l.hold, *nested.site
	}
	return l.hold, l.hold.site
}
