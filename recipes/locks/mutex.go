package locks

import (
	"context"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/layout"
)

// InterProcessMutex is a fair, re-entrant mutex. The documentation of the package says what it does
// not guarantee.
//
// Java: InterProcessMutex, with which it shares the lock.
type InterProcessMutex struct {
	_     noCopy
	queue *queueLock
}

var _ InterProcessLock = (*InterProcessMutex)(nil)

// NewInterProcessMutex returns the mutex at path. It does no I/O. Errors:
// framework.ErrInvalidPath, framework.ErrInvalidOption (also for WithLockDelay together with
// WithLocalHandover), framework.ErrNotStarted for a nil client.
//
// Java: InterProcessMutex.
func NewInterProcessMutex(client *framework.Client, path string, opts ...MutexOption) (*InterProcessMutex, error) {
	client, cfg, err := newConfig(client, opts, MutexOption.applyMutex)
	if err != nil {
		return nil, err
	}
	queue, err := newQueueLock(client, path, cfg, mutexRules(cfg.driver))
	if err != nil {
		return nil, err
	}
	return &InterProcessMutex{queue: queue}, nil
}

func mutexRules(driver LockInternalsDriver) rules {
	r := rules{kind: mutexKind, lockName: layout.LockMark, driver: driver, maxLeases: 1, children: mutexKind}
	if driver == (StandardLockInternalsDriver{}) {
		r.marksRelease, r.marks, r.next = true, anyNode, anyNode
	}
	return r
}

// Acquire waits for the mutex; see InterProcessLock.
//
// Java: acquire.
func (m *InterProcessMutex) Acquire(ctx context.Context) (*Lease, error) {
	return m.lock().acquire(ctx, true)
}

// TryAcquire takes the mutex if it is free; see InterProcessLock.
//
// Java: acquire(0, unit).
func (m *InterProcessMutex) TryAcquire(ctx context.Context) (*Lease, error) {
	return m.lock().acquire(ctx, false)
}

// ParticipantNodes lists the nodes of the holder and the waiters, in order. It returns none when
// the lock was never taken. Errors: ErrKindMismatch, ctx's error, or the server's.
//
// Java: getParticipantNodes.
func (m *InterProcessMutex) ParticipantNodes(ctx context.Context) ([]string, error) {
	return m.lock().participants(ctx)
}

// IsAcquiredInThisProcess reports whether the client that this mutex was made with holds it,
// through this object or another. It looks at the clock: a hold is over when its deadline has
// passed, also if nobody has been told yet. It does not talk to the server.
//
// Java: isAcquiredInThisProcess.
func (m *InterProcessMutex) IsAcquiredInThisProcess() bool { return m.lock().isHeld() }

// IsOwnedBy reports whether ctx carries a live lease of this mutex, that is, whether
// Acquire(ctx) would nest.
//
// Java: isOwnedByCurrentThread.
func (m *InterProcessMutex) IsOwnedBy(ctx context.Context) bool {
	return m.lock().ownedBy(ctx)
}

// lock returns the queue, nil for a nil lock and for the zero value.
func (m *InterProcessMutex) lock() *queueLock {
	if m == nil {
		return nil
	}
	return m.queue
}
