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

// Replay says of each lock that the model knows whether a run with this log of all events is a path of it.
func Replay(ctx context.Context, log string) ([]replay.Result, error) {
	file, err := os.Open(log)
	if err != nil {
		return nil, err
	}
	var events []history.Event
	err = history.Read(file, func(e history.Event) { events = append(events, e) })
	if err := errors.Join(err, file.Close()); err != nil {
		return nil, err
	}
	return replayLocks(ctx, events)
}

// replayLocks looks for the locks of a run that the model knows, those that nobody has used left out.
func replayLocks(ctx context.Context, events []history.Event) (found []replay.Result, err error) {
	limit := replayTime
	if n := len(events); n > 0 {
		limit += events[n-1].Time(events[0].At) / 5
	}
	for _, lock := range []replay.Lock{
		{Workload: worker.Mutex, Path: root + "/" + worker.Mutex},
		{Workload: worker.Lease, Path: root + "/" + worker.Lease, Kind: model.Semaphore, Leases: worker.Leases},
		{Workload: worker.Downgrades, Path: root + "/" + worker.Downgrades, Kind: model.ReadWrite},
	} {
		if !slices.ContainsFunc(events, func(e history.Event) bool { return e.Kind == history.Begin && e.Workload == lock.Workload }) {
			continue
		}
		result, err := replay.Find(ctx, events, lock, model.Limits{Time: limit})
		if err != nil {
			return nil, err
		}
		found = append(found, result)
	}
	return found, nil
}

// replay looks for the run among the paths of the model. One that is none is a violation.
func (r *Report) replay(ctx context.Context) error {
	if r.Config.Workers > model.MaxClients {
		return nil
	}
	found, err := replayLocks(ctx, r.run.Events)
	if err != nil {
		return err
	}
	r.Replayed = found
	for _, f := range found {
		if !f.Complete {
			r.Violations = append(r.Violations, check.Violation{Rule: "model", Lock: f.Lock, Text: f.String()})
		}
	}
	return nil
}
