package locks

import (
	"context"
	"fmt"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/telemetry"
)

// InterProcessSemaphoreV2 is a semaphore in the layout of Java's class of this name, with
// which it shares the leases. Leases do not nest: every Acquire takes one.
//
// A lease is a node below path/leases. There are at most as many nodes as the maximum, and one
// more for the waiting contender. A mutex at path/locks lets one contender wait at a time.
// InterProcessSemaphore needs half the requests, but cannot be shared with Java.
//
// Java: InterProcessSemaphoreV2.
type InterProcessSemaphoreV2 struct {
	_ noCopy
	s *javaSemaphore
}

// InterProcessSemaphoreMutex is an InterProcessSemaphoreV2 with one lease: a mutex that
// does not nest. Acquire with the context of its own lease returns ErrDeadlock.
//
// Java: InterProcessSemaphoreMutex.
type InterProcessSemaphoreMutex struct {
	_ noCopy
	s *javaSemaphore
}

var (
	_ InterProcessLock = (*InterProcessSemaphoreV2)(nil)
	_ InterProcessLock = (*InterProcessSemaphoreMutex)(nil)
)

// NewInterProcessSemaphoreV2 returns the semaphore at path. Every user must give the same
// positive maxLeases; that is not checked. It does no I/O. Errors: framework.ErrInvalidPath,
// framework.ErrInvalidOption, framework.ErrNotStarted for a nil client.
//
// Java: InterProcessSemaphoreV2.
func NewInterProcessSemaphoreV2(client *framework.Client, path string, maxLeases int, opts ...SemaphoreOption) (*InterProcessSemaphoreV2, error) {
	if err := checkLeases(maxLeases); err != nil {
		return nil, err
	}
	return NewInterProcessSemaphoreV2WithCount(client, path, constantCount(maxLeases), opts...)
}

// NewInterProcessSemaphoreV2WithCount returns the semaphore at path with a maximum that may
// change. Lowering it ends no lease.
//
// Java: InterProcessSemaphoreV2 with a SharedCountReader.
func NewInterProcessSemaphoreV2WithCount(client *framework.Client, path string, count LeaseCount, opts ...SemaphoreOption) (*InterProcessSemaphoreV2, error) {
	s, err := newJavaSemaphore(client, path, count, opts)
	if err != nil {
		return nil, err
	}
	return &InterProcessSemaphoreV2{s: s}, nil
}

// NewInterProcessSemaphoreMutex returns the mutex at path; see NewInterProcessSemaphoreV2.
//
// Java: InterProcessSemaphoreMutex.
func NewInterProcessSemaphoreMutex(client *framework.Client, path string, opts ...SemaphoreOption) (*InterProcessSemaphoreMutex, error) {
	s, err := newJavaSemaphore(client, path, constantCount(1), opts)
	if err != nil {
		return nil, err
	}
	return &InterProcessSemaphoreMutex{s: s}, nil
}

// Acquire waits for one lease; see InterProcessLock.
//
// Java: acquire.
func (s *InterProcessSemaphoreV2) Acquire(ctx context.Context) (*Lease, error) {
	if s == nil {
		return nil, errNilArgument
	}
	return s.s.one(ctx, true)
}

// TryAcquire takes one lease if there is one; see InterProcessLock. It returns ErrNotAcquired also
// while another contender is acquiring a lease.
//
// Java: acquire(0, unit).
func (s *InterProcessSemaphoreV2) TryAcquire(ctx context.Context) (*Lease, error) {
	if s == nil {
		return nil, errNilArgument
	}
	return s.s.one(ctx, false)
}

// AcquireN waits for n leases, all or none, and returns them as the Parts of one. It holds the
// semaphore's mutex meanwhile, so no other contender gets a lease. ctx and the errors are as in
// InterProcessLock. AcquireN also returns ErrTooManyLeases if n is above the maximum, or if the
// maximum falls below n during the wait, and framework.ErrInvalidOption if n is not positive.
//
// AcquireN and Java's acquire(n) on one path can deadlock. Java takes its leases one by one, and
// does not hold the mutex in between. Bound one of the two waits.
//
// Java: acquire(n).
func (s *InterProcessSemaphoreV2) AcquireN(ctx context.Context, n int) (*Lease, error) {
	if s == nil || s.s == nil {
		return nil, errNilArgument
	}
	if err := checkLeases(n); err != nil {
		return nil, fmt.Errorf("lock %s: %w", s.s.base.path, err)
	}
	return s.s.acquire(ctx, true, n, composed)
}

// ParticipantNodes lists the nodes of the leases, and the node of the contender that waits, in
// order. Errors: ctx's error, or the server's.
//
// Java: getParticipantNodes.
func (s *InterProcessSemaphoreV2) ParticipantNodes(ctx context.Context) ([]string, error) {
	if s == nil || s.s == nil {
		return nil, errNilArgument
	}
	return s.s.leases.participants(ctx)
}

// Acquire waits for the mutex; see InterProcessLock. With the context of its own lease it returns
// ErrDeadlock.
//
// Java: acquire.
func (m *InterProcessSemaphoreMutex) Acquire(ctx context.Context) (*Lease, error) {
	return m.acquire(ctx, true)
}

// TryAcquire takes the mutex if it is free; see InterProcessSemaphoreV2.TryAcquire.
//
// Java: acquire(0, unit).
func (m *InterProcessSemaphoreMutex) TryAcquire(ctx context.Context) (*Lease, error) {
	return m.acquire(ctx, false)
}

func (m *InterProcessSemaphoreMutex) acquire(ctx context.Context, wait bool) (*Lease, error) {
	if m == nil || m.s == nil {
		return nil, errNilArgument
	}
	if m.s.leases.ownedBy(ctx) {
		return nil, fmt.Errorf("lock %s: %w: it does not nest", m.s.base.path, ErrDeadlock)
	}
	return m.s.one(ctx, wait)
}

// IsAcquiredInThisProcess reports whether the client that this mutex was made with holds it,
// through this object or another. It looks at the clock: a hold is over when its deadline has
// passed, also if nobody has been told yet. It does not talk to the server.
//
// Java: isAcquiredInThisProcess.
func (m *InterProcessSemaphoreMutex) IsAcquiredInThisProcess() bool {
	return m != nil && m.s != nil && m.s.leases.isHeld()
}

func (s *InterProcessSemaphoreV2) telemetryOf() (*telemetry.Telemetry, telemetry.Lock) {
	if s == nil {
		return nil, telemetry.Lock{}
	}
	return s.s.telemetryOf()
}

func (m *InterProcessSemaphoreMutex) telemetryOf() (*telemetry.Telemetry, telemetry.Lock) {
	if m == nil {
		return nil, telemetry.Lock{}
	}
	return m.s.telemetryOf()
}
