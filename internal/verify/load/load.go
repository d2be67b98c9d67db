// Package load measures the load of idle clients that hold locks on their servers.
//
// It starts real servers. All clients are in this process, each with its own session. First
// each client only has its session. Then each holds an uncontended InterProcessMutex, and has
// to prove its session: by a check and a sync, or by two syncs (WithSyncProof).
//
// The table has, for each second, the packets that the servers received, and the processor time
// of the servers and of this process. The last columns say how evenly the packets come: the
// maximum in 100 ms, and its ratio to the mean. A check is a transaction, which the servers
// write to their disks; a sync is not written.
package load

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/verify/realservers"
	"github.com/go-curator/curator/internal/wait"
	"github.com/go-curator/curator/recipes/locks"
	"github.com/go-curator/curator/retry"
	"github.com/go-curator/curator/tools/curatortest"
)

// Config says what is measured.
type Config struct {
	Clients  int
	Servers  int             // of the ensemble
	Timeouts []time.Duration // of the sessions; servers grant 4s to 40s
	Proofs   []string        // ways to prove a session: check, sync
	Window   time.Duration   // how long to measure; zero is two session timeouts
}

// check returns an error for what cannot be measured.
func (c Config) check() error {
	switch {
	case c.Clients < 1:
		return fmt.Errorf("-clients must be at least 1, not %d", c.Clients)
	case c.Servers < 1:
		return fmt.Errorf("-servers must be at least 1, not %d", c.Servers)
	case c.Window < 0:
		return fmt.Errorf("-window must not be below 0: %v", c.Window)
	case len(c.Timeouts) == 0:
		return errors.New("-timeouts must name a session timeout")
	case len(c.Proofs) == 0:
		return errors.New("-proofs must name a way to prove a session")
	}
	for _, proof := range c.Proofs {
		if proof != "check" && proof != "sync" {
			return fmt.Errorf("-proofs: %q is neither check nor sync", proof)
		}
	}
	return nil
}

const tableHead = "| timeout | proof | clients | packets/s | servers' CPU ms/s | this process's CPU ms/s | most packets in 100 ms | times the mean |\n" +
	"| --- | --- | --- | --- | --- | --- | --- | --- |\n"

// Run measures, and writes the table to out.
func Run(ctx context.Context, c Config, out io.Writer) (err error) {
	if err := c.check(); err != nil {
		return err
	}
	ensemble, err := curatortest.NewReal(c.Servers, curatortest.WithProductionSettings(), curatortest.WithTickTime(2*time.Second))
	if err != nil {
		return fmt.Errorf("start the servers: %w", err)
	}
	defer func() { err = errors.Join(err, ensemble.Close()) }()
	if _, err := fmt.Fprintf(out, "%d clients in one process, %d servers\n\n%s", c.Clients, c.Servers, tableHead); err != nil {
		return err
	}
	for _, timeout := range c.Timeouts {
		for _, proof := range c.Proofs {
			if err := measureHolders(ctx, c, ensemble, timeout, proof, out); err != nil {
				return err
			}
		}
	}
	return nil
}

// opening is the number of clients that connect, or close, at the same time.
const opening = 50

// measureHolders measures clients with the same timeout and the same way to prove a session, first
// idle, and then with a lock each.
func measureHolders(ctx context.Context, c Config, e *curatortest.Ensemble, timeout time.Duration, proof string, out io.Writer) (err error) {
	clients := make([]*framework.Client, c.Clients)
	defer func() { err = errors.Join(err, closeAll(ctx, clients)) }()
	err = realservers.Each(ctx, opening, clients, func(ctx context.Context, i int, _ *framework.Client) (err error) {
		clients[i], err = open(ctx, e, timeout, proof)
		return err
	})
	if err != nil {
		return fmt.Errorf("open the clients: %w", err)
	}
	window := c.Window
	if window == 0 {
		window = 2 * timeout
	}
	if err := observe(ctx, e, timeout, window, out, fmt.Sprintf("| %v | %s | idle ", timeout, proof)); err != nil {
		return err
	}
	leases := make([]*locks.Lease, c.Clients)
	err = realservers.Each(ctx, opening, clients, func(ctx context.Context, i int, client *framework.Client) (err error) {
		leases[i], err = hold(context.WithoutCancel(ctx), client, i)
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

func open(ctx context.Context, e *curatortest.Ensemble, timeout time.Duration, proof string) (*framework.Client, error) {
	var opts []framework.Option
	if proof == "sync" {
		opts = append(opts, framework.WithSyncProof())
	}
	return realservers.Client(ctx, e.ConnectString(), timeout, retry.ExponentialBackoff(100*time.Millisecond, 10), opts...)
}

func hold(ctx context.Context, client *framework.Client, i int) (*locks.Lease, error) {
	mutex, err := locks.NewInterProcessMutex(client, fmt.Sprintf("/load/lock-%d", i))
	if err != nil {
		return nil, err
	}
	return mutex.Acquire(ctx)
}

func closeAll(ctx context.Context, clients []*framework.Client) error {
	return realservers.Each(context.WithoutCancel(ctx), opening, clients, func(ctx context.Context, _ int, client *framework.Client) error {
		return client.Close(ctx) // does nothing if the client is nil
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
