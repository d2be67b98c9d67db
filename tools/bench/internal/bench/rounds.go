package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/go-curator/curator/tools/bench/internal/measure"
	"github.com/go-curator/curator/tools/bench/internal/results"
)

// patience is how much longer than planned a turn may take.
const patience = 3 * time.Minute

// bench runs workloads with peers.
type bench struct {
	services *services
	timing   timing
	rounds   int
	progress io.Writer

	started map[string]peer // nil for peers that cannot be started
	failed  int             // the number of failed turns
	file    *results.File
}

// run runs the workloads with the peers in turns. If a turn of a peer fails, that is recorded, and the
// other peers continue.
func (b *bench) run(ctx context.Context, workloads []workload, kinds []PeerKind) error {
	for _, w := range workloads {
		b.file.Workloads = append(b.file.Workloads, results.Workload{Name: w.name, About: w.about, Clients: w.clients, Waiters: w.waiters})
		without := map[string]bool{} // the peers that do not have this workload, or have failed
		for round := range b.rounds {
			for i := range kinds {
				kind := kinds[(i+round)%len(kinds)] // so that no peer always follows the same one
				if ctx.Err() != nil {
					return ctx.Err()
				}
				if !without[kind.name] {
					without[kind.name] = !b.turn(ctx, w, kind, round)
				}
			}
		}
	}
	if b.failed > 0 {
		return fmt.Errorf("%d turns have failed: see the section Absent of the report", b.failed)
	}
	return ctx.Err()
}

// turn runs a workload once with a peer. It returns false if the peer has no more turns of the
// workload.
func (b *bench) turn(ctx context.Context, w workload, kind PeerKind, round int) bool {
	p := b.peer(ctx, kind)
	if p == nil {
		return false
	}
	bounded, cancel := context.WithTimeout(ctx, b.timing.warmUp+b.timing.duration+patience)
	defer cancel()
	run, err := b.repeat(bounded, p, w, fmt.Sprintf("/bench/%s/%s/%d", w.name, kind.name, round))
	switch {
	case errors.Is(err, errUnsupported):
		return false
	case err != nil && ctx.Err() != nil: // the benchmark was interrupted; the peer has not failed
		return false
	case err != nil:
		b.failed++
		b.absent(kind.name, w.name, fmt.Sprintf("failed in round %d: %v", round+1, err))
		return false
	}
	b.file.Turns = append(b.file.Turns, results.Turn{Workload: w.name, Peer: kind.name, Round: round, Run: run})
	_, _ = fmt.Fprintf(b.progress, "%-14s %-12s round %d: %9.1f/s, p50 %v\n", w.name, kind.name, round+1, run.Rate(), run.Latency.P50.Round(time.Microsecond))
	return true
}

// maxRepeats bounds how often a short workload is run in a turn.
const maxRepeats = 10

// repeat runs a workload. A short workload is run repeatedly until the measured time is as long as a
// turn. The percentiles are then the medians of the runs.
func (b *bench) repeat(ctx context.Context, p peer, w workload, path string) (measure.Run, error) {
	if !w.repeat {
		return p.run(ctx, w, path, b.timing)
	}
	var runs []measure.Run
	t := b.timing
	for i, spent := 0, time.Duration(0); i < maxRepeats && spent < t.duration; i++ {
		run, err := p.run(ctx, w, fmt.Sprintf("%s/%d", path, i), t)
		if err != nil {
			return measure.Run{}, err
		}
		t.warmUp = 0 // only the first run needs one
		spent += run.Elapsed
		runs = append(runs, run)
	}
	return measure.Sum(runs), nil
}

// peer returns a peer. It starts the peer at its first turn, and returns nil if that fails.
func (b *bench) peer(ctx context.Context, kind PeerKind) peer {
	p, tried := b.started[kind.name]
	if tried {
		return p
	}
	bounded, cancel := context.WithTimeout(ctx, b.services.warmUp+patience)
	defer cancel()
	p, err := kind.start(bounded, b.services)
	if err != nil && ctx.Err() != nil {
		return nil
	}
	if err != nil {
		b.absent(kind.name, "", err.Error())
		p = nil
	}
	b.started[kind.name] = p
	return p
}

// absent records why there are no results.
func (b *bench) absent(peer, workload, reason string) {
	b.file.Absent = append(b.file.Absent, results.Absent{Peer: peer, Workload: workload, Reason: reason})
	_, _ = fmt.Fprintf(b.progress, "absent: %s %s: %s\n", peer, workload, reason)
}

// close ends the peers.
func (b *bench) close() error {
	var errs []error
	for name, p := range b.started {
		if p == nil {
			continue
		}
		if err := p.close(); err != nil {
			errs = append(errs, fmt.Errorf("end %s: %w", name, err))
		}
	}
	return errors.Join(errs...)
}
