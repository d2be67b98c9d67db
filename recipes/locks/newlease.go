package locks

import (
	"context"
	"runtime"
	"sync/atomic"
	"time"
	"weak"

	"github.com/go-curator/curator/internal/telemetry"
)

// newLease adds a lease to the hold. It is nested in up if that is not nil; the caller has taken
// up's slot. newLease returns nil if the hold has ended or the lease of up was released.
func newLease(ctx context.Context, h *hold, span *telemetry.Acquisition, up *leaseNode) *Lease {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.err != nil || up != nil && up.released {
		return nil
	}
	values := context.WithoutCancel(ctx)
	if h.spanCtx == nil {
		h.span, h.spanCtx, h.granted = span, values, time.Now()
		h.startMaxHold()
	}
	inner, cancel := context.WithCancelCause(values)
	n := newLeaseNode(up, cancel)
	h.leases[n] = struct{}{}
	lease := &Lease{hold: h, node: n, nested: up != nil, span: span, released: new(atomic.Bool)}
	lease.ctx = context.WithValue(h.withDeadline(inner), h.key(), lease)
	lease.cleanup = runtime.AddCleanup(lease, h.dropped, lease.released)
	weakly := weak.Make(lease)
	n.revoke = func() { h.tellRevoked(weakly.Value()) }
	if h.outer == nil {
		h.outer = n
		if h.requested {
			n.revoke()
		}
	}
	return lease
}

// tellRevoked ends the hold, or has the user's function called. h.mu is held. lease is nil if it
// was dropped.
func (h *hold) tellRevoked(lease *Lease) {
	switch {
	case h.lock.cfg.onRevoke == nil:
		h.loseLocked(LossRevoked, nil)
	case lease == nil:
		h.lock.api.Log(func() {
			h.lock.client.Logger().Warn("lock asked for, but its lease was dropped", "path", h.lock.path, "token", h.token)
		})
	default:
		h.lock.api.Callback(func() { h.lock.cfg.onRevoke(lease.Context(), lease) })
	}
}
