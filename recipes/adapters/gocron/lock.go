package curatorgocron

import (
	"context"
	"errors"
	"time"

	"github.com/go-co-op/gocron/v2"

	"github.com/go-curator/curator/recipes/locks"
)

// runLock is the lock of one run of a job.
type runLock struct {
	locker *Locker
	key    string
	cancel context.CancelCauseFunc // of the acquisition

	// Guarded by the mutex of the locker.
	lease    *locks.Lease // nil until it is acquired
	until    time.Time    // the lock is held at least until then
	unlocked bool         // somebody releases it
}

var _ gocron.Lock = (*runLock)(nil)

// Unlock ends the hold of a job that has ended. If WithMinHold has passed, it releases the lock, as
// locks.Lease.Release does: ctx bounds the wait, and may have ended. Otherwise it returns the error of the lease at once,
// and the lock is released later, on a goroutine that Close of the Locker joins.
//
// An error that matches locks.ErrLockLost says that the lock was lost while the job ran, so another process may
// have run it at the same time. gocron ignores errors of Unlock, so those of the release go to the logger of
// the client as well. A second Unlock returns locks.ErrReleased.
func (r *runLock) Unlock(ctx context.Context) error {
	l := r.locker
	if ctx == nil {
		return errNilContext
	}
	l.mu.Lock()
	l.ran(r)
	if r.unlocked {
		l.mu.Unlock()
		return locks.ErrReleased
	}
	r.unlocked = true
	l.mu.Unlock()

	if time.Until(r.until) <= 0 {
		return r.release(ctx)
	}
	lost := r.lease.Err()
	go r.releaseLater(context.WithoutCancel(ctx))
	return lost
}

// releaseLater keeps the node of a lock until WithMinHold has passed. A lease that ends meanwhile changes
// nothing: the node stays as long as the session.
func (r *runLock) releaseLater(ctx context.Context) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	timer := time.NewTimer(time.Until(r.until))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-r.locker.client.Done(): // Close has ended all leases
	case <-r.locker.hurry:
		cancel()
	}
	_ = r.release(ctx) // which logs the error
}

// release releases the lock now, and logs the error, because gocron does not.
func (r *runLock) release(ctx context.Context) error {
	defer r.locker.end(r)
	err := r.lease.Release(ctx)
	switch logger := r.locker.client.Logger(); {
	case errors.Is(err, locks.ErrLockLost):
		logger.Warn("the lock of a job was lost: another process may have run the job, too", "job", r.key, "error", err)
	case err != nil:
		logger.Warn("the release of the lock of a job is not confirmed yet", "job", r.key, "error", err)
	}
	return err
}
