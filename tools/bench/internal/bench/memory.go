package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime/pprof"
	"sync"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/go-curator/curator/recipes/leader"
	"github.com/go-curator/curator/tools/bench/internal/measure"
)

// waitersEach is the number of waiters for the same lock when their memory is measured. With a single
// queue of 10,000, the lists of its nodes would dominate the result.
const waitersEach = 100

// acquirers is the number of goroutines that acquire many locks.
const acquirers = 64

// waitMemory lets many goroutines of one session wait, and measures the memory of this process for
// each of them. An operation is the beginning of a wait.
func waitMemory(ctx context.Context, l *local, w workload, path string, _ timing) (measure.Run, error) {
	q, err := l.queue(ctx, mutex, 1, max(1, w.waiters/waitersEach), w.waiters, path)
	if err != nil {
		return measure.Run{}, err
	}
	if err := q.close(ctx); err != nil {
		return measure.Run{}, errors.Join(err, q.dissolve(ctx))
	}
	before := measure.Live()
	run, err := l.measured(func() (int, []time.Duration, error) {
		q.wait(ctx)
		return w.waiters, nil, q.settled(ctx)
	})
	run.Memory = measure.Live().Each(before, w.waiters)
	return run, errors.Join(err, l.writeHeapProfile(), q.dissolve(ctx))
}

// writeHeapProfile writes a heap profile if -memprofile is set.
func (l *local) writeHeapProfile() error {
	if l.heapProfile == "" {
		return nil
	}
	f, err := os.Create(l.heapProfile)
	if err != nil {
		return err
	}
	return errors.Join(pprof.WriteHeapProfile(f), f.Close())
}

// holdMany lets one session hold many locks, and measures the memory of this process for each of them.
// An operation is the acquisition of a lock, which also creates the lock's parent node.
func holdMany(ctx context.Context, l *local, w workload, path string, _ timing) (measure.Run, error) {
	at := func(i int) string { return fmt.Sprintf("%s/%d", path, i) }
	locks, err := l.locks(ctx, 1, w.waiters, mutex, 0, at)
	if err != nil {
		return measure.Run{}, err
	}
	held := make([]lease, len(locks))
	latencies := make([]time.Duration, len(locks))
	before := measure.Live()
	run, err := l.measured(func() (int, []time.Duration, error) {
		err := divided(len(locks), func(i int) (err error) {
			begin := time.Now()
			held[i], err = locks[i].Acquire(ctx)
			latencies[i] = time.Since(begin)
			return err
		})
		return len(locks), latencies, err
	})
	run.Memory = measure.Live().Each(before, len(locks))
	return run, errors.Join(err, divided(len(locks), func(i int) error {
		if held[i] == nil {
			return nil
		}
		return held[i].Release(ctx)
	}))
}

// divided calls do for 0 to n-1 on acquirers goroutines. Each goroutine ends at its first error.
func divided(n int, do func(i int) error) error {
	errs := make([]error, acquirers)
	var wg sync.WaitGroup
	for g := range acquirers {
		wg.Go(func() {
			for i := g; i < n && errs[g] == nil; i += acquirers {
				errs[g] = do(i)
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

// latchMemory starts many leader latches of one session, most of which wait, and measures the memory
// of this process for each of them. An operation is a Start.
func latchMemory(ctx context.Context, l *local, w workload, path string, _ timing) (measure.Run, error) {
	clients, err := l.ours(ctx, 1)
	if err != nil {
		return measure.Run{}, err
	}
	latches := make([]*leader.LeaderLatch, w.waiters)
	latencies := make([]time.Duration, w.waiters)
	before := measure.Live()
	run, err := l.measured(func() (int, []time.Duration, error) {
		err := divided(len(latches), func(i int) (err error) {
			begin := time.Now()
			latches[i], err = startLatch(ctx, clients[0], fmt.Sprintf("%s/%d", path, i/waitersEach))
			latencies[i] = time.Since(begin)
			return err
		})
		return len(latches), latencies, err
	})
	if err == nil {
		err = l.settled(ctx, nil)
	}
	run.Memory = measure.Live().Each(before, len(latches))
	return run, errors.Join(err, l.writeHeapProfile(), divided(len(latches), func(i int) error {
		if latches[i] == nil {
			return nil
		}
		return latches[i].Close(ctx)
	}))
}

// quiet is the time without requests, but for a ping, after which no more are expected. In it as many requests of
// another client must be answered as there are looks, so that it does not pass while a busy machine has no time for
// anybody.
const (
	quiet      = 200 * time.Millisecond
	quietLooks = 10
)

// settled returns when ready, if it is not nil, reports true, and the peer sends no more requests.
func (l *local) settled(ctx context.Context, ready func(conn *zk.Conn) (bool, error)) (err error) {
	conn, end, err := dialDriver(ctx, l.address, sessionTimeout, new(measure.Counter))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, end()) }()
	looks := time.NewTicker(quiet / quietLooks)
	defer looks.Stop()
	last := int64(-1)
	for unchanged := 0; ; unchanged++ {
		if _, _, err := conn.Exists("/"); err != nil {
			return err
		}
		sent := l.counter.Total().Sent
		ok := sent == last
		if ok && ready != nil {
			if ok, err = ready(conn); err != nil {
				return err
			}
		}
		if !ok {
			last, unchanged = sent, 0
		}
		if unchanged == quietLooks {
			return nil
		}
		select {
		case <-looks.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
