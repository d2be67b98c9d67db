package locks

import (
	"context"
	"fmt"
	"time"
)

// nest returns a lease below l. Leases directly below one lease exclude each other: so
// goroutines that were all handed l's context are as safe from each other as from other
// processes. The wait is bounded by waitCtx; ctx is what Acquire was given.
//
// Shared leases are no danger to each other: they are as siblings of l.
func (l *Lease) nest(ctx, waitCtx context.Context, c *contender) (*Lease, error) {
	if l.hold.in.shared {
		if lease := l.hold.newLease(ctx, c.span, nil); lease != nil {
			lease.nested = true
			return lease, nil
		}
		return nil, errParentOver
	}
	if err := l.takeSlot(ctx, waitCtx, c); err != nil {
		return nil, err
	}
	if lease := l.hold.newLease(ctx, c.span, l.place); lease != nil {
		site := c.site
		l.hold.mu.Lock()
		lease.place.site = &site
		l.hold.mu.Unlock()
		return lease, nil
	}
	<-l.place.slot
	return nil, errParentOver
}

// takeSlot takes the place directly below l, for which it waits if it may.
func (l *Lease) takeSlot(ctx, waitCtx context.Context, c *contender) error {
	select {
	case l.place.slot <- struct{}{}:
		return nil
	default:
	}
	if !c.wait {
		return fmt.Errorf("%w: a lease is nested already", ErrNotAcquired)
	}
	warning := time.NewTimer(selfWait)
	defer warning.Stop()
	for {
		select {
		case l.place.slot <- struct{}{}:
			return nil
		case <-warning.C:
			c.warnNested(l)
		case <-l.ctx.Done():
			return errParentOver
		case <-waitCtx.Done():
			if ctx.Err() == nil {
				return fmt.Errorf("%w within %v", ErrNotAcquired, l.hold.in.cfg.maxWait)
			}
			return fmt.Errorf("%w: %w", ErrNotAcquired, ended(ctx))
		}
	}
}
