package worker

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/verify/chaos/history"
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
		before, known := w.lookBefore(ctx, path)
		e.Token = before.change
		note(history.Begin, int64(roundTimeout), nil)
		e.Token = 0
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

// look is what a barrier has at some moment.
type look struct {
	names  []string // of its children
	change int64    // the zxid of their last change, or of an earlier one; 0 if there is no barrier
}

// look reads what a barrier has. known is false if the server could not be asked.
func (w *worker) look(ctx context.Context, path string) (l look, known bool) {
	var stat framework.Stat
	there, err := w.client.CheckExists().StoringStatIn(&stat).ForPath(ctx, path)
	if err != nil || !there {
		return look{}, err == nil
	}
	names, err := w.client.GetChildren().ForPath(ctx, path)
	if errors.Is(err, framework.ErrNoNode) {
		return look{}, true
	}
	return look{names, stat.Pzxid}, err == nil
}

// lookBefore is look after all earlier requests of this client were applied or refused.
func (w *worker) lookBefore(ctx context.Context, path string) (l look, known bool) {
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	if w.client.Sync().ForPath(ctx, path) != nil {
		return look{}, false
	}
	return w.look(ctx, path)
}

// noteMember notes the node of the member that has entered: the only one of this session that was not
// there before Enter. A guest has none.
func (w *worker) noteMember(ctx context.Context, e history.Event, before look) {
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	e.Kind, e.At, e.Session = history.Member, history.Now(), w.client.SessionID()
	now, known := w.look(ctx, e.Lock)
	if !known || e.Session == 0 {
		return
	}
	e.Value, e.Token = 0, now.change
	for _, name := range now.names {
		if slices.Contains(before.names, name) {
			continue
		}
		var stat framework.Stat
		there, err := w.client.CheckExists().StoringStatIn(&stat).ForPath(ctx, e.Lock+"/"+name)
		switch {
		case err != nil:
			return
		case !there || stat.EphemeralOwner != e.Session:
		case e.Node != "":
			return // it is not known which one is the member's
		default:
			e.Node, e.Value = e.Lock+"/"+name, stat.Czxid
		}
	}
	w.note(e)
}
