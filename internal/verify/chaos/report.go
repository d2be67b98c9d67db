package chaos

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/go-curator/curator/internal/verify/chaos/check"
	"github.com/go-curator/curator/internal/verify/chaos/history"
	"github.com/go-curator/curator/internal/verify/chaos/nemesis"
	"github.com/go-curator/curator/internal/verify/chaos/replay"
	"github.com/go-curator/curator/internal/verify/chaos/worker"
	"github.com/go-curator/curator/internal/verify/model"
)

// Report is what came of a run.
type Report struct {
	check.Result
	Config Config
	Made   map[string]int // faults, by kind
	Missed map[string]int // faults that could not be made
	Absent []string       // what this machine does not have: java, kazoo, what steps clocks
	// Misdated is how many transactions the servers have logged by a wall clock that was stepped.
	Misdated int
	// Dropped is how many transactions most servers had logged, and the ensemble has dropped.
	Dropped int
	// Settled is how long it took after the faults until everybody was served.
	Settled time.Duration
	Took    time.Duration
	// Replayed says of the locks that the model knows whether the run is a path of it.
	Replayed []replay.Result
	Log      string // the file with all events; see Keep

	run check.Run
}

// Events returns all events of the run, in the order of their times.
func (r Report) Events() []history.Event { return r.run.Events }

func newReport(c Config, judged check.Run, result check.Result) Report {
	return Report{Result: result, Config: c, run: judged}
}

// Undecided is how many locks were compared with the model without a verdict.
func (r Report) Undecided() (n int) {
	for _, f := range r.Replayed {
		if f.Verdict == model.Undecided {
			n++
		}
	}
	return n
}

// Keep reports whether somebody will want to see the log: there is a violation, or a lock on which the
// model did not decide.
func (r Report) Keep() bool { return r.Took == 0 || len(r.Violations) > 0 || r.Undecided() > 0 }

// Faults is how many faults were made.
func (r Report) Faults() int { return sum(r.Made) }

func sum(counts map[string]int) (n int) {
	for _, m := range counts {
		n += m
	}
	return n
}

// maxApart is how many are shown of what is no violation of this module's promises.
const maxApart = 3

// maxViolations is how many violations are shown in full.
const maxViolations = 10

// String returns the figures, and the violations with the events around them.
func (r Report) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "seed %d: %v under attack, %v in all; %d faults, %d holds\n", r.Config.Seed,
		r.Config.Duration, r.Took.Round(time.Second), r.Faults(), sum(r.Holds))
	fmt.Fprintf(&b, "faults: %s\n", list(r.Made))
	if len(r.Missed) > 0 {
		fmt.Fprintf(&b, "faults that could not be made: %s\n", list(r.Missed))
	}
	fmt.Fprintf(&b, "holds: %s\n", list(r.Holds))
	fmt.Fprintf(&b, "%d holds ended with a loss, %d of all were taken by hand; %d changes of registers, %d effects of items, %d snapshots\n",
		r.Losses, r.Cut, r.Writes, r.Effects, r.Snapshots)
	fmt.Fprintf(&b, "the barrier was entered %d times, %d of them by a member whose round the servers' logs show; %d times a member that left had waited for another one\n",
		r.Rounds, r.Counted, r.Waits)
	if r.Made[nemesis.WallClock] > 0 {
		fmt.Fprintf(&b, "%d transactions have the time of a wall clock that was stepped\n", r.Misdated)
	}
	if r.Dropped > 0 {
		fmt.Fprintf(&b, "%d transactions that most servers had logged were dropped when the leader changed\n", r.Dropped)
	}
	fmt.Fprintf(&b, "everybody was served %v after the faults\n", r.Settled.Round(100*time.Millisecond))
	for _, name := range r.Absent {
		fmt.Fprintf(&b, "%s is not installed, and took no part\n", name)
	}
	for _, replayed := range r.Replayed {
		if replayed.Verdict != model.Refuted { // else it is a violation
			b.WriteString(replayed.String())
		}
	}
	if !r.Config.WithoutModel && r.Config.Workers > model.MaxClients {
		fmt.Fprintf(&b, "the run was not compared with the model, which has room for %d workers\n", model.MaxClients)
	}
	apart := map[string]int{}
	for _, v := range r.Apart {
		apart[v.Rule]++
	}
	fmt.Fprintf(&b, "with clients and servers that are not ours: %s\n", list(apart))
	for _, v := range r.Apart[:min(len(r.Apart), maxApart)] {
		fmt.Fprintf(&b, "  %v\n", v)
	}
	fmt.Fprintf(&b, "violations: %d\n", len(r.Violations))
	for i, v := range r.Violations {
		if i == maxViolations {
			fmt.Fprintf(&b, "and %d more\n", len(r.Violations)-i)
			break
		}
		fmt.Fprintf(&b, "\n%v\n", v)
		if v.At != 0 {
			fmt.Fprintf(&b, "%v after the beginning; the events around it:\n", time.Duration(v.At-r.run.Events[0].At).Round(time.Millisecond))
			b.WriteString(check.Around(r.run.Events, v, 3*time.Second, 500*time.Millisecond))
		}
	}
	if r.Keep() {
		fmt.Fprintf(&b, "\nall events: %s; again, as far as chance allows: make chaos SEED=%d DURATION=%v\n", r.Log, r.Config.Seed, r.Config.Duration)
	}
	return b.String()
}

// list returns counts by name.
func list(counts map[string]int) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		parts = append(parts, fmt.Sprintf("%s %d", name, counts[name]))
	}
	if parts == nil {
		return "none"
	}
	return strings.Join(parts, ", ")
}

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
