package worker

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/go-curator/curator/internal/verify/chaos/history"
	"github.com/go-curator/curator/recipes/leader"
	"github.com/go-curator/curator/recipes/locks"
)

const (
	// startTimeout bounds how long a latch may take to join.
	startTimeout = 10 * time.Second
	// terms is how many terms a latch has on average before it is closed.
	terms = 10
)

// runLatch leads now and then, with one latch after the other.
func runLatch(ctx context.Context, w *worker, random *rand.Rand) error {
	path := w.Root + "/" + Latch
	for w.pause(ctx, random) {
		latch, err := leader.NewLeaderLatch(w.client, path, leader.WithID(w.Name))
		if err != nil {
			return err
		}
		starting, cancel := context.WithTimeout(ctx, startTimeout)
		err = latch.Start(starting)
		cancel()
		if err != nil {
			if !expected(err) {
				w.fail(Latch, 0, "start: %v", err)
			}
			continue
		}
		a := attempt{
			workload: Latch, paths: []string{path}, mode: history.Exclusive, acquire: latch.Await,
			during: writeGuarded(w.Root + RegistersNode + "/" + Latch),
		}
		for random.IntN(terms) > 0 && w.pause(ctx, random) {
			w.try(ctx, random, a)
		}
		closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), releaseTimeout)
		_ = latch.Close(closing) // what it cannot confirm is done in the background
		cancel()
	}
	return nil
}

// runSelector leads now and then.
func runSelector(ctx context.Context, w *worker, random *rand.Rand) error {
	a := attempt{workload: Selector, paths: []string{w.Root + "/" + Selector}, mode: history.Exclusive}
	selector, err := leader.NewLeaderSelector(w.client, a.paths[0], leader.WithID(w.Name))
	if err != nil {
		return err
	}
	write := writeFenced(Selector)
	err = selector.Run(ctx, func(ctx context.Context, lease *locks.Lease) error {
		h := &hold{attempt: &a, w: w, op: w.ops.Add(1), lease: lease}
		w.note(history.Event{Kind: history.Begin, Workload: Selector, Op: h.op, Lock: a.paths[0]})
		h.noteGrant()
		write(ctx, h)
		h.keep(ctx, length(random))
		w.note(history.Event{Kind: history.Release, Workload: Selector, Op: h.op})
		return nil
	})
	if err != nil {
		w.fail(Selector, 0, "run: %v", err)
	}
	return nil
}
