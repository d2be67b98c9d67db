// Package droppedlease has locks that are acquired and cannot be released.
package droppedlease

import (
	"context"

	"github.com/go-curator/curator/recipes/locks"
)

func blank(ctx context.Context, mutex *locks.InterProcessMutex) error {
	if _, err := mutex.Acquire(ctx); err != nil { // want `the lease that mutex.Acquire returns is dropped, and the lock stays held until the client is closed: keep the lease and release it, or use locks.Do; locks.Inspect shows who holds a lock`
		return err
	}
	return work(ctx)
}

func isFree(ctx context.Context, mutex *locks.InterProcessMutex) bool {
	_, err := mutex.TryAcquire(ctx) // want `mutex.TryAcquire returns is dropped`
	return err == nil
}

func declared(ctx context.Context, semaphore *locks.InterProcessSemaphoreV2) error {
	var _, err = semaphore.AcquireN(ctx, 3) // want `semaphore.AcquireN returns is dropped`
	return err
}

func unused(ctx context.Context, lock locks.InterProcessLock) error {
	lock.Acquire(ctx) // want `lock.Acquire returns is dropped`
	return work(ctx)
}

func inGoroutine(ctx context.Context, rw *locks.InterProcessReadWriteLock) {
	go rw.ReadLock().Acquire(ctx) // want `rw.ReadLock\(\).Acquire returns is dropped`
}

func downgraded(ctx context.Context, rw *locks.InterProcessReadWriteLock, write *locks.Lease) error {
	_, err := rw.Downgrade(ctx, write) // want `rw.Downgrade returns is dropped`
	return err
}

func work(ctx context.Context) error { return ctx.Err() }
