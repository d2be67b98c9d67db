package locks

import (
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/recipes/internal/lockqueue"
)

// Errors of this package; compare with errors.Is.
var (
	// ErrNotAcquired is returned when others hold the lock: by TryAcquire, and by Acquire
	// when its wait ended. Nothing is wrong; try again later. NotAcquiredError names the holder, and says
	// how many are ahead.
	ErrNotAcquired = errors.New("lock not acquired")

	// ErrNotHeld is returned when the lease is not held. ErrReleased and ErrLockLost match it.
	ErrNotHeld = errors.New("lock not held")
	// ErrReleased is returned when the lease has been released.
	ErrReleased = fmt.Errorf("%w: released", ErrNotHeld)
	// ErrLockLost is returned when the lease ended before it was released; LossError has the
	// reason. Stop, and treat unfenced effects since then as doubtful.
	ErrLockLost = fmt.Errorf("%w: lock lost", ErrNotHeld)

	// ErrReleasePending is returned when Release could not confirm that the node is deleted.
	// The lease has ended here. The node is deleted in the background, at the latest with
	// the session.
	ErrReleasePending = errors.New("lock release not confirmed yet")

	// ErrDeadlock is returned when the acquisition would wait for its own caller: for an
	// upgrade from read to write, and for a second acquisition of a lock that does not nest.
	ErrDeadlock = errors.New("acquisition would wait for itself")

	// ErrTooManyLeases is returned when AcquireN asks for more leases than the semaphore has.
	ErrTooManyLeases = errors.New("more leases than the maximum")

	// ErrKindMismatch is returned when the path is used by another kind of lock, or by a
	// semaphore of the other layout. They would not exclude each other.
	ErrKindMismatch = errors.New("path is used by another kind of lock")

	// ErrSequenceExhausted is returned when the server has nearly used up the numbers by which
	// the contenders of this path are ordered. Stop the users of the lock, delete the path and
	// everything below it, and start them again. It does not happen if the path is a container
	// that is sometimes empty. Otherwise it happens after one to two billion acquisitions.
	ErrSequenceExhausted = lockqueue.ErrSequenceExhausted
)

var (
	errNilArgument = fmt.Errorf("%w: the lock or the function is nil", framework.ErrInvalidOption)
)

// NotAcquiredError is the error of an acquisition that saw the lock held by others.
// errors.Is(err, ErrNotAcquired) holds for every NotAcquiredError.
//
// Java has no counterpart: acquire returns false.
type NotAcquiredError struct {
	// Holder is the path of the holder's node: the first node in the last list of the queue.
	// Use it for AttemptRevoke, or to find the contender in an Inspection. A wait lists the
	// queue seldom, so the node may be deleted by now. With WithLockDelay it may be the node of
	// the holder that was lost. With an InterProcessSemaphoreV2 it may be the node of a
	// contender that is acquiring a lease. It is "" if the list had no holder, for example when
	// another goroutine of this client is acquiring the lock, see WithLocalHandover.
	Holder string
	// Ahead is how many nodes of others were ahead in the last list of the queue: those of holders and
	// of waiters, for a reader of readers, too. The list may be old, as with Holder. With an
	// InterProcessSemaphoreV2 it counts the contenders ahead, or if there is none the nodes of leases.
	// It is 0 if the queue was not listed, as for goroutines that wait for each other without the
	// server (WithLocalHandover, nested leases), or if nobody was ahead (WithLockDelay).
	Ahead int
	Err   error // why the wait has ended, such as ctx's error; nil for TryAcquire
}

// Error returns "lock not acquired: 2 ahead, seen held by /locks/orders/_c_5b2e...-lock-0000000003".
func (e *NotAcquiredError) Error() string {
	text, sep := ErrNotAcquired.Error(), ": "
	if e.Ahead > 0 {
		text, sep = fmt.Sprintf("%s: %d ahead", text, e.Ahead), ", "
	}
	if e.Holder != "" {
		text += sep + "seen held by " + e.Holder
	}
	if e.Err != nil {
		text += ": " + e.Err.Error()
	}
	return text
}

// Is reports whether target is ErrNotAcquired.
func (e *NotAcquiredError) Is(target error) bool { return target == ErrNotAcquired }

// Unwrap returns Err.
func (e *NotAcquiredError) Unwrap() error { return e.Err }

// LossError says why a lease was lost. It is the cause of the lease's context.
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
	// LossSuspended means that the connection was lost, under the standard error policy.
	LossSuspended LossReason = iota + 1
	// LossDeadline means that there was no proof of the session for so long that the server may
	// soon end it.
	LossDeadline
	// LossSessionExpired means that the session is over.
	LossSessionExpired
	// LossNodeDeleted means that somebody deleted the lock's node.
	LossNodeDeleted
	// LossClosed means that the client was closed.
	LossClosed
	// LossRevoked means that somebody asked for the lock; see WithRevocable.
	LossRevoked
	// LossMaxHold means that WithMaxHold has passed.
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

// LogValue returns the text of String, because a slog.JSONHandler would write the number.
func (r LossReason) LogValue() slog.Value { return slog.StringValue(r.String()) }

func (r LossReason) text() string {
	if reason, ok := lossReasons[r]; ok {
		return reason.text
	}
	return r.String()
}

// cautious reports whether the node may still exist although the lease has ended. Then the
// delete finds out whether others could have been let in.
func (r LossReason) cautious() bool {
	return r == LossSuspended || r == LossDeadline || r == LossRevoked || r == LossMaxHold
}
