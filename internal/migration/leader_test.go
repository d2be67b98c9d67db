package migration_test

import (
	"context"
	"errors"
	"fmt"

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

func oneTerm(ctx context.Context, selector *leader.LeaderSelector) error {
	return selector.Run(ctx, func(ctx context.Context, lease *locks.Lease) error {
		if err := work(ctx, lease.Token()); err != nil {
			return err
		}
		return leader.ErrStop
	})
}

func leads(selector *leader.LeaderSelector) {
	if selector.Leadership().Err() == nil { // hasLeadership
		pause()
	}
}

func interrupt(ctx context.Context, selector *leader.LeaderSelector) error {
	participants, err := selector.Participants(ctx)
	if err != nil {
		return err
	}
	for _, p := range participants {
		fmt.Println(p.ID, p.Leader, p.Since)
	}
	selector.Interrupt()
	return nil
}

// interrupted interrupts a term from its function, and stands for another one.
func interrupted(ctx context.Context, client *framework.Client) error {
	selector, err := leader.NewLeaderSelector(client, "/leaders/billing", leader.WithID("billing-1"))
	if err != nil {
		return err
	}
	terms := 0
	err = selector.Run(ctx, func(ctx context.Context, _ *locks.Lease) error {
		if terms++; terms > 1 {
			return leader.ErrStop
		}
		leads(selector)
		if err := interrupt(ctx, selector); err != nil {
			return err
		}
		<-ctx.Done()
		if !errors.Is(context.Cause(ctx), leader.ErrInterrupted) {
			return fmt.Errorf("ended by %w", context.Cause(ctx))
		}
		return nil
	})
	if err != nil {
		return err
	}
	return oneTerm(ctx, selector)
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
