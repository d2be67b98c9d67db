package worker

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/go-curator/curator/internal/verify/chaos/history"
	"github.com/go-curator/curator/recipes/locks"
)

// lockDelay is the delay of the lock that has one.
const lockDelay = 700 * time.Millisecond

// repeat acquires, holds and releases until ctx ends.
func (w *worker) repeat(ctx context.Context, random *rand.Rand, next func() attempt) error {
	for w.pause(ctx, random) {
		w.try(ctx, random, next())
	}
	return nil
}

// repeatMutex is repeat for one mutex. Now and then it tries, and does not wait.
func (w *worker) repeatMutex(ctx context.Context, random *rand.Rand, a attempt, opts ...locks.MutexOption) error {
	a.paths, a.mode = []string{w.Root + "/" + a.workload}, history.Exclusive
	mutex, err := locks.NewInterProcessMutex(w.client, a.paths[0], opts...)
	if err != nil {
		return err
	}
	return w.repeat(ctx, random, func() attempt {
		a.acquire = either(random, mutex)
		return a
	})
}

// either returns a method of the lock, mostly the one that waits.
func either(random *rand.Rand, lock locks.InterProcessLock) func(ctx context.Context) (*locks.Lease, error) {
	if random.IntN(10) == 0 {
		return lock.TryAcquire
	}
	return lock.Acquire
}

func runMutex(ctx context.Context, w *worker, random *rand.Rand) error {
	return w.repeatMutex(ctx, random, attempt{workload: Mutex, during: writeFenced(Mutex)})
}

func runHandover(ctx context.Context, w *worker, random *rand.Rand) error {
	return w.repeatMutex(ctx, random, attempt{workload: Handover, during: writeFenced(Handover)}, locks.WithLocalHandover(6))
}

func runLockDelay(ctx context.Context, w *worker, random *rand.Rand) error {
	return w.repeatMutex(ctx, random, attempt{workload: LockDelay, delay: lockDelay}, locks.WithLockDelay(lockDelay))
}

func runJavaMutex(ctx context.Context, w *worker, random *rand.Rand) error {
	return w.repeatMutex(ctx, random, attempt{workload: JavaMutex})
}

func runKazooMutex(ctx context.Context, w *worker, random *rand.Rand) error {
	return w.repeatMutex(ctx, random, attempt{workload: KazooMutex}, locks.WithDriver(kazooDriver{}))
}

// kazooDriver takes the nodes of kazoo's lock for contenders, too.
type kazooDriver struct {
	locks.StandardLockInternalsDriver
}

// FixForSorting returns the number of a node of Curator or kazoo.
func (d kazooDriver) FixForSorting(name, lockName string) string {
	if order := d.StandardLockInternalsDriver.FixForSorting(name, lockName); order != "" {
		return order
	}
	return d.StandardLockInternalsDriver.FixForSorting(name, "__lock__")
}

// runMulti acquires two mutexes as one, or the second of them alone.
func runMulti(ctx context.Context, w *worker, random *rand.Rand) error {
	paths := []string{w.Root + "/multi-a", w.Root + "/multi-b"}
	var parts []locks.InterProcessLock
	for _, path := range paths {
		mutex, err := locks.NewInterProcessMutex(w.client, path)
		if err != nil {
			return err
		}
		parts = append(parts, mutex)
	}
	both, err := locks.NewInterProcessMultiLock(parts...)
	if err != nil {
		return err
	}
	guarded := writeGuarded(w.Root + RegistersNode + "/" + Multi)
	return w.repeat(ctx, random, func() attempt {
		if random.IntN(3) == 0 {
			return attempt{workload: Multi, paths: paths[1:], mode: history.Exclusive, acquire: either(random, parts[1])}
		}
		return attempt{workload: Multi, paths: paths, mode: history.Exclusive, acquire: either(random, both), during: guarded}
	})
}
