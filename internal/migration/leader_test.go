package migration_test

import (
	"context"
	"errors"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/recipes/leader"
	"github.com/go-curator/curator/recipes/locks"
)

func latch(ctx context.Context, client *framework.Client) (err error) {
	latch, err := leader.NewLeaderLatch(client, "/leaders/purge", leader.WithID("purge-1"))
	if err != nil {
		return err
	}
	if err := latch.Start(ctx); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, latch.Close(ctx)) }()

	if _, err := latch.Await(ctx); err != nil {
		return err
	}
	if lease := latch.Leadership(); lease.Err() == nil {
		return work(lease.Bind(ctx), lease.Token())
	}
	return nil
}

func selector(ctx context.Context, client *framework.Client) error {
	selector, err := leader.NewLeaderSelector(client, "/leaders/billing", leader.WithID("billing-1"))
	if err != nil {
		return err
	}
	return selector.Run(ctx, func(ctx context.Context, lease *locks.Lease) error {
		return work(ctx, lease.Token())
	})
}

// selectorUntilStopped ends Run from outside, after the first term has begun.
func selectorUntilStopped(ctx context.Context, client *framework.Client) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	ended := make(chan error, 1)
	go func() { ended <- selector(ctx, client) }()
	err := await(ctx, "work")
	cancel()
	err = errors.Join(err, <-ended)
	for len(called) > 0 {
		<-called // of further terms
	}
	return err
}
