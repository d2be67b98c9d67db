package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/wait"
	"github.com/go-curator/curator/recipes/locks"
	"github.com/go-curator/curator/retry"
	"github.com/go-curator/curator/tools/curatortest"
)

// opening is the number of clients that connect, or close, at the same time.
const opening = 50

// measureHolders measures clients with the same timeout and the same way to prove a session, first
// idle, and then with a lock each.
func measureHolders(ctx context.Context, o options, e *curatortest.Ensemble, timeout time.Duration, proof string, out io.Writer) (err error) {
	clients := make([]*framework.Client, o.clients)
	defer func() { err = errors.Join(err, closeAll(ctx, clients)) }()
	err = each(ctx, o.clients, func(ctx context.Context, i int) (err error) {
		clients[i], err = open(ctx, e, timeout, proof)
		return err
	})
	if err != nil {
		return fmt.Errorf("open the clients: %w", err)
	}
	window := o.window
	if window == 0 {
		window = 2 * timeout
	}
	if err := observe(ctx, e, timeout, window, out, fmt.Sprintf("| %v | %s | idle ", timeout, proof)); err != nil {
		return err
	}
	leases := make([]*locks.Lease, o.clients)
	err = each(ctx, o.clients, func(ctx context.Context, i int) (err error) {
		leases[i], err = hold(context.WithoutCancel(ctx), clients[i], i)
		return err
	})
	if err != nil {
		return fmt.Errorf("acquire the locks: %w", err)
	}
	if err := observe(ctx, e, timeout, window, out, fmt.Sprintf("| %v | %s | holding ", timeout, proof)); err != nil {
		return err
	}
	for i, lease := range leases {
		if err := lease.Err(); err != nil {
			return fmt.Errorf("lock %d was lost: %w", i, err)
		}
	}
	return nil
}

// each calls fn for all numbers below n, a limited number of them at the same time.
func each(ctx context.Context, n int, fn func(ctx context.Context, i int) error) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(opening)
	for i := range n {
		g.Go(func() error { return fn(ctx, i) })
	}
	return g.Wait()
}

func open(ctx context.Context, e *curatortest.Ensemble, timeout time.Duration, proof string) (*framework.Client, error) {
	opts := []framework.Option{
		framework.WithSessionTimeout(timeout), framework.WithoutEnsembleTracker(), framework.WithoutTracing(),
		framework.WithLogger(slog.New(slog.DiscardHandler)),
	}
	if proof == "sync" {
		opts = append(opts, framework.WithSyncProof())
	}
	client, err := framework.NewClient(e.ConnectString(), retry.ExponentialBackoff(100*time.Millisecond, 10), opts...)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(client.Start(context.WithoutCancel(ctx)), client.BlockUntilConnected(ctx)); err != nil {
		return client, err
	}
	if granted := client.SessionTimeout(); granted != timeout {
		return client, fmt.Errorf("the servers grant a session timeout of %v, not %v", granted, timeout)
	}
	return client, nil
}

func hold(ctx context.Context, client *framework.Client, i int) (*locks.Lease, error) {
	mutex, err := locks.NewInterProcessMutex(client, fmt.Sprintf("/sessionload/lock-%d", i))
	if err != nil {
		return nil, err
	}
	return mutex.Acquire(ctx)
}

func closeAll(ctx context.Context, clients []*framework.Client) error {
	return each(context.WithoutCancel(ctx), len(clients), func(ctx context.Context, i int) error {
		return clients[i].Close(ctx) // does nothing if the client is nil
	})
}

// observe waits until earlier requests do not affect the measurement any more, measures for the time
// window, and writes the rest of a row.
func observe(ctx context.Context, e *curatortest.Ensemble, settle, window time.Duration, out io.Writer, row string) error {
	if err := wait.For(ctx, settle); err != nil {
		return err
	}
	l, err := measure(ctx, e, window)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "%s| %.0f | %.1f | %.1f | %d | %.1f |\n", row, l.packets, l.servers, l.clients, l.most, l.unevenness)
	return err
}
