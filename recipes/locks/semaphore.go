package locks

import (
	"context"
	"fmt"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/layout"
	"github.com/go-curator/curator/internal/zkclient"
)

// InterProcessSemaphore grants at most maxLeases leases at a time, in order. It is the
// semaphore for Go processes; if Java processes take part, use InterProcessSemaphoreV2. Leases
// do not nest: every Acquire takes one. The release of a lease wakes at most maxLeases waiters,
// and each lists the queue once.
//
// It must not share a path with an InterProcessSemaphoreV2 or a mutex. It may share a path with
// Java's deprecated class of this name only if both have the same maximum.
//
// Java: InterProcessSemaphore.
type InterProcessSemaphore struct {
	_     noCopy
	queue *queueLock
}

var _ InterProcessLock = (*InterProcessSemaphore)(nil)

// NewInterProcessSemaphore returns the semaphore at path. Every user must give the same
// positive maxLeases; that is not checked. It does no I/O. Errors: framework.ErrInvalidPath,
// framework.ErrInvalidOption, framework.ErrNotStarted for a nil client.
//
// Java: InterProcessSemaphore.
func NewInterProcessSemaphore(client *framework.Client, path string, maxLeases int, opts ...SemaphoreOption) (*InterProcessSemaphore, error) {
	client, cfg, err := newConfig(client, opts, SemaphoreOption.applySemaphore)
	if err == nil {
		err = checkLeases(maxLeases)
	}
	if err != nil {
		return nil, err
	}
	r := rules{
		kind: semaphoreKind, lockName: layout.LockMark, driver: StandardLockInternalsDriver{}, maxLeases: maxLeases,
		children: mutexKind, flat: true,
	}
	if maxLeases == 1 {
		r.marksRelease, r.marks = true, anyNode
	}
	queue, err := newQueueLock(client, path, cfg, r)
	if err != nil {
		return nil, err
	}
	return &InterProcessSemaphore{queue: queue}, nil
}

func checkLeases(n int) error {
	if n < 1 {
		return fmt.Errorf("%w: %d leases", framework.ErrInvalidOption, n)
	}
	return nil
}

// Acquire waits for one lease; see InterProcessLock.
//
// Java: acquire.
func (s *InterProcessSemaphore) Acquire(ctx context.Context) (*Lease, error) {
	return s.lock().acquire(ctx, true)
}

// TryAcquire takes one lease if there is one; see InterProcessLock.
//
// Java: acquire(0, unit).
func (s *InterProcessSemaphore) TryAcquire(ctx context.Context) (*Lease, error) {
	return s.lock().acquire(ctx, false)
}

// ParticipantNodes lists the nodes of the holders and of the waiters, in order. Errors:
// ErrKindMismatch, ctx's error, or the server's.
//
// Java: getParticipantNodes.
func (s *InterProcessSemaphore) ParticipantNodes(ctx context.Context) ([]string, error) {
	return s.lock().participants(ctx)
}

// AcquireN waits for n leases, all or none, and returns them as the Parts of one. Contenders
// that come later are not let in before it, not even if there are leases for them. ctx and
// the errors are as in InterProcessLock. AcquireN also returns ErrTooManyLeases if n is above
// the maximum, and framework.ErrInvalidOption if n is not positive.
//
// Java: acquire(n).
func (s *InterProcessSemaphore) AcquireN(ctx context.Context, n int) (*Lease, error) {
	switch {
	case s == nil || s.queue == nil:
		return nil, errNilArgument
	case ctx == nil:
		return nil, zkclient.ErrNilContext
	case n > s.queue.maxLeases:
		return nil, fmt.Errorf("lock %s: %w: %d of %d", s.queue.path, ErrTooManyLeases, n, s.queue.maxLeases)
	}
	if err := checkLeases(n); err != nil {
		return nil, fmt.Errorf("lock %s: %w", s.queue.path, err)
	}
	a, err := s.queue.begin(ctx, true)
	if err != nil {
		return nil, err
	}
	defer a.close()
	// The numbers of the nodes follow each other. The last one waits.
	parts, err := s.queue.contendFor(a, n)
	if err != nil {
		return a.end(nil, err)
	}
	return a.end(composed(a.ctx, parts), nil)
}

// lock returns the queue, nil for a nil lock and for the zero value.
func (s *InterProcessSemaphore) lock() *queueLock {
	if s == nil {
		return nil
	}
	return s.queue
}
