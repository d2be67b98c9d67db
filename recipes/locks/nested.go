package locks

import (
	"context"
	"fmt"
	"time"
	"weak"
)

// place is a lease's place in the tree of nested leases, without the Lease itself. All
// but slot is guarded by the hold's mu.
type place struct {
	lease    weak.Pointer[Lease]
	slot     chan struct{} // holds a token while a lease is nested below this one
	nested   *place        // that lease's, while it is not released
	above    []*place      // whose slots are given back with this lease
	site     *site         // of a nested lease
	released bool
	cancels  map[*context.CancelCauseFunc]struct{} // of its context and of those bound to it
}

// end ends the contexts of a lease: now, and not a goroutine later.
func (p *place) end(err error) {
	for cancel := range p.cancels {
		(*cancel)(err)
	}
	clear(p.cancels)
}

// leave gives back the slots that the lease has taken. If one is nested below it they
// go with that one: else a sibling could come in beside it.
func (p *place) leave() {
	p.released = true
	if p.nested != nil {
		for _, up := range p.above {
			up.nested = p.nested
		}
		p.nested.above = append(p.nested.above, p.above...)
	} else {
		for _, up := range p.above {
			up.nested = nil
			<-up.slot
		}
	}
	p.above = nil
}

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
			c.busy = true
			return c.explain(ctx, waitCtx, ended(waitCtx))
		}
	}
}
