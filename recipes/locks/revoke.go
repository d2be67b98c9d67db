package locks

import (
	"context"

	"github.com/go-curator/curator/framework"
)

// AttemptRevoke asks the holder or waiter at nodePath, one of ParticipantNodes, to give the lock
// up. It replaces the data of the node, and does not wait for an effect. A lock that was made
// without WithRevocable ignores it. ctx bounds the request. AttemptRevoke returns
// framework.ErrNoNode if the node is gone.
//
// Java: Revoker.attemptRevoke.
func AttemptRevoke(ctx context.Context, client *framework.Client, nodePath string) error {
	_, err := client.SetData().Uncompressed().Idempotent().ForPath(ctx, nodePath, revokeMessage)
	return err
}

// RevocableOption is an option of the locks whose holder can be asked to give them up.
type RevocableOption interface {
	MutexOption
	ReadWriteLockOption
}

// WithRevocable lets others ask for the lock by AttemptRevoke or Java's Revoker. fn is then called
// on a goroutine of its own. Its arguments are the outermost lease that is not released, which
// it may release, and that lease's context. With a nil fn the lease's context ends with
// LossRevoked instead, and the lock stays held until Release.
//
// A waiter is told when it is granted the lock; with a nil fn its lease has ended already then.
// Two requests may lead to one call. If the server refuses the watch on the lock's node for good,
// fn is not called: see docs/guarantees.md.
//
// Java: makeRevocable.
func WithRevocable(fn func(ctx context.Context, lease *Lease)) RevocableOption {
	return anyOption(func(c *config) error {
		c.revocable, c.onRevoke = true, fn
		return nil
	})
}
