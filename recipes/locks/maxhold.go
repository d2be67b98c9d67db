package locks

import (
	"context"
	"time"
)

// WithMaxHold ends every lease's context d after its grant, with LossMaxHold, and takes the
// lock from a holder that does not react: its node is deleted one loss margin
// (framework.WithLossMargin) later unless the lease was released before. It is for work
// that is stuck in a process whose session is in good health; what it still writes then,
// others may see: let the resource check the token.
func WithMaxHold(d time.Duration) Option {
	return durationOption("WithMaxHold", d, func(c *config) { c.maxHold = d })
}

// limit ends the hold when it has lasted too long, and its node a little later.
func (h *hold) limit(ctx context.Context) {
	timer := time.NewTimer(h.in.cfg.maxHold - time.Since(h.granted))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-h.ended:
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
		h.delete(ctx, true) // nobody has released it
	case <-h.left:
	case <-ctx.Done():
	}
}
