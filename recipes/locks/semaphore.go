package locks

import (
	"context"
	"fmt"

	"github.com/go-curator/curator/framework"
)

// InterProcessSemaphore hands out at most maxLeases leases at a time, in order. It is the
// semaphore for Go processes; with Java, use InterProcessSemaphoreV2. Leases do not nest:
// every Acquire takes one.
//
// It does not share a path with InterProcessSemaphoreV2, nor with a mutex, nor with Java's
// deprecated class of this name unless that has the same maximum.
type InterProcessSemaphore struct {
	_  noCopy
	in *internals
}

var _ InterProcessLock = (*InterProcessSemaphore)(nil)

// NewInterProcessSemaphore returns the semaphore at path; every user must give the same
// positive maxLeases. It does no I/O. Errors: framework.ErrInvalidPath,
// framework.ErrInvalidOption, framework.ErrNotStarted for a nil client.
//
// Java: InterProcessSemaphore.
func NewInterProcessSemaphore(client *framework.Client, path string, maxLeases int, opts ...SemaphoreOption) (*InterProcessSemaphore, error) {
	cfg, err := newConfig(opts, SemaphoreOption.applySemaphore)
	if err == nil {
		err = checkLeases(maxLeases)
	}
	if err != nil {
		return nil, err
	}
	in, err := newInternals(client, path, cfg, rules{
		kind: semaphoreKind, lockName: lockName, driver: StandardLockInternalsDriver{}, maxLeases: maxLeases,
		mismatch: otherThanMutex, flat: true,
	})
	if err != nil {
		return nil, err
	}
	return &InterProcessSemaphore{in: in}, nil
}

func checkLeases(n int) error {
	if n < 1 {
		return fmt.Errorf("%w: %d leases", framework.ErrInvalidOption, n)
	}
	return nil
}

// Acquire waits for one lease.
//
// Java: acquire.
func (s *InterProcessSemaphore) Acquire(ctx context.Context) (*Lease, error) {
	if s == nil || s.in == nil {
		return nil, errNilArgument
	}
	return s.in.acquire(ctx, true)
}

// TryAcquire takes one lease if there is one.
//
// Java: acquire(0, unit).
func (s *InterProcessSemaphore) TryAcquire(ctx context.Context) (*Lease, error) {
	if s == nil || s.in == nil {
		return nil, errNilArgument
	}
	return s.in.acquire(ctx, false)
}

// ParticipantNodes lists the nodes of those who have a lease and of those who wait, in
// order.
//
// Java: getParticipantNodes.
func (s *InterProcessSemaphore) ParticipantNodes(ctx context.Context) ([]string, error) {
	if s == nil || s.in == nil {
		return nil, errNilArgument
	}
	return s.in.participants(ctx)
}
