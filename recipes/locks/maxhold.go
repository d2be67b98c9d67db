package locks

import (
	"context"
	"time"
)

// WithMaxHold ends every lease's context d after its grant, with LossMaxHold. That time is the
// context's Deadline. If the lease is not released within one loss margin
// (framework.WithLossMargin) after that, its node is deleted, and the next contender is let in.
//
// The option is for work that is stuck while the session of its process lives. It does not stop
// that work, so let the resource check the token. Java Curator has no such option.
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

// withDeadline returns ctx with the deadline of WithMaxHold, if there is one.
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

// onMaxHold ends the hold. One loss margin later its node is deleted, unless it is released before.
// Close does not wait for that, because it ends the session, and the node with it.
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
