package bench

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/go-curator/curator/tools/bench/internal/measure"
	"github.com/go-curator/curator/tools/bench/internal/wire"
)

// openFunc opens a session. The counter counts what it sends and receives.
type openFunc func(ctx context.Context, address string, timeout time.Duration, counter *wire.Counter) (session, error)

// sessionTimeout is what the sessions ask for that are not meant to end.
const sessionTimeout = 40 * time.Second

// local is a peer in this process: ours, and the clients in Go that it is compared with.
type local struct {
	name        string
	address     string
	heapProfile string // where to write one while many wait; "" for nowhere
	open        openFunc
	counter     wire.Counter

	mu       sync.Mutex
	sessions []session // stay open between workloads
}

// run does a workload. If that does not end in time the sessions are closed under it: some
// clients wait for a lock whatever the context says.
func (l *local) run(ctx context.Context, w workload, path string, t timing) (measure.Run, error) {
	if w.local == nil {
		return measure.Run{}, errUnsupported
	}
	defer context.AfterFunc(ctx, func() { _ = l.close() })() // the run fails anyway
	return w.local(ctx, l, w, path, t)
}

// close ends the sessions.
func (l *local) close() error {
	l.mu.Lock()
	sessions := l.sessions
	l.sessions = nil
	l.mu.Unlock()
	var errs []error
	for _, s := range sessions {
		errs = append(errs, s.close())
	}
	return errors.Join(errs...)
}

// connect returns n sessions. It is called by one goroutine at a time.
func (l *local) connect(ctx context.Context, n int) ([]session, error) {
	for {
		l.mu.Lock()
		sessions := l.sessions
		l.mu.Unlock()
		if len(sessions) >= n {
			return sessions[:n], nil
		}
		s, err := l.open(ctx, l.address, sessionTimeout, &l.counter)
		if err != nil {
			return nil, fmt.Errorf("open a session: %w", err)
		}
		l.mu.Lock()
		l.sessions = append(l.sessions, s)
		l.mu.Unlock()
	}
}

// locks returns a lock for each of n users, who share the sessions evenly; at says where
// each of them has it.
func (l *local) locks(ctx context.Context, sessions, n int, kind lockKind, leases int, at func(i int) string) ([]lock, error) {
	opened, err := l.connect(ctx, sessions)
	if err != nil {
		return nil, err
	}
	all := make([]lock, n)
	for i := range all {
		if all[i], err = opened[i%sessions].lock(kind, at(i), leases); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// measured calls do, which returns how many operations it did and how long each took, and
// returns what they cost.
func (l *local) measured(do func() (operations int, latencies []time.Duration, err error)) (measure.Run, error) {
	wireBefore, costBefore, start := l.counter.Total(), measure.Spent(), time.Now()
	operations, latencies, err := do()
	run := measure.Run{Operations: operations, Elapsed: time.Since(start)}
	cost, traffic := measure.Spent().Sub(costBefore), l.counter.Total().Sub(wireBefore)
	run.Cost, run.Wire = &cost, &traffic
	run.Latency = measure.Summarize(latencies)
	return run, err
}
