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

// limited shows when its lease is ended, to who plans by deadlines.
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

// limited returns ctx with the deadline of the hold, if that has one.
func (h *hold) limited(ctx context.Context) context.Context {
	if h.in.cfg.maxHold == 0 {
		return ctx
	}
	return limited{ctx, h.granted.Add(h.in.cfg.maxHold)}
}

// limit has the hold end when it has lasted too long; h.mu is held.
func (h *hold) limit() {
	if h.in.cfg.maxHold > 0 {
		h.limiter = time.AfterFunc(h.in.cfg.maxHold, func() { h.in.inside.Go(h.exceeded) })
	}
}

// exceeded ends the hold, if it has not ended out of caution, and has its node go a little later
// unless it is released. Nobody waits for that: Close ends the session, and the node with it.
func (h *hold) exceeded(context.Context) {
	conn, err := h.in.inside.Conn()
	if err != nil {
		return
	}
	margin := conn.Margin()
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.removed {
		return
	}
	h.loseLocked(LossMaxHold, nil)
	h.limiter = time.AfterFunc(margin, func() {
		h.in.inside.Go(func(ctx context.Context) { h.delete(ctx, true, nil) })
	})
}
