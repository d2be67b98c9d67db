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

// RevocableOption is an option of the locks whose holder can be asked to release them.
type RevocableOption interface {
	MutexOption
	ReadWriteLockOption
}

// WithRevocable lets others ask for the lock by AttemptRevoke or Java's Revoker. A request
// calls fn on its own goroutine. Its arguments are the outermost unreleased lease, which it may
// release, and that lease's context. With a nil fn the lease's context ends with LossRevoked
// instead, and the lock stays held until Release.
//
// If a waiter was asked, fn is called when it is granted the lock; with a nil fn its lease has
// ended already then. Two requests may lead to one call. If the client may not read the lock's
// node, fn is not called: see docs/guarantees.md.
//
// Java: makeRevocable.
func WithRevocable(fn func(ctx context.Context, lease *Lease)) RevocableOption {
	return anyOption(func(c *config) error {
		c.revocable, c.onRevoke = true, fn
		return nil
	})
}
