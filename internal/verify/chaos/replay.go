package chaos

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-curator/curator/internal/verify/chaos/check"
	"github.com/go-curator/curator/internal/verify/chaos/history"
	"github.com/go-curator/curator/internal/verify/chaos/replay"
	"github.com/go-curator/curator/internal/verify/chaos/worker"
	"github.com/go-curator/curator/internal/verify/model"
)

// Replay compares each lock that the model knows, in a run with this log of all events, with the model. It
// writes what the log says of each into a file of the folder thin, if that is not empty.
func Replay(ctx context.Context, log, thin string) ([]replay.Result, error) {
	file, err := os.Open(log)
	if err != nil {
		return nil, err
	}
	var events []history.Event
	err = history.Read(file, func(e history.Event) { events = append(events, e) })
	if err := errors.Join(err, file.Close()); err != nil {
		return nil, err
	}
	if thin != "" {
		name, _, _ := strings.Cut(filepath.Base(log), ".")
		for _, lock := range replayable(events) {
			path := filepath.Join(thin, fmt.Sprintf("%s-%s.jsonl.gz", lock.Workload, name))
			if err := writeLog(path, replay.Thin(events, lock)); err != nil {
				return nil, err
			}
		}
	}
	return replayLocks(ctx, events)
}

// writeLog writes events into a compressed file.
func writeLog(path string, events []history.Event) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	lines := gzip.NewWriter(file)
	log := history.NewLog(lines)
	for _, e := range events {
		log.Add(e)
	}
	return errors.Join(log.Err(), lines.Close(), file.Close())
}

// replayable returns the locks of a run that the model knows, those that nobody has used left out.
func replayable(events []history.Event) []replay.Lock {
	return slices.DeleteFunc([]replay.Lock{
		{Workload: worker.Mutex, Path: root + "/" + worker.Mutex},
		{Workload: worker.Lease, Path: root + "/" + worker.Lease, Kind: model.Semaphore, Leases: worker.Leases},
		{Workload: worker.Downgrades, Path: root + "/" + worker.Downgrades, Kind: model.ReadWrite},
	}, func(lock replay.Lock) bool {
		return !slices.ContainsFunc(events, func(e history.Event) bool { return e.Kind == history.Begin && e.Workload == lock.Workload })
	})
}

// replayLocks compares these locks with the model.
func replayLocks(ctx context.Context, events []history.Event) (found []replay.Result, err error) {
	for _, lock := range replayable(events) {
		result, err := replay.Find(ctx, events, lock, 0)
		if err != nil {
			return nil, err
		}
		found = append(found, result)
	}
	return found, nil
}

// replay looks for the run among the paths of the model. One that is none is a violation; one of which
// that is not known is not.
func (r *Report) replay(ctx context.Context) error {
	if r.Config.WithoutModel || r.Config.Workers > model.MaxClients {
		return nil
	}
	found, err := replayLocks(ctx, r.run.Events)
	if err != nil {
		return err
	}
	r.Replayed = found
	for _, f := range found {
		if f.Verdict == model.Refuted {
			r.Violations = append(r.Violations, check.Violation{Rule: "model", Lock: f.Lock, Text: f.String()})
		}
	}
	return nil
}
