package deferredrelease

import (
	"context"
	"errors"

	"github.com/go-curator/curator/recipes/locks"
)

func once(ctx context.Context, mutex *locks.InterProcessMutex, orders []string) error {
	lease, err := mutex.Acquire(ctx)
	if err != nil {
		return err
	}
	defer lease.Release(ctx)
	for _, order := range orders {
		store(lease.Bind(ctx), order)
	}
	return nil
}

func inFunction(ctx context.Context, mutex *locks.InterProcessMutex, orders []string) error {
	for _, order := range orders {
		err := func() error {
			lease, err := mutex.Acquire(ctx)
			if err != nil {
				return err
			}
			defer lease.Release(ctx)
			store(lease.Bind(ctx), order)
			return nil
		}()
		if err != nil {
			return err
		}
	}
	return nil
}

func byDo(ctx context.Context, mutex *locks.InterProcessMutex, orders []string) error {
	for _, order := range orders {
		err := locks.Do(ctx, mutex, func(ctx context.Context, _ *locks.Lease) error {
			store(ctx, order)
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// The iteration that acquires the lease leaves the loop.
func untilAcquired(ctx context.Context, mutex *locks.InterProcessMutex) error {
	for {
		lease, err := mutex.TryAcquire(ctx)
		if errors.Is(err, locks.ErrNotAcquired) {
			continue
		}
		if err != nil {
			return err
		}
		defer lease.Release(ctx)
		store(lease.Bind(ctx), "")
		return nil
	}
}

// One deferred function releases all leases.
func several(ctx context.Context, mutexes []*locks.InterProcessMutex) (err error) {
	var leases []*locks.Lease
	defer func() {
		for _, lease := range leases {
			err = errors.Join(err, lease.Release(ctx))
		}
	}()
	for _, mutex := range mutexes {
		lease, err := mutex.Acquire(ctx)
		if err != nil {
			return err
		}
		leases = append(leases, lease)
	}
	return nil
}
