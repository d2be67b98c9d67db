package worker

import (
	"context"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/chaos/history"
	"github.com/go-curator/curator/internal/wait"
	"github.com/go-curator/curator/recipes/barriers"
)

const (
	// roundTimeout bounds each half of a round.
	roundTimeout = 20 * time.Second
	// readTimeout bounds what a worker reads about its own node.
	readTimeout = 2 * time.Second
)

// runBarrier goes through one round of the barrier after the other.
func runBarrier(ctx context.Context, w *worker, random *rand.Rand) error {
	path := w.Root + "/" + Barrier
	barrier, err := barriers.NewDistributedDoubleBarrier(w.client, path, Members)
	if err != nil {
		return err
	}
	for w.pause(ctx, random) {
		e := history.Event{Workload: Barrier, Op: w.ops.Add(1), Lock: path}
		note := func(kind history.Kind, value int64, err error) {
			e.Kind, e.Value, e.Text = kind, value, ""
			if err != nil {
				e.Text = err.Error()
			}
			w.note(e)
		}
		before, known := w.members(ctx, path)
		note(history.Begin, int64(roundTimeout), nil)
		entering, cancel := context.WithTimeout(ctx, roundTimeout)
		err := barrier.Enter(entering)
		cancel()
		if err != nil {
			note(history.Refused, 0, err)
			continue
		}
		note(history.Entered, w.client.SessionID(), nil)
		if known {
			w.noteMember(ctx, e, before)
		}
		_ = wait.For(ctx, time.Duration(random.IntN(50))*time.Millisecond) // it leaves all the same
		note(history.Leave, int64(roundTimeout), nil)
		leaving, cancel := context.WithTimeout(ctx, roundTimeout)
		err = barrier.Leave(leaving)
		cancel()
		note(history.Left, 0, err)
	}
	return nil
}

// members returns the names of the nodes that a barrier had at some moment of the call, before
// which all earlier requests of this client were applied or refused. known is false if the server
// could not be asked.
func (w *worker) members(ctx context.Context, path string) (names []string, known bool) {
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	if w.client.Sync().ForPath(ctx, path) != nil {
		return nil, false
	}
	there, err := w.client.CheckExists().ForPath(ctx, path)
	if err != nil || !there {
		return nil, err == nil
	}
	names, err = w.client.GetChildren().ForPath(ctx, path)
	return names, err == nil
}

// noteMember notes the node of the member that has entered, if it is there: the only one of this
// session that was not there before Enter. A guest has none.
func (w *worker) noteMember(ctx context.Context, e history.Event, before []string) {
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	e.Kind, e.At, e.Session = history.Member, history.Now(), w.client.SessionID()
	names, err := w.client.GetChildren().ForPath(ctx, e.Lock)
	if err != nil || e.Session == 0 {
		return
	}
	for _, name := range slices.DeleteFunc(names, func(name string) bool { return slices.Contains(before, name) }) {
		var stat framework.Stat
		there, err := w.client.CheckExists().StoringStatIn(&stat).ForPath(ctx, e.Lock+"/"+name)
		if err != nil || e.Node != "" && stat.EphemeralOwner == e.Session {
			return // it is not known which node is the member's
		}
		if there && stat.EphemeralOwner == e.Session {
			e.Node, e.Value = e.Lock+"/"+name, stat.Czxid
		}
	}
	if e.Node != "" {
		w.note(e)
	}
}
