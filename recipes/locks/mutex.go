package locks

import (
	"context"

	"github.com/go-curator/curator/framework"
)

// InterProcessMutex is a fair, re-entrant mutex.
//
// Java: InterProcessMutex, with which it shares the lock.
type InterProcessMutex struct {
	_  noCopy
	in *internals
}

var _ InterProcessLock = (*InterProcessMutex)(nil)

// NewInterProcessMutex returns the mutex at path. It does no I/O. Errors:
// framework.ErrInvalidPath, framework.ErrInvalidOption, framework.ErrNotStarted for a
// nil client.
func NewInterProcessMutex(client *framework.Client, path string, opts ...MutexOption) (*InterProcessMutex, error) {
	cfg, err := newConfig(opts)
	if err != nil {
		return nil, err
	}
	in, err := newInternals(client, path, mutexKind, cfg)
	if err != nil {
		return nil, err
	}
	return &InterProcessMutex{in: in}, nil
}

// Acquire waits for the mutex; see InterProcessLock.
//
// Java: acquire.
func (m *InterProcessMutex) Acquire(ctx context.Context) (*Lease, error) {
	if m == nil || m.in == nil {
		return nil, errNilArgument
	}
	return m.in.acquire(ctx, true)
}

// TryAcquire takes the mutex if it is free; see InterProcessLock.
//
// Java: acquire(0, unit).
func (m *InterProcessMutex) TryAcquire(ctx context.Context) (*Lease, error) {
	if m == nil || m.in == nil {
		return nil, errNilArgument
	}
	return m.in.acquire(ctx, false)
}

// ParticipantNodes lists the nodes of the holder and the waiters, in order; none when
// the lock was never taken.
//
// Java: getParticipantNodes.
func (m *InterProcessMutex) ParticipantNodes(ctx context.Context) ([]string, error) {
	if m == nil || m.in == nil {
		return nil, errNilArgument
	}
	return m.in.participants(ctx)
}

// IsOwnedBy tells whether ctx carries a live lease of this mutex, that is, whether
// Acquire(ctx) would nest.
//
// Java: isOwnedByCurrentThread.
func (m *InterProcessMutex) IsOwnedBy(ctx context.Context) bool {
	return m != nil && m.in != nil && ctx != nil && m.in.carried(ctx) != nil
}
