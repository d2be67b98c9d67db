package locks

import (
	"context"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/layout"
)

// AttemptRevoke asks the holder or waiter at nodePath, one of ParticipantNodes, to release the
// lock. It replaces the data of the node, and does not wait for the release. A lock that was
// made without WithRevocable ignores the request. ctx bounds the request. AttemptRevoke returns
// framework.ErrNoNode if the node is gone.
//
// Java: Revoker.attemptRevoke.
func AttemptRevoke(ctx context.Context, client *framework.Client, nodePath string) error {
	_, err := client.SetData().Uncompressed().Idempotent().ForPath(ctx, nodePath, []byte(layout.RevokeRequest))
	return err
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
