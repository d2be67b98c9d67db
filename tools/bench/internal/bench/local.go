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

// openFunc opens a session. The counter counts the bytes and requests on its connections.
type openFunc func(ctx context.Context, address string, timeout time.Duration, counter *wire.Counter) (session, error)

// sessionTimeout is the timeout of sessions that should not expire.
const sessionTimeout = 40 * time.Second

// local is a peer in this process: ours, or another client in Go.
type local struct {
	name        string
	address     string
	heapProfile string // the file for a heap profile while many goroutines wait; "" for none
	open        openFunc
	counter     wire.Counter

	mu       sync.Mutex
	sessions []session // they stay open between workloads
}

// run runs a workload. When ctx ends first, run closes the sessions, because some clients wait for a
// lock without a context.
func (l *local) run(ctx context.Context, w workload, path string, t timing) (measure.Run, error) {
	if w.local == nil {
		return measure.Run{}, errUnsupported
	}
	defer context.AfterFunc(ctx, func() { _ = l.close() })() // run returns an error anyway
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

// connect returns n sessions. It must be called by only one goroutine at a time.
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

// locks returns n locks, which share the sessions evenly. at returns the path of each lock.
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

// measured calls do, and returns its operations and latencies together with their cost.
func (l *local) measured(do func() (operations int, latencies []time.Duration, err error)) (measure.Run, error) {
	wireBefore, costBefore, start := l.counter.Total(), measure.Spent(), time.Now()
	operations, latencies, err := do()
	run := measure.Run{Operations: operations, Elapsed: time.Since(start)}
	cost, traffic := measure.Spent().Sub(costBefore), l.counter.Total().Sub(wireBefore)
	run.Cost, run.Wire = &cost, &traffic
	run.Latency = measure.Summarize(latencies)
	return run, err
}
