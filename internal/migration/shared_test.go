package migration_test

import (
	"context"
	"errors"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/recipes/atomics"
	"github.com/go-curator/curator/recipes/barriers"
	"github.com/go-curator/curator/recipes/shared"
	"github.com/go-curator/curator/retry"
)

func sharedCount(ctx context.Context, client *framework.Client) (err error) {
	limit, err := shared.NewCount(client, "/limits/workers", 4)
	if err != nil {
		return err
	}
	limit.CountListenable().Add(func(_ context.Context, n int) { resize(n) })
	if err := limit.Start(ctx); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, limit.Close(ctx)) }()

	if _, err := limit.Update(ctx, func(n int) (int, error) { return n + 1, nil }); err != nil {
		return err
	}
	return run(ctx, client)
}

func trySet(ctx context.Context, limit *shared.Count) error {
	now, set, err := limit.TrySet(ctx, limit.VersionedValue(), 8)
	if err != nil {
		return err
	}
	if !set {
		return conflict() // another process was faster, and has set now.Value
	}
	resize(now.Value)
	return nil
}

// triedOnce sets a count that it has started.
func triedOnce(ctx context.Context, client *framework.Client) (err error) {
	limit, err := shared.NewCount(client, "/limits/workers", 4)
	if err != nil {
		return err
	}
	if err := limit.Start(ctx); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, limit.Close(ctx)) }()
	return trySet(ctx, limit)
}

func counter(ctx context.Context, client *framework.Client) (int64, error) {
	orders, err := atomics.NewDistributedAtomicLong(client, "/counters/orders", retry.NTimes(10, 10*time.Millisecond))
	if err != nil {
		return 0, err
	}
	value, err := orders.Increment(ctx)
	if errors.Is(err, atomics.ErrContended) {
		return 0, conflict()
	}
	return value.Post, err
}

func barrier(ctx context.Context, client *framework.Client) error {
	maintenance, err := barriers.NewDistributedBarrier(client, "/maintenance")
	if err != nil {
		return err
	}
	if err := errors.Join(maintenance.Set(ctx), maintenance.Remove(ctx)); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	err = maintenance.Wait(ctx)
	if errors.Is(err, barriers.ErrNotPassed) {
		return busy()
	}
	return err
}

func doubleBarrier(ctx context.Context, client *framework.Client) (err error) {
	step, err := barriers.NewDistributedDoubleBarrier(client, "/step", 1)
	if err != nil {
		return err
	}
	enter, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	if err := step.Enter(enter); err != nil {
		return err // not in, and not counted
	}
	defer func() { err = errors.Join(err, step.Leave(ctx)) }()

	return export(ctx)
}

func resize(int) { called <- "resize" }
