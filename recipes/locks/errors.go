package locks

import (
	"errors"
	"fmt"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/recipes/internal/lockqueue"
)

// Errors of this package; compare with errors.Is.
var (
	// ErrNotAcquired: others hold the lock. From TryAcquire, or from Acquire when its
	// wait ended. Ask again later; nothing is wrong.
	ErrNotAcquired = errors.New("lock not acquired")

	// ErrNotHeld: the lease is not held. ErrReleased and ErrLockLost match it.
	ErrNotHeld = errors.New("lock not held")
	// ErrReleased: the lease has been released.
	ErrReleased = fmt.Errorf("%w: released", ErrNotHeld)
	// ErrLockLost: the lease ended before it was released; see LossError for the reason.
	// Stop, and treat unfenced effects since then as doubtful.
	ErrLockLost = fmt.Errorf("%w: lock lost", ErrNotHeld)

	// ErrReleasePending: Release could not confirm that the node is gone. The lease has
	// ended here; the node goes in the background, at the latest with the session.
	ErrReleasePending = errors.New("lock release not confirmed yet")

	// ErrDeadlock: the acquisition would wait for its own caller: an upgrade from read to
	// write, or a second acquisition of a lock that does not nest.
	ErrDeadlock = errors.New("acquisition would wait for itself")

	// ErrTooManyLeases: AcquireN asked for more leases than the semaphore has.
	ErrTooManyLeases = errors.New("more leases than the maximum")

	// ErrKindMismatch: the path is used by another kind of lock, or by a semaphore of
	// the other layout; they would not exclude each other.
	ErrKindMismatch = errors.New("path is used by another kind of lock")

	// ErrSequenceExhausted: the server has nearly used up the numbers by which the
	// contenders of this path are ordered. Stop its users, delete the path with what is
	// below it, and go on. With containers that are empty now and then it does not come
	// to this; else after some two billion acquisitions.
	ErrSequenceExhausted = lockqueue.ErrSequenceExhausted
)

var (
	errNilArgument   = fmt.Errorf("%w: the lock or the function is nil", framework.ErrInvalidOption)
	errNilContext    = fmt.Errorf("%w: the context is nil", framework.ErrInvalidOption)
	errReleaseClosed = fmt.Errorf("%w: %w", ErrReleasePending, framework.ErrClosed)
)

// LossError says why a lease was lost; it is the cause of the lease's context.
// errors.Is(err, ErrLockLost) holds for every LossError.
type LossError struct {
	Reason LossReason
	Path   string // of the lock
	Token  int64
	Held   time.Duration
	Err    error // such as framework.ErrSessionExpired, or nil
}

// Error returns "lock lost: session expired (/locks/orders, held 3.1s)".
func (e *LossError) Error() string {
	return fmt.Sprintf("lock lost: %s (%s, held %v)", e.Reason.text(), e.Path, e.Held.Round(time.Millisecond))
}

// Is reports whether target is ErrLockLost or ErrNotHeld.
func (e *LossError) Is(target error) bool { return target == ErrLockLost || target == ErrNotHeld }

// Unwrap returns Err.
func (e *LossError) Unwrap() error { return e.Err }

// LossReason is why a lease was lost.
type LossReason int

// The reasons.
const (
	// LossSuspended: the connection broke, under the standard error policy.
	LossSuspended LossReason = iota + 1
	// LossDeadline: no answer for so long that the server may end the session.
	LossDeadline
	// LossSessionExpired: the session is over.
	LossSessionExpired
	// LossNodeDeleted: somebody deleted the lock's node.
	LossNodeDeleted
	// LossClosed: the client was closed.
	LossClosed
	// LossRevoked: somebody asked for the lock; see WithRevocable.
	LossRevoked
	// LossMaxHold: WithMaxHold has passed.
	LossMaxHold
)

var lossReasons = map[LossReason]struct{ label, text string }{
	LossSuspended:      {"suspended", "connection suspended"},
	LossDeadline:       {"lease_deadline", "no answer from the server for too long"},
	LossSessionExpired: {"session_expired", "session expired"},
	LossNodeDeleted:    {"node_deleted", "its node was deleted"},
	LossClosed:         {"closed", "client closed"},
	LossRevoked:        {"revoked", "somebody asked for it"},
	LossMaxHold:        {"max_hold", "held for too long"},
}

// String returns the reason as in metrics, "session_expired".
func (r LossReason) String() string {
	if reason, ok := lossReasons[r]; ok {
		return reason.label
	}
	return fmt.Sprintf("LossReason(%d)", int(r))
}

func (r LossReason) text() string {
	if reason, ok := lossReasons[r]; ok {
		return reason.text
	}
	return r.String()
}

// cautious tells whether the lease ended although the node may have stayed: then it is
// the delete that finds out whether others could have been let in.
func (r LossReason) cautious() bool {
	return r == LossSuspended || r == LossDeadline || r == LossRevoked || r == LossMaxHold
}
