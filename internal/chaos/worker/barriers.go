package worker

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/go-curator/curator/internal/chaos/history"
	"github.com/go-curator/curator/internal/wait"
	"github.com/go-curator/curator/recipes/barriers"
)

// roundTimeout bounds each half of a round.
const roundTimeout = 20 * time.Second

// runBarrier goes through one round of the barrier after the other.
func runBarrier(ctx context.Context, w *worker, random *rand.Rand) error {
	path := w.Root + "/" + Barrier
	barrier, err := barriers.NewDistributedDoubleBarrier(w.client, path, Members)
	if err != nil {
		return err
	}
	for w.pause(ctx, random) {
		e := history.Event{Workload: Barrier, Op: w.ops.Add(1)}
		note := func(kind history.Kind, value int64, err error) {
			e.Kind, e.Value, e.Text = kind, value, ""
			if err != nil {
				e.Text = err.Error()
			}
			w.note(e)
		}
		note(history.Begin, int64(roundTimeout), nil)
		entering, cancel := context.WithTimeout(ctx, roundTimeout)
		err := barrier.Enter(entering)
		cancel()
		if err != nil {
			note(history.Refused, 0, err)
			continue
		}
		note(history.Entered, w.client.SessionID(), nil)
		_ = wait.For(ctx, time.Duration(random.IntN(50))*time.Millisecond) // it leaves all the same
		note(history.Leave, int64(roundTimeout), nil)
		leaving, cancel := context.WithTimeout(ctx, roundTimeout)
		err = barrier.Leave(leaving)
		cancel()
		note(history.Left, 0, err)
	}
	return nil
}
