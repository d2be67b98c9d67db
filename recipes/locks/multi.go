package locks

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/telemetry"
	"github.com/go-curator/curator/internal/zkclient"
	"github.com/go-curator/curator/tracing"
)

// InterProcessMultiLock is several locks acquired as one, all or none. They are acquired in the
// given order and released in reverse: the locks of one client in one round trip, the locks of
// several clients at the same time. Two multi locks that share locks must have them in the same
// order. Otherwise they can wait for each other until their contexts end.
//
// Java: InterProcessMultiLock.
type InterProcessMultiLock struct {
	_     noCopy
	locks []InterProcessLock
}

var _ InterProcessLock = (*InterProcessMultiLock)(nil)

// NewInterProcessMultiLock returns the lock over locks. It does no I/O. It returns
// framework.ErrInvalidOption if locks is empty, or if one is nil.
//
// Java: InterProcessMultiLock.
func NewInterProcessMultiLock(locks ...InterProcessLock) (*InterProcessMultiLock, error) {
	if len(locks) == 0 || slices.Contains(locks, nil) {
		return nil, fmt.Errorf("%w: a multi lock needs locks, none of them nil", framework.ErrInvalidOption)
	}
	return &InterProcessMultiLock{locks: slices.Clone(locks)}, nil
}

// Acquire waits for every lock; see InterProcessLock. The lease has Parts, ends when any part
// does, and has no Token of its own. A lock that ctx holds already is nested.
//
// When Acquire fails it releases the locks that it has, and waits for that at most
// WithReleaseTimeout, even if ctx never ends. When it loses a lock while it waits for the next
// one, or as soon as it has it, it releases the others and begins again with the first, at the end of each queue. It
// does not begin again, but fails, when somebody has asked for a lock (WithRevocable with nil)
// or WithMaxHold has passed.
//
// Java: acquire.
func (m *InterProcessMultiLock) Acquire(ctx context.Context) (*Lease, error) {
	return m.acquire(ctx, true, InterProcessLock.Acquire)
}

// TryAcquire takes all locks if all are free, otherwise none; see InterProcessLock. When one is
// not free it releases those that it has taken, as Acquire does when it fails.
//
// Java: acquire(0, unit).
func (m *InterProcessMultiLock) TryAcquire(ctx context.Context) (*Lease, error) {
	return m.acquire(ctx, false, InterProcessLock.TryAcquire)
}

// IsAcquiredInThisProcess reports whether the clients that the locks were made with hold all of them,
// through this object or others; see InterProcessMutex. One lease of a semaphore is enough. A
// lock of another package counts as held only if it has this method and the method returns
// true.
//
// Java: isAcquiredInThisProcess.
func (m *InterProcessMultiLock) IsAcquiredInThisProcess() bool {
	return m != nil && len(m.locks) > 0 && !slices.ContainsFunc(m.locks, func(lock InterProcessLock) bool { return !isAcquired(lock) })
}

// isAcquired asks a lock whether it is held. InterProcessLock has no method for that.
func isAcquired(lock InterProcessLock) bool {
	switch l := lock.(type) {
	case interface{ IsAcquiredInThisProcess() bool }:
		return !isNilPointer(lock) && l.IsAcquiredInThisProcess()
	case *InterProcessSemaphore:
		return l != nil && l.queue.isHeld()
	case *InterProcessSemaphoreV2:
		return l != nil && l.s != nil && l.s.leases.isHeld()
	}
	return false
}

func (m *InterProcessMultiLock) acquire(ctx context.Context, wait bool, acquire func(InterProcessLock, context.Context) (*Lease, error)) (lease *Lease, err error) {
	if m == nil || len(m.locks) == 0 {
		return nil, errNilArgument
	}
	if ctx == nil {
		return nil, zkclient.ErrNilContext
	}
	t, spans := m.observed()
	spanCtx, span := t.Acquire(ctx, spans, !wait)
	err = zkclient.ErrPanicked // as long as nothing else is known
	defer func() {
		if err != nil {
			span.Failed(failure(spanCtx, err))
			return
		}
		lease.span = span
		span.Granted(lease.Token(), false)
	}()
	lease, err = m.acquireAll(ctx, spanCtx, acquire)
	return lease, err
}

// errTakeAgain is returned when one of several locks was lost during the wait for the next.
var errTakeAgain = errors.New("the locks are to be taken again")

// acquireAll acquires the locks as parts of the trace of spanCtx. If one is lost during the wait for
// the next, all are released and acquired again.
func (m *InterProcessMultiLock) acquireAll(ctx, spanCtx context.Context, acquire func(InterProcessLock, context.Context) (*Lease, error)) (*Lease, error) {
	for {
		lease, err := m.attempt(ctx, spanCtx, acquire)
		if !errors.Is(err, errTakeAgain) {
			return lease, err
		}
	}
}

// attempt acquires the locks once. When it fails none of them stays held.
func (m *InterProcessMultiLock) attempt(ctx, spanCtx context.Context, acquire func(InterProcessLock, context.Context) (*Lease, error)) (whole *Lease, err error) {
	var parts []*Lease
	defer func() { // also when a lock of another package panics
		if whole != nil || len(parts) == 0 {
			return
		}
		again := spanCtx.Err() == nil && slices.ContainsFunc(parts, (*Lease).lostByFault)
		released := (&Lease{parts: parts}).giveBack(spanCtx)
		if err = errors.Join(err, released); again {
			err = errTakeAgain
		}
	}()
	bound := spanCtx
	for i, lock := range m.locks {
		part, err := acquire(lock, bound)
		switch {
		case err != nil:
		case part.never():
			err = fmt.Errorf("%w: a lock that returns neither a lease nor an error", framework.ErrInvalidOption)
		case part.Err() != nil && !isOurs(lock): // to try again could go on for ever
			err = errors.Join(part.Err(), part.giveBack(spanCtx))
		default:
			parts = append(parts, part)
			err = part.Err()
		}
		if err != nil {
			return nil, fmt.Errorf("lock %d of %d: %w", i+1, len(m.locks), err)
		}
		bound = part.Bind(bound) //nolint:fatcontext // a wait for the next ends when this one is lost
	}
	whole = composed(ctx, parts)
	if err := whole.Err(); err != nil {
		whole = nil
		return nil, err
	}
	return whole, nil
}

// isOurs tells whether a lock is one of this package.
func isOurs(lock InterProcessLock) bool {
	t, _ := observe(lock)
	return t != nil
}

// observed returns the telemetry of the first lock that is one of this package.
func (m *InterProcessMultiLock) observed() (*telemetry.Telemetry, telemetry.Lock) {
	if m == nil {
		return nil, telemetry.Lock{}
	}
	for _, lock := range m.locks {
		if t, _ := observe(lock); t != nil {
			return t, t.Lock(tracing.KindMulti, "", "")
		}
	}
	return nil, telemetry.Lock{}
}
