package locks

import (
	"bytes"
	"context"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/zkconn"
)

// revokeMessage is what Curator writes into the node of whom it asks to let go.
var revokeMessage = []byte("__REVOKE__")

// AttemptRevoke asks the holder or waiter at nodePath, one of ParticipantNodes, to let go.
// It replaces the data of the node, and does not wait for anything to happen: who was made
// without WithRevocable does not listen. Errors: framework.ErrNoNode if it has gone.
//
// Java: Revoker.attemptRevoke.
func AttemptRevoke(ctx context.Context, client *framework.Client, nodePath string) error {
	_, err := client.SetData().Uncompressed().Idempotent().ForPath(ctx, nodePath, revokeMessage)
	return err
}

// RevocableOption is an option of the locks whose holder can be asked to let go.
type RevocableOption interface {
	MutexOption
	ReadWriteLockOption
}

// WithRevocable lets others ask for the lock (AttemptRevoke, or Java's Revoker). When they
// do, fn is called on a goroutine of its own with the context of the outermost lease that is not
// released and that lease, which it may release. With a nil fn the lease's context ends with LossRevoked
// instead; the lock stays held until Release. A waiter that is asked is told when it is
// granted the lock: with a nil fn its lease has ended already. What is asked twice may be
// told once.
//
// Java: makeRevocable.
func WithRevocable(fn func(ctx context.Context, lease *Lease)) RevocableOption {
	return anyOption(func(c *config) error {
		c.revocable, c.onRevoke = true, fn
		return nil
	})
}

// asksToLetGo tells whether the data that was read says that somebody wants the lock.
func asksToLetGo(read *zkconn.Call) bool {
	return bytes.Equal(read.Res.(*jute.GetDataResponse).Data, revokeMessage)
}

// revoke does what somebody has asked for by the data of the hold's node.
func (h *hold) revoke() {
	if !h.in.cfg.revocable {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.err != nil {
		return // it lets go already, or has lost the lock
	}
	h.wanted = true
	h.asked = h.outer == nil // its lease is not made yet, and is told then
	if !h.asked {
		h.tellLocked(h.outer.lease.Value())
	}
}

// tellLocked ends the hold or has the user's function called; h.mu is held. lease is nil when
// it was dropped.
func (h *hold) tellLocked(lease *Lease) {
	switch {
	case h.in.cfg.onRevoke == nil:
		h.loseLocked(LossRevoked, nil)
	case lease == nil:
		h.in.inside.Log(func() {
			h.in.client.Logger().Warn("lock asked for, but its lease was dropped", "path", h.in.path, "token", h.token)
		})
	default:
		h.in.inside.Callback(func() { h.in.cfg.onRevoke(lease.Context(), lease) })
	}
}
