// Package page has the code of docs/curatorvet.md, with the findings of the checks.
package page

import (
	"context"
	"database/sql"
	"errors"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/recipes/cache"
	"github.com/go-curator/curator/recipes/leader"
	"github.com/go-curator/curator/recipes/locks"
)

const order = "17"

func store(context.Context, string, int64) error { return nil }

func silenced(ctx context.Context, mutex *locks.InterProcessMutex) error {
	_, err := mutex.Acquire(ctx) //curatorvet:ignore droppedlease only one process may run, and the lock ends with it
	return err
}

func outer(ctx context.Context, mutex *locks.InterProcessMutex) error {
	// want +2 `ctx is from outside`
	return locks.Do(ctx, mutex, func(held context.Context, lease *locks.Lease) error {
		return store(ctx, order, lease.Token())
	})
}

func inner(ctx context.Context, mutex *locks.InterProcessMutex) error {
	return locks.Do(ctx, mutex, func(ctx context.Context, lease *locks.Lease) error {
		return store(ctx, order, lease.Token())
	})
}

func ignored(ctx context.Context, mutex *locks.InterProcessMutex, db *sql.DB, query string) error {
	// want +1 `call ExecContext instead of Exec`
	return locks.Do(ctx, mutex, func(context.Context, *locks.Lease) error {
		_, err := db.Exec(query)
		return err
	})
}

func passed(ctx context.Context, mutex *locks.InterProcessMutex, db *sql.DB, query string) error {
	return locks.Do(ctx, mutex, func(ctx context.Context, _ *locks.Lease) error {
		_, err := db.ExecContext(ctx, query)
		return err
	})
}

func dropped(ctx context.Context, mutex *locks.InterProcessMutex) error {
	// want +1 `the lease that mutex.Acquire returns is dropped`
	if _, err := mutex.Acquire(ctx); err != nil {
		return err
	}
	return nil
}

func kept(ctx context.Context, mutex *locks.InterProcessMutex) (err error) {
	lease, err := mutex.Acquire(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lease.Release(ctx)) }()
	return nil
}

func unfinished(client *framework.Client, create framework.CreateBuilder, data []byte) {
	// want +3 `the chain has no terminal, so nothing is sent`
	// want +3 `create.WithMode returns a copy`
	// want +3 `the operation is not committed`
	client.Create().CreatingParentsIfNeeded().WithData(data)
	create.WithMode(framework.Ephemeral)
	client.TransactionOp().Delete().ForPath("/orders/1")
}

func finished(ctx context.Context, client *framework.Client, create framework.CreateBuilder, data []byte) (framework.CreateBuilder, error) {
	_, err := client.Create().CreatingParentsIfNeeded().WithData(data).ForPath(ctx, "/orders/1")
	create = create.WithMode(framework.Ephemeral)
	_, failed := client.Transaction().ForOperations(ctx, client.TransactionOp().Delete().ForPath("/orders/1"))
	return create, errors.Join(err, failed)
}

func late(ctx context.Context, mutex *locks.InterProcessMutex, orders []string) error {
	// want +6 `the release is deferred in a loop`
	for _, order := range orders {
		lease, err := mutex.Acquire(ctx)
		if err != nil {
			return err
		}
		defer lease.Release(ctx)
		if err := store(lease.Bind(ctx), order, lease.Token()); err != nil {
			return err
		}
	}
	return nil
}

func each(ctx context.Context, mutex *locks.InterProcessMutex, orders []string) error {
	for _, order := range orders {
		err := locks.Do(ctx, mutex, func(ctx context.Context, lease *locks.Lease) error {
			return store(ctx, order, lease.Token())
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func decided(ctx context.Context, client *framework.Client, orders *cache.CuratorCache, paid []byte) error {
	// want +2 `the write relies on a cached value`
	if node, ok := orders.Get("/orders/1"); ok && string(node.Data) == "new" {
		_, err := client.SetData().ForPath(ctx, "/orders/1", paid)
		return err
	}
	return nil
}

func guarded(ctx context.Context, client *framework.Client, lease *locks.Lease, orders *cache.CuratorCache, paid []byte) error {
	if node, ok := orders.Get("/orders/1"); ok && string(node.Data) == "new" {
		_, err := lease.Guard(ctx,
			client.TransactionOp().SetData().WithVersion(node.Stat.Version).ForPath("/orders/1", paid))
		return err
	}
	return nil
}

func purge(context.Context, int64) error { return nil }

func notNil(ctx context.Context, latch *leader.LeaderLatch) error {
	// want +1 `a lease that is not nil may have ended`
	if lease := latch.Leadership(); lease != nil {
		return purge(ctx, lease.Token())
	}
	return nil
}

func leads(ctx context.Context, latch *leader.LeaderLatch) error {
	if lease := latch.Leadership(); lease.Err() == nil {
		return purge(lease.Bind(ctx), lease.Token())
	}
	return nil
}
