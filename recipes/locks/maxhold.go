package locks

import (
	"context"
	"time"
)

// WithMaxHold ends every lease's context, whose Deadline that is, d after its grant, with
// LossMaxHold, and takes the lock from a holder that does not react: its node is deleted
// one loss margin (framework.WithLossMargin) later unless the lease was released before. It
// is for work that is stuck in a process whose session is in good health; what it still
// writes then, others may see: let the resource check the token.
func WithMaxHold(d time.Duration) Option {
	return durationOption("WithMaxHold", d, func(c *config) { c.maxHold = d })
}

// limited is a context with the deadline of WithMaxHold.
type limited struct {
	context.Context
	deadline time.Time
}

// Deadline returns the lease's deadline or that of the context, whichever is earlier.
func (l limited) Deadline() (time.Time, bool) {
	if d, ok := l.Context.Deadline(); ok && d.Before(l.deadline) {
		return d, true
	}
	return l.deadline, true
}

// withDeadline returns ctx with the deadline of the hold, if that has one.
func (h *hold) withDeadline(ctx context.Context) context.Context {
	if h.lock.cfg.maxHold == 0 {
		return ctx
	}
	return limited{ctx, h.granted.Add(h.lock.cfg.maxHold)}
}

// startMaxHold starts the timer that ends the hold. h.mu is held.
func (h *hold) startMaxHold() {
	if h.lock.cfg.maxHold > 0 {
		h.limit = time.AfterFunc(h.lock.cfg.maxHold, func() { h.lock.api.Go(h.onMaxHold) })
	}
}

// onMaxHold ends the hold, and has its node deleted one loss margin later unless it is released
// before. Close does not wait for that: it ends the session, and the node with it.
func (h *hold) onMaxHold(context.Context) {
	conn, err := h.lock.api.Conn()
	if err != nil {
		return
	}
	margin := conn.Margin()
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.leases) == 0 {
		return
	}
	h.loseLocked(LossMaxHold, nil)
	h.limit = time.AfterFunc(margin, func() { h.lock.api.Go(h.evict) })
}

// evict deletes the node although a lease is not released.
func (h *hold) evict(ctx context.Context) {
	h.mu.Lock()
	if len(h.leases) > 0 {
		h.fate = evicted
	}
	h.mu.Unlock()
	h.remove(ctx)
}
