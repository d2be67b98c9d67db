package worker

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/go-curator/curator/internal/verify/chaos/history"
	"github.com/go-curator/curator/recipes/leader"
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

// readWriter uses a read-write lock.
type readWriter struct {
	*worker
	random *rand.Rand
	lock   *locks.InterProcessReadWriteLock
	read   attempt
	write  attempt
}

// runReadWrite returns a workload of readers and writers. Writers become readers in those that
// Java does not share: Java 5.4.0 lets others in then.
func runReadWrite(workload string) func(ctx context.Context, w *worker, random *rand.Rand) error {
	return func(ctx context.Context, w *worker, random *rand.Rand) error {
		path := w.Root + "/" + workload
		lock, err := locks.NewInterProcessReadWriteLock(w.client, path)
		if err != nil {
			return err
		}
		r := &readWriter{
			worker: w, random: random, lock: lock,
			read:  attempt{workload: workload, paths: []string{path}, mode: history.Shared},
			write: attempt{workload: workload, paths: []string{path}, mode: history.Exclusive},
		}
		if workload == ReadWrite {
			r.write.during = writeGuarded(w.Root + RegistersNode + "/" + workload)
		}
		for w.pause(ctx, random) {
			r.read.acquire, r.write.acquire = either(random, lock.ReadLock()), either(random, lock.WriteLock())
			switch n := random.IntN(10); {
			case n < 5:
				w.try(ctx, random, r.read)
			case n < 8 || workload == JavaRW:
				w.try(ctx, random, r.write)
			default:
				r.downgrade(ctx)
			}
		}
		return nil
	}
}

// downgrade acquires the write lock, and goes on as a reader.
func (r *readWriter) downgrade(ctx context.Context) {
	write := r.grant(ctx, patience(r.random), r.write)
	if write == nil {
		return
	}
	if write.during != nil {
		write.during(ctx, write)
	}
	write.keep(ctx, length(r.random))
	write.w.note(history.Event{Kind: history.Release, Workload: write.workload, Op: write.op})
	down := r.read
	down.acquire = func(ctx context.Context) (*locks.Lease, error) { return r.lock.Downgrade(ctx, write.lease) }
	const patience = 5 * time.Second
	read := r.grantAfterLoss(ctx, patience, down, write)
	if read == nil {
		write.release(ctx)
		return
	}
	write.released(nil)
	read.keep(ctx, length(r.random))
	read.release(ctx)
}

// grantAfterLoss is grant for a downgrade, which fails if the write lock was lost.
func (r *readWriter) grantAfterLoss(ctx context.Context, patience time.Duration, a attempt, write *hold) *hold {
	if write.lease.Err() != nil {
		return nil
	}
	acquire := a.acquire
	a.acquire = func(ctx context.Context) (*locks.Lease, error) {
		lease, err := acquire(ctx)
		if err != nil && write.lease.Err() != nil {
			return nil, context.Canceled // the loss explains it
		}
		return lease, err
	}
	return r.grant(ctx, patience, a)
}

// runSemaphore returns a workload that takes one lease, and in Semaphore sometimes all of them.
func runSemaphore(workload string) func(ctx context.Context, w *worker, random *rand.Rand) error {
	return func(ctx context.Context, w *worker, random *rand.Rand) error {
		path := w.Root + "/" + workload
		semaphore, err := locks.NewInterProcessSemaphore(w.client, path, Leases)
		if err != nil {
			return err
		}
		return w.repeat(ctx, random, func() attempt {
			a := attempt{workload: workload, paths: []string{path}, mode: history.Shared, max: Leases}
			if workload == Semaphore && random.IntN(4) == 0 {
				a.acquire = func(ctx context.Context) (*locks.Lease, error) { return semaphore.AcquireN(ctx, Leases) }
			} else {
				a.acquire = either(random, semaphore)
			}
			return a
		})
	}
}

// runJavaLeases takes one lease of a semaphore that Java shares.
func runJavaLeases(ctx context.Context, w *worker, random *rand.Rand) error {
	path := w.Root + "/" + JavaLeases
	semaphore, err := locks.NewInterProcessSemaphoreV2(w.client, path, Leases)
	if err != nil {
		return err
	}
	return w.repeat(ctx, random, func() attempt {
		return attempt{workload: JavaLeases, paths: []string{path}, mode: history.Shared, max: Leases, acquire: either(random, semaphore)}
	})
}

const (
	// startTimeout bounds how long a latch may take to join.
	startTimeout = 10 * time.Second
	// terms is how many terms a latch has on average before it is closed.
	terms = 10
)

// runLatch leads now and then, with one latch after the other.
func runLatch(ctx context.Context, w *worker, random *rand.Rand) error {
	path := w.Root + "/" + Latch
	for w.pause(ctx, random) {
		latch, err := leader.NewLeaderLatch(w.client, path, leader.WithID(w.Name))
		if err != nil {
			return err
		}
		starting, cancel := context.WithTimeout(ctx, startTimeout)
		err = latch.Start(starting)
		cancel()
		if err != nil {
			if !expected(err) {
				w.fail(Latch, 0, "start: %v", err)
			}
			continue
		}
		a := attempt{
			workload: Latch, paths: []string{path}, mode: history.Exclusive, acquire: latch.Await,
			during: writeGuarded(w.Root + RegistersNode + "/" + Latch),
		}
		for random.IntN(terms) > 0 && w.pause(ctx, random) {
			w.try(ctx, random, a)
		}
		closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), releaseTimeout)
		_ = latch.Close(closing) // what it cannot confirm is done in the background
		cancel()
	}
	return nil
}

// runSelector leads now and then.
func runSelector(ctx context.Context, w *worker, random *rand.Rand) error {
	a := attempt{workload: Selector, paths: []string{w.Root + "/" + Selector}, mode: history.Exclusive}
	selector, err := leader.NewLeaderSelector(w.client, a.paths[0], leader.WithID(w.Name))
	if err != nil {
		return err
	}
	write := writeFenced(Selector)
	err = selector.Run(ctx, func(ctx context.Context, lease *locks.Lease) error {
		h := &hold{attempt: &a, w: w, op: w.ops.Add(1), lease: lease}
		w.note(history.Event{Kind: history.Begin, Workload: Selector, Op: h.op, Lock: a.paths[0]})
		h.noteGrant()
		write(ctx, h)
		h.keep(ctx, length(random))
		w.note(history.Event{Kind: history.Release, Workload: Selector, Op: h.op})
		return nil
	})
	if err != nil {
		w.fail(Selector, 0, "run: %v", err)
	}
	return nil
}
