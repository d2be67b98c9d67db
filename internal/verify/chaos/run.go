package chaos

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/go-curator/curator/internal/verify/chaos/check"
	"github.com/go-curator/curator/internal/verify/chaos/history"
	"github.com/go-curator/curator/internal/verify/chaos/nemesis"
	"github.com/go-curator/curator/internal/verify/chaos/replay"
	"github.com/go-curator/curator/internal/verify/chaos/txnlog"
	"github.com/go-curator/curator/internal/verify/chaos/worker"
	"github.com/go-curator/curator/internal/verify/realservers"
	"github.com/go-curator/curator/internal/wait"
	"github.com/go-curator/curator/tools/curatortest"
)

// Run starts servers and workers, attacks them, and returns what was found. Its error says why
// there is no verdict; violations are in the report. It takes about half a minute longer than the
// attack. When ctx ends the attack does, and the rest takes its course.
func Run(ctx context.Context, c Config) (Report, error) { return conduct(ctx, c, nil) }

// Operation is what an operator does to the servers while the workers work, such as an upgrade.
type Operation struct {
	// Servers has more options of the servers.
	Servers []curatortest.Option
	// Do does it. It may note events of its own. Clients that it has made must have ended when it returns,
	// because what they leave counts as left over. Its error says that it could not be done: then there is
	// no verdict. It runs on one goroutine, on which alone the methods of servers may be called that fail a
	// test.
	Do func(ctx context.Context, servers *curatortest.Ensemble, note func(history.Event)) error
}

// Operate is Run with an operation in place of the nemesis: Duration, Faults and Pace say nothing. All workers
// know all servers, and have the session policy, so that a good operation costs none of them a lease.
func Operate(ctx context.Context, c Config, o Operation) (Report, error) { return conduct(ctx, c, &o) }

// conduct is Run, or Operate if there is an operation.
func conduct(ctx context.Context, c Config, o *Operation) (report Report, err error) {
	if c, err = c.defaults(); err != nil {
		return report, fmt.Errorf("chaos: %w", err)
	}
	r := &run{Config: c, stage: &stage{}, operation: o}
	begin := time.Now()
	defer func() {
		err = errors.Join(append([]error{err}, r.close(report)...)...)
		if err != nil && r.dir != "" {
			err = fmt.Errorf("%w; what the workers said is in %s", err, r.dir)
		}
	}()
	if err := r.start(ctx); err != nil {
		return report, err
	}
	made, missed, err := r.attack(ctx)
	if err != nil {
		return report, err
	}
	settled := r.settle(context.WithoutCancel(ctx))
	judged, err := r.end(context.WithoutCancel(ctx))
	if err != nil {
		return report, err
	}
	report = newReport(c, judged, check.All(judged))
	report.Made, report.Missed, report.Absent = made, missed, r.absent
	report.Settled, report.Misdated, report.Dropped, report.Log = settled, r.misdated, r.dropped, r.recorder.file.Name()
	if err := report.replay(context.WithoutCancel(ctx)); err != nil {
		return report, err
	}
	report.Took = time.Since(begin)
	return report, nil
}

// attack has the nemesis work for the duration of the run, or does the operation.
func (r *run) attack(ctx context.Context) (made, missed map[string]int, err error) {
	if r.operation != nil {
		return nil, nil, r.operate(ctx)
	}
	n, err := nemesis.New(nemesis.Target{
		Servers: r.servers, Workers: r.workers, Foreign: r.foreign, Operator: r.operator, Locks: r.lockPaths(), Clocks: r.clocks,
		Session: r.Session, Tick: r.tick(), SessionOf: r.recorder.sessionOf, Note: r.recorder.note,
	}, r.Faults, r.Seed, r.Pace)
	if err != nil {
		return nil, nil, err
	}
	attacking, cancel := context.WithTimeout(ctx, r.Duration)
	defer cancel()
	var telling sync.WaitGroup
	telling.Go(func() {
		for begin := time.Now(); wait.For(attacking, 10*time.Second) == nil; {
			r.progress("%v: %d events", time.Since(begin).Round(time.Second), r.recorder.count())
		}
	})
	n.Run(attacking)
	telling.Wait()
	made, missed = n.Made()
	return made, missed, nil
}

// operate does the operation.
func (r *run) operate(ctx context.Context) (err error) {
	broken := r.stage.try(func() { err = r.operation.Do(ctx, r.servers, r.recorder.note) })
	if broken != nil {
		return broken
	}
	return err
}

// settle heals everything, and waits until everybody is served. It returns how long that took.
func (r *run) settle(ctx context.Context) time.Duration {
	begin := time.Now()
	if err := r.stage.try(r.servers.Start); err != nil {
		r.recorder.note(failed("start the servers: %v", err))
	}
	for _, m := range r.foreign { // a client that has lost a node in a living session holds others up
		m.Kill()
	}
	for _, m := range slices.Concat(r.workers, r.foreign) {
		if err := m.Start(); err != nil {
			r.recorder.note(failed("start %s: %v", m.Name(), err))
		}
	}
	demands := ""
	for _, m := range r.workers {
		for _, w := range m.Workloads() {
			demands += " " + check.Demand(m.Name(), w)
		}
	}
	r.recorder.note(history.Event{At: history.Now(), Kind: history.Quiet, Text: demands})
	r.progress("the faults are over")
	stored := r.recorder.stored()
	ctx, cancel := context.WithTimeout(ctx, r.Slack)
	defer cancel()
	for wait.For(ctx, 250*time.Millisecond) == nil {
		if len(check.Unserved(r.recorder.since(history.Quiet))) == 0 && r.drained(ctx, stored) {
			break
		}
	}
	return time.Since(begin)
}

// end has the workers end, and looks at what there is then.
func (r *run) end(ctx context.Context) (check.Run, error) {
	r.recorder.note(history.Event{At: history.Now(), Kind: history.Last})
	var ending sync.WaitGroup
	for _, m := range slices.Concat(r.workers, r.foreign) {
		ending.Go(func() {
			if err := m.End(r.Slack); err != nil {
				r.recorder.note(history.Event{At: history.Now(), Kind: history.Failed, Process: m.Name(), Text: err.Error()})
			}
		})
	}
	ending.Wait()
	r.progress("the workers have ended")
	judged := check.Run{Slack: r.Slack, MaxHeap: maxHeap}
	if err := r.inspect(ctx, &judged); err != nil {
		return judged, fmt.Errorf("look at what is left: %w", err)
	}
	if err := r.noteCommitted(); err != nil {
		return judged, fmt.Errorf("read the servers' logs: %w", err)
	}
	judged.Events = r.recorder.all()
	return judged, r.recorder.log.Err()
}

// close ends everything that still runs. It removes files that nobody needs.
func (r *run) close(report Report) []error {
	var errs []error
	for _, m := range slices.Concat(r.workers, r.foreign) {
		if err := m.End(time.Second); err != nil && len(report.Violations) == 0 {
			errs = append(errs, err)
		}
	}
	realservers.Close(context.Background(), r.operator) // the servers end next
	errs = append(errs, r.stage.end()...)
	if r.store != nil {
		errs = append(errs, r.store.Close())
	}
	if r.recorder != nil {
		errs = append(errs, r.recorder.close())
	}
	if report.Keep() {
		return errs
	}
	if r.Log == "" {
		errs = append(errs, os.Remove(r.recorder.file.Name()))
	}
	return append(errs, os.RemoveAll(r.dir))
}

// noteCommitted adds what the servers have committed about the locks and the barrier.
func (r *run) noteCommitted() error {
	var dirs []string
	for _, m := range r.servers.Members() {
		dirs = append(dirs, m.DataDir())
	}
	txns, dropped, err := txnlog.Committed(dirs)
	if err != nil {
		return err
	}
	r.dropped = len(dropped)
	offset := time.Now().UnixNano() - history.Now()
	right := replay.RightTimes(txns, r.recorder.all(), offset)
	for i, t := range right {
		if t.Time != txns[i].Time {
			r.misdated++
		}
	}
	for _, e := range replay.Committed(right, append(r.lockPaths(), root+"/"+worker.Barrier), offset) {
		r.recorder.note(e)
	}
	return nil
}
