package bench

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/tools/bench/internal/measure"
	"github.com/go-curator/curator/tools/bench/internal/results"
)

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

// reentry re-enters a lock that is held.
func reentry(ctx context.Context, l *local, _ workload, path string, t timing) (measure.Run, error) {
	return underHolder(ctx, l, path, func(held lease, again, _ lock) (measure.Run, error) {
		outer, ok := held.(reentrant)
		if !ok {
			return measure.Run{}, errUnsupported
		}
		return l.cycles(ctx, []lock{within{again, outer.Context()}}, t)
	})
}

// within is a lock that is acquired with a fixed context.
type within struct {
	lock
	ctx context.Context // is what is measured
}

func (w within) Acquire(context.Context) (lease, error) { return w.lock.Acquire(w.ctx) }

// tryFree acquires a free lock without waiting.
func tryFree(ctx context.Context, l *local, _ workload, path string, t timing) (measure.Run, error) {
	locks, err := l.locks(ctx, 1, 1, mutex, 0, func(int) string { return path })
	if err != nil {
		return measure.Run{}, err
	}
	asked, ok := locks[0].(tryLocker)
	if !ok {
		return measure.Run{}, errUnsupported
	}
	return l.cycles(ctx, []lock{tried{asked, true}}, t)
}

// tryBusy tries without waiting to acquire a lock that somebody else holds.
func tryBusy(ctx context.Context, l *local, _ workload, path string, t timing) (measure.Run, error) {
	return underHolder(ctx, l, path, func(_ lease, _, other lock) (measure.Run, error) {
		asked, ok := other.(tryLocker)
		if !ok {
			return measure.Run{}, errUnsupported
		}
		return l.cycles(ctx, []lock{tried{asked, false}}, t)
	})
}

// tried is a lock that is acquired without waiting. It must always be free, or never.
type tried struct {
	tryLocker
	free bool
}

func (t tried) Acquire(ctx context.Context) (lease, error) {
	held, err := t.tryAcquire(ctx)
	switch {
	case err != nil:
		return nil, err
	case (held != nil) != t.free:
		return nil, errors.New("the lock is free although it should not be, or the other way round")
	case held == nil:
		return nothing{}, nil
	}
	return held, nil
}

// nothing is the lease of a lock that was not free.
type nothing struct{}

func (nothing) Release(context.Context) error { return nil }

// underHolder calls do while a lock is held. again is the lock in the holder's session, and other in
// another session.
func underHolder(ctx context.Context, l *local, path string, do func(held lease, again, other lock) (measure.Run, error)) (measure.Run, error) {
	locks, err := l.locks(ctx, 2, 3, mutex, 0, func(int) string { return path })
	if err != nil {
		return measure.Run{}, err
	}
	held, err := locks[0].Acquire(ctx)
	if err != nil {
		return measure.Run{}, err
	}
	run, err := do(held, locks[2], locks[1])
	return run, errors.Join(err, held.Release(ctx))
}

// throughput lets goroutines of one client read one node. An operation is one read. The peer raw sends
// many reads in one write, which shows the limit of the server.
func throughput(ctx context.Context, l *local, w workload, _ string, t timing) (measure.Run, error) {
	sessions, err := l.connect(ctx, 1)
	if err != nil {
		return measure.Run{}, err
	}
	const node = "/zookeeper" // every server has it
	var read reads
	switch conn := sessions[0].conn.(type) {
	case *rawConn:
		burst := reads(func(context.Context) error { return conn.burst(node, w.waiters) })
		run, err := l.cycles(ctx, []lock{burst}, t)
		run.Operations *= w.waiters
		return run, err
	case *zk.Conn:
		read = func(context.Context) error { _, _, err := conn.Get(node); return err }
	case *framework.Client:
		read = func(ctx context.Context) error { _, err := conn.GetData().ForPath(ctx, node); return err }
	}
	if l.name != "floor" && l.name != results.Ours { // other sessions are of the same clients
		return measure.Run{}, errUnsupported
	}
	return l.cycles(ctx, slices.Repeat([]lock{read}, w.waiters), t)
}

// reads is a lock whose Acquire only reads.
type reads func(ctx context.Context) error

func (r reads) Acquire(ctx context.Context) (lease, error) { return nothing{}, r(ctx) }
