package chaos

import (
	"context"
	"errors"
	"os"
	"slices"
	"time"

	"github.com/go-curator/curator/internal/chaos/check"
	"github.com/go-curator/curator/internal/chaos/history"
	"github.com/go-curator/curator/internal/chaos/replay"
	"github.com/go-curator/curator/internal/chaos/worker"
	"github.com/go-curator/curator/internal/model"
)

// replayTime bounds the search for a path of the model, with a fifth of the time of the run.
const replayTime = 2 * time.Minute

// Replay says whether a run with this log of all events is a path of the model.
func Replay(ctx context.Context, log string) (replay.Result, error) {
	file, err := os.Open(log)
	if err != nil {
		return replay.Result{}, err
	}
	var events []history.Event
	err = history.Read(file, func(e history.Event) { events = append(events, e) })
	if err := errors.Join(err, file.Close()); err != nil {
		return replay.Result{}, err
	}
	return replayMutex(ctx, events)
}

func replayMutex(ctx context.Context, events []history.Event) (replay.Result, error) {
	limit := replayTime
	if n := len(events); n > 0 {
		limit += events[n-1].Time(events[0].At) / 5
	}
	return replay.Mutex(ctx, events, worker.Mutex, root+"/"+worker.Mutex, model.Limits{Time: limit})
}

// replay looks for the run among the paths of the model. One that is none is a violation.
func (r *Report) replay(ctx context.Context) error {
	if !slices.Contains(r.Config.Workloads, worker.Mutex) {
		return nil
	}
	found, err := replayMutex(ctx, r.run.Events)
	if err != nil {
		return err
	}
	r.Replayed = append(r.Replayed, found)
	if !found.Complete {
		r.Violations = append(r.Violations, check.Violation{Rule: "model", Lock: found.Lock, Text: found.String()})
	}
	return nil
}
