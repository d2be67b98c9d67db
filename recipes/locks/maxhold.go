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

// limit ends the hold when it has lasted too long, and its node a little later. A hold that
// has ended before, out of caution, may have its node still.
func (h *hold) limit(ctx context.Context) {
	timer := time.NewTimer(h.in.cfg.maxHold)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-h.left:
		return
	case <-ctx.Done():
		return
	}
	h.lose(LossMaxHold, nil)
	conn, err := h.in.inside.Conn()
	if err != nil {
		return
	}
	timer.Reset(conn.Margin())
	select {
	case <-timer.C:
		h.delete(ctx, true, nil) // nobody has released it
	case <-h.left:
	case <-ctx.Done():
	}
}
