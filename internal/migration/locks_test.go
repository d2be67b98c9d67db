package migration_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/recipes/locks"
)

func mutex(ctx context.Context, client *framework.Client) error {
	mutex, err := locks.NewInterProcessMutex(client, "/locks/orders")
	if err != nil {
		return err
	}
	return locks.Do(ctx, mutex, func(ctx context.Context, lease *locks.Lease) error {
		return work(ctx, lease.Token())
	})
}

func mutexByHand(ctx context.Context, client *framework.Client) (err error) {
	mutex, err := locks.NewInterProcessMutex(client, "/locks/orders")
	if err != nil {
		return err
	}
	lease, err := mutex.Acquire(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lease.Release(ctx)) }()

	return work(lease.Bind(ctx), lease.Token())
}

func reentry(ctx context.Context, mutex *locks.InterProcessMutex) error {
	return locks.Do(ctx, mutex, func(ctx context.Context, _ *locks.Lease) error {
		return locks.Do(ctx, mutex, func(ctx context.Context, lease *locks.Lease) error { // at once
			return work(ctx, lease.Token())
		})
	})
}

func timed(ctx context.Context, client *framework.Client) error {
	mutex, err := locks.NewInterProcessMutex(client, "/locks/orders", locks.WithMaxWait(5*time.Second))
	if err != nil {
		return err
	}
	lease, err := mutex.Acquire(ctx)
	if errors.Is(err, locks.ErrNotAcquired) {
		return busy()
	}
	if err != nil {
		return err
	}
	defer lease.Release(ctx)

	return work(lease.Bind(ctx), lease.Token())
}

func readWrite(ctx context.Context, client *framework.Client) error {
	lock, err := locks.NewInterProcessReadWriteLock(client, "/locks/catalogue")
	if err != nil {
		return err
	}
	write, err := lock.WriteLock().Acquire(ctx)
	if err != nil {
		return err
	}
	defer write.Release(ctx) // does nothing more after the downgrade
	if err := change(write.Bind(ctx)); err != nil {
		return err
	}
	read, err := lock.Downgrade(ctx, write)
	if err != nil {
		return err
	}
	defer read.Release(ctx)
	return publish(read.Bind(ctx))
}

func semaphore(ctx context.Context, client *framework.Client) error {
	semaphore, err := locks.NewInterProcessSemaphoreV2(client, "/limits/export", 10)
	if err != nil {
		return err
	}
	lease, err := semaphore.Acquire(ctx)
	if err != nil {
		return err
	}
	defer lease.Release(ctx)

	return export(lease.Bind(ctx))
}

func revocable(ctx context.Context, client *framework.Client) error {
	mutex, err := locks.NewInterProcessMutex(client, "/locks/orders",
		locks.WithRevocable(func(ctx context.Context, lease *locks.Lease) { pause() }))
	if err != nil {
		return err
	}
	lease, err := mutex.Acquire(ctx)
	if err != nil {
		return err
	}
	defer lease.Release(ctx)

	return run(ctx, client)
}

func revoke(ctx context.Context, client *framework.Client, mutex *locks.InterProcessMutex) error {
	nodes, err := mutex.ParticipantNodes(ctx)
	if err != nil {
		return err
	}
	for _, node := range nodes[:1] { // the holder's
		if err := locks.AttemptRevoke(ctx, client, node); err != nil {
			return err
		}
	}
	return nil
}

func inspect(ctx context.Context, client *framework.Client) error {
	queue, err := locks.Inspect(ctx, client, "/locks/orders")
	if err != nil {
		return err
	}
	for _, holder := range queue.Holders {
		fmt.Println(holder.Owner, holder.Since, holder.Token)
	}
	fmt.Println(len(queue.Waiters), "wait")
	return nil
}

// revokedOnce asks for the lock from outside while it is held.
func revokedOnce(ctx context.Context, client *framework.Client) error {
	run = func(ctx context.Context, client *framework.Client) error {
		asking, err := locks.NewInterProcessMutex(client, "/locks/orders")
		if err != nil {
			return err
		}
		if err := revoke(ctx, client, asking); err != nil {
			return err
		}
		return errors.Join(inspect(ctx, client), await(ctx, "pause"))
	}
	return revocable(ctx, client)
}
