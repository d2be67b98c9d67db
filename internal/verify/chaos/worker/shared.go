package worker

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/go-curator/curator/internal/verify/chaos/history"
	"github.com/go-curator/curator/recipes/locks"
)

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
