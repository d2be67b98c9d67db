package load

import (
	"context"
	"errors"
	"time"

	"github.com/go-curator/curator/tools/bench/internal/protocol"
)

// Wait acquires a lock and releases it. The result has the time since the lock was granted.
func Wait(ctx context.Context, acquire Acquire) (protocol.Result, error) {
	release, err := acquire(ctx)
	if err != nil {
		return protocol.Result{}, err
	}
	granted := time.Now()
	err = release(context.WithoutCancel(ctx))
	return protocol.Result{Operations: 1, ElapsedNS: int64(time.Since(granted))}, err
}

// ErrBusy is returned by a Try when the lock is not free.
var ErrBusy = errors.New("the lock is not free")

// Try tries to acquire a lock without waiting, and returns a function that releases it.
type Try func(ctx context.Context) (release Op, err error)

// Op returns the operation that tries, and releases the lock if it got it. With free the lock must be
// free each time, otherwise never.
func (t Try) Op(free bool) Op {
	return func(ctx context.Context) error {
		release, err := t(ctx)
		switch {
		case errors.Is(err, ErrBusy) && !free:
			return nil
		case err != nil:
			return err
		case !free:
			return errors.New("the lock is free, and should not be")
		}
		return release(context.WithoutCancel(ctx))
	}
}

// RepeatBusy is Repeat for a Try of a lock that somebody else holds.
func RepeatBusy(ctx context.Context, warmup, duration time.Duration, holder Acquire, try Try) (protocol.Result, error) {
	release, err := holder(ctx)
	if err != nil {
		return protocol.Result{}, err
	}
	result, err := Repeat(ctx, warmup, duration, try.Op(false))
	return result, errors.Join(err, release(context.WithoutCancel(ctx)))
}
