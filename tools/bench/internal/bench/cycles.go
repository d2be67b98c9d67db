package bench

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/go-curator/curator/tools/bench/internal/measure"
)

// timing has the durations of a turn.
type timing struct{ warmUp, duration time.Duration }

// onOnePath returns a workload in which all clients use one lock.
func onOnePath(kind lockKind) localRun {
	return func(ctx context.Context, l *local, w workload, path string, t timing) (measure.Run, error) {
		locks, err := l.locks(ctx, w.clients, w.clients, kind, w.leases, func(int) string { return path })
		if err != nil {
			return measure.Run{}, err
		}
		return l.cycles(ctx, locks, t)
	}
}

// inOneSession returns a workload in which all clients are goroutines of one session.
func inOneSession(kind lockKind) localRun {
	return func(ctx context.Context, l *local, w workload, path string, t timing) (measure.Run, error) {
		locks, err := l.locks(ctx, 1, w.clients, kind, w.leases, func(int) string { return path })
		if err != nil {
			return measure.Run{}, err
		}
		return l.cycles(ctx, locks, t)
	}
}

// onPathsOfTheirOwn lets each client use its own lock.
func onPathsOfTheirOwn(ctx context.Context, l *local, w workload, path string, t timing) (measure.Run, error) {
	at := func(i int) string { return fmt.Sprintf("%s/%d", path, i) }
	locks, err := l.locks(ctx, w.clients, w.clients, uncontended, 0, at)
	if err != nil {
		return measure.Run{}, err
	}
	return l.cycles(ctx, locks, t)
}

// readsAndWrites lets the clients acquire the read lock, and sometimes the write lock.
func readsAndWrites(ctx context.Context, l *local, w workload, path string, t timing) (measure.Run, error) {
	at := func(int) string { return path }
	readers, err := l.locks(ctx, w.clients, w.clients, readLock, 0, at)
	if err != nil {
		return measure.Run{}, err
	}
	writers, err := l.locks(ctx, w.clients, w.clients, writeLock, 0, at)
	if err != nil {
		return measure.Run{}, err
	}
	locks := make([]lock, w.clients)
	for i := range locks {
		locks[i] = mixed{readers[i], writers[i], w.writes}
	}
	return l.cycles(ctx, locks, t)
}

// mixed is two locks, of which each Acquire acquires a random one.
type mixed struct {
	reader, writer lock
	writes         int // percentage of writes
}

func (m mixed) Acquire(ctx context.Context) (lease, error) {
	if rand.IntN(100) < m.writes {
		return m.writer.Acquire(ctx)
	}
	return m.reader.Acquire(ctx)
}

// cycles measures the acquisition and release of locks, each by its own goroutine. An operation is an
// acquisition and a release.
func (l *local) cycles(ctx context.Context, locks []lock, t timing) (measure.Run, error) {
	if _, err := cycle(ctx, locks, t.warmUp, measure.NewRecorders(len(locks))); err != nil {
		return measure.Run{}, err
	}
	recorders := measure.NewRecorders(len(locks))
	return l.measured(func() (int, []time.Duration, error) {
		operations, err := cycle(ctx, locks, t.duration, recorders)
		return operations, measure.Merge(recorders), err
	})
}

// cycle acquires and releases locks until the time is over or ctx ends.
func cycle(ctx context.Context, locks []lock, duration time.Duration, recorders []*measure.Recorder) (operations int, err error) {
	counts, errs := make([]int, len(locks)), make([]error, len(locks))
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	end := time.Now().Add(duration)
	var wg sync.WaitGroup
	for i, lock := range locks {
		wg.Go(func() {
			for begin := time.Now(); begin.Before(end); {
				if errs[i] = once(ctx, lock); errs[i] != nil {
					cancel() // ends the others
					return
				}
				now := time.Now()
				recorders[i].Add(now.Sub(begin))
				begin = now
				counts[i]++
			}
		})
	}
	wg.Wait()
	for _, n := range counts {
		operations += n
	}
	return operations, errors.Join(errs...)
}

// once acquires a lock and releases it.
func once(ctx context.Context, l lock) error {
	held, err := l.Acquire(ctx)
	if err != nil {
		return err
	}
	return held.Release(ctx)
}
