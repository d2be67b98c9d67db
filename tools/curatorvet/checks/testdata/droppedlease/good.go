package droppedlease

import (
	"context"
	"errors"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/recipes/leader"
	"github.com/go-curator/curator/recipes/locks"
)

func kept(ctx context.Context, mutex *locks.InterProcessMutex) (err error) {
	lease, err := mutex.Acquire(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lease.Release(ctx)) }()
	return work(lease.Bind(ctx))
}

func handedOn(ctx context.Context, mutex *locks.InterProcessMutex) (*locks.Lease, error) {
	return mutex.TryAcquire(ctx)
}

func isHeld(ctx context.Context, client *framework.Client) (bool, error) {
	found, err := locks.Inspect(ctx, client, "/locks/orders")
	if err != nil {
		return false, err
	}
	return len(found.Holders) > 0, nil
}

// The lease of a term belongs to the latch, which releases it when it is closed.
func untilLeader(ctx context.Context, latch *leader.LeaderLatch) error {
	_, err := latch.Await(ctx)
	return err
}

// limiter has a method with the same name that does not acquire a lock.
type limiter struct{}

func (limiter) Acquire(context.Context) (int, error) { return 0, nil }

func other(ctx context.Context, l limiter) error {
	_, err := l.Acquire(ctx)
	return err
}

func untilTheEnd(ctx context.Context, mutex *locks.InterProcessMutex) error {
	_, err := mutex.Acquire(ctx) //curatorvet:ignore droppedlease only one process may run, and the lock ends with it
	return err
}
