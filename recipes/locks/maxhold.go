package locks

import (
	"context"
	"time"
)

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
