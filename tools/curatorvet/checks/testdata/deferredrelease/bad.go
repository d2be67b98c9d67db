// Package deferredrelease has leases that are released later than the code suggests.
package deferredrelease

import (
	"context"
	"errors"

	"github.com/go-curator/curator/recipes/locks"
)

func each(ctx context.Context, mutex *locks.InterProcessMutex, orders []string) error {
	for _, order := range orders {
		lease, err := mutex.Acquire(ctx)
		if err != nil {
			return err
		}
		defer lease.Release(ctx) // want `the release is deferred in a loop, so that the leases of all iterations are held until the function returns: use locks.Do, or make the body of the loop a function; for several locks at once use an InterProcessMultiLock or AcquireN`
		store(lease.Bind(ctx), order)
	}
	return nil
}

func inLiteral(ctx context.Context, mutex *locks.InterProcessMutex) (err error) {
	for ctx.Err() == nil {
		lease, err := mutex.TryAcquire(ctx)
		if errors.Is(err, locks.ErrNotAcquired) {
			continue
		}
		if err == nil {
			defer func() { err = errors.Join(err, lease.Release(ctx)) }() // want `the release is deferred in a loop`
		}
	}
	return err
}

func ofSwitch(ctx context.Context, mutex *locks.InterProcessMutex, kinds []int) {
	for _, kind := range kinds {
		switch lease, err := mutex.Acquire(ctx); {
		case err != nil:
			return
		case kind == 1:
			defer lease.Release(ctx) // want `the release is deferred in a loop`
			break
		}
	}
}

func store(context.Context, string) {}
