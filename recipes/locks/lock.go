package locks

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-curator/curator/framework"
)

// InterProcessLock is what every lock of this package is. Others may implement it by
// wrapping one; it will get no more methods.
//
// Java: InterProcessLock.
type InterProcessLock interface {
	// Acquire waits for the lock and returns a lease on it. ctx bounds the wait and
	// nothing else, and decides about re-entry.
	//
	// Errors: ErrNotAcquired (with ctx's error, when ctx ended or WithMaxWait passed
	// while others were seen to hold the lock), ctx's error alone when not even that
	// could be learnt, ErrKindMismatch, framework.ErrClosed,
	// framework.ErrConnectionLoss, or the server's. The lease is nil exactly when
	// the error is not.
	Acquire(ctx context.Context) (*Lease, error)

	// TryAcquire decides at once: a lease, or ErrNotAcquired when the lock is not
	// free, leaving nothing behind. ctx bounds the talk with the server.
	TryAcquire(ctx context.Context) (*Lease, error)
}

// Do acquires lock, calls fn, releases, and returns fn's error.
//
// fn's context is Bind(ctx): it ends when ctx ends or the lease does, and it
// re-enters. Do waits for fn in any case. Its error matches ErrLockLost when Release
// says so, also if fn returned nil, and when fn failed after the lease was given up.
// ErrReleasePending is logged by the client, not returned. When ctx is meant to bound
// only the wait, use WithMaxWait instead. A panic in fn releases the lock and goes on.
//
// Java: try (Locker l = new Locker(lock)) { ... }.
func Do(ctx context.Context, lock InterProcessLock, fn func(ctx context.Context, lease *Lease) error) error {
	if lock == nil || fn == nil {
		return errNilArgument
	}
	return do(ctx, lock, true, fn)
}

// TryDo is Do with TryAcquire: when the lock is not free it returns ErrNotAcquired and
// does not call fn. It keeps two from working at the same time, not one after the other:
// for "once a day" write a marker.
//
// Java: acquire(0, unit), and release in a finally block.
func TryDo(ctx context.Context, lock InterProcessLock, fn func(ctx context.Context, lease *Lease) error) error {
	if lock == nil || fn == nil {
		return errNilArgument
	}
	return do(ctx, lock, false, fn)
}

var (
	errNilArgument = fmt.Errorf("%w: the lock or the function is nil", framework.ErrInvalidOption)
	errNilContext  = fmt.Errorf("%w: the context is nil", framework.ErrInvalidOption)
)

func do(ctx context.Context, lock InterProcessLock, wait bool, fn func(ctx context.Context, lease *Lease) error) (err error) {
	ctx, end := begin(ctx, lock, wait)
	defer func() { end(err) }()
	acquire := lock.Acquire
	if !wait {
		acquire = lock.TryAcquire
	}
	lease, err := acquire(ctx)
	if err != nil {
		return err
	}
	defer func() {
		lost, released := lease.Err(), lease.Release(ctx)
		if errors.Is(released, ErrReleasePending) {
			lease.client().Logger().Warn("lock release not confirmed yet", "path", lease.Path())
			var loss *LossError
			if errors.As(released, &loss) {
				released = loss // of a part, beside one that is not confirmed
			} else {
				released = nil
			}
		}
		if released == nil && err != nil && errors.Is(lost, ErrLockLost) {
			released = lost // perhaps why fn failed
		}
		if !errors.Is(err, ErrLockLost) || released == nil {
			err = errors.Join(err, released)
		}
	}()
	return fn(lease.Bind(ctx), lease)
}
