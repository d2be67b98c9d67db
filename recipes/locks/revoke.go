package locks

import (
	"context"

	"github.com/go-curator/curator/framework"
)

// AttemptRevoke asks the holder or waiter at nodePath, one of ParticipantNodes, to let go.
// It replaces the data of the node, and does not wait for an effect: a lock that was made
// without WithRevocable ignores it. Errors: framework.ErrNoNode if it has gone.
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
