package curatorcertmagic

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/framework/paths"
	"github.com/go-curator/curator/recipes/locks"
)

var errNilContext = fmt.Errorf("%w: the context is nil", framework.ErrInvalidOption)

// hold is a lock of this process, from Lock to Unlock. CertMagic names a lock only by its name, so a process has
// each lock once, also when its node is lost: Unlock could not tell two holders apart.
type hold struct {
	mutex *locks.InterProcessMutex
	free  chan struct{} // has an element while nobody in this process has the lock
	users int           // how many have it or wait for it; guarded by the mutex of the storage

	// Guarded by the mutex of the storage.
	lease *locks.Lease // nil until it is acquired, and after Unlock
}

// Lock waits for the lock of a name, and takes it. Goroutines of this process exclude each other, too. Any
// name that is not empty has a lock of its own. The lock is held until Unlock, or until the client's session ends.
//
// Errors: those of locks.InterProcessMutex.Acquire; fs.ErrInvalid for an empty name; framework.ErrClosed
// when the client is closed.
func (s *Storage) Lock(ctx context.Context, name string) error {
	h, err := s.enter(ctx, name)
	if err != nil {
		return failed("lock", name, err)
	}
	select {
	case <-h.free:
	case <-ctx.Done():
		s.leave(name, h)
		return failed("lock", name, &locks.NotAcquiredError{Err: ctx.Err()})
	case <-s.client.Done():
		s.leave(name, h)
		return failed("lock", name, framework.ErrClosed)
	}
	return failed("lock", name, s.acquire(name, h, func() (*locks.Lease, error) { return h.mutex.Acquire(ctx) }))
}

// TryLock takes the lock of a name if it is free, and reports whether it has. It does not wait for others. It
// returns the errors of Lock, but for locks.ErrNotAcquired.
func (s *Storage) TryLock(ctx context.Context, name string) (bool, error) {
	h, err := s.enter(ctx, name)
	if err != nil {
		return false, failed("lock", name, err)
	}
	select {
	case <-h.free:
	default:
		s.leave(name, h)
		return false, nil
	}
	err = s.acquire(name, h, func() (*locks.Lease, error) { return h.mutex.TryAcquire(ctx) })
	if errors.Is(err, locks.ErrNotAcquired) && ctx.Err() == nil {
		return false, nil
	}
	return err == nil, failed("lock", name, err)
}

// Unlock releases the lock of a name. It works although ctx has ended; see locks.Lease.Release. It returns
// locks.ErrNotHeld if this process does not have the lock.
//
// It returns nil if the lock was lost, because the lock is not held then, and if the release is not
// confirmed yet, because it goes on in the background. Both are logged by the logger of the client.
func (s *Storage) Unlock(ctx context.Context, name string) error {
	h, lease, err := s.held(ctx, name, true)
	if err != nil {
		return failed("unlock", name, err)
	}
	s.release(ctx, name, lease)
	h.free <- struct{}{}
	s.leave(name, h)
	return nil
}

// RenewLockLease asks the servers whether this process still has the lock of a name. If the lock was lost, it
// acquires it again, as Lock does, and CertMagic checks whether the work is still to be done. A lock has no
// duration, so leaseDuration does not matter. The errors are those of locks.Lease.Verify but for a loss,
// locks.ErrNotHeld if the process does not have the lock, and those of Lock.
func (s *Storage) RenewLockLease(ctx context.Context, lockKey string, _ time.Duration) error {
	h, lease, err := s.held(ctx, lockKey, false)
	if err == nil {
		err = lease.Verify(ctx)
	}
	if lease == nil || !errors.Is(err, locks.ErrLockLost) {
		return failed("renew lock", lockKey, err)
	}
	s.release(ctx, lockKey, lease)
	again, err := h.mutex.Acquire(ctx)
	if err != nil {
		return failed("renew lock", lockKey, err)
	}
	s.mu.Lock()
	mine := h.lease == lease
	if mine {
		h.lease = again
	}
	s.mu.Unlock()
	if !mine { // it was unlocked meanwhile
		s.release(ctx, lockKey, again)
		return failed("renew lock", lockKey, locks.ErrNotHeld)
	}
	return nil
}

// release releases a lease, and logs what Unlock does not return.
func (s *Storage) release(ctx context.Context, name string, lease *locks.Lease) {
	switch err := lease.Release(ctx); {
	case errors.Is(err, locks.ErrLockLost):
		s.client.Logger().Warn("a lock was lost: another host may have done the same work", "lock", name, "error", err)
	case err != nil:
		s.client.Logger().Warn("the release of a lock is not confirmed yet", "lock", name, "error", err)
	}
}

// enter returns the lock of a name for one user, who must take h.free next, or leave.
func (s *Storage) enter(ctx context.Context, name string) (*hold, error) {
	switch {
	case s == nil || s.client == nil:
		return nil, fmt.Errorf("%w: the storage was not made by NewStorage", framework.ErrNotStarted)
	case ctx == nil:
		return nil, errNilContext
	case name == "":
		return nil, fs.ErrInvalid
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	h := s.holds[name]
	if h == nil {
		mutex, err := locks.NewInterProcessMutex(s.client, paths.Make(s.lock, nodeName(name)), s.options...)
		if err != nil {
			return nil, err
		}
		h = &hold{mutex: mutex, free: make(chan struct{}, 1)}
		h.free <- struct{}{}
		s.holds[name] = h
	}
	h.users++
	return h, nil
}

// leave ends what enter began.
func (s *Storage) leave(name string, h *hold) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if h.users--; h.users == 0 {
		delete(s.holds, name)
	}
}

// acquire takes the lock for the user that has taken h.free.
func (s *Storage) acquire(name string, h *hold, acquire func() (*locks.Lease, error)) error {
	lease, err := acquire()
	if err != nil {
		h.free <- struct{}{}
		s.leave(name, h)
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	h.lease = lease
	return nil
}

// held returns the lock of a name that this process has. With take nobody else gets it from here any more.
func (s *Storage) held(ctx context.Context, name string, take bool) (*hold, *locks.Lease, error) {
	if s == nil || s.client == nil {
		return nil, nil, fmt.Errorf("%w: the storage was not made by NewStorage", framework.ErrNotStarted)
	}
	if ctx == nil {
		return nil, nil, errNilContext
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	h := s.holds[name]
	if h == nil || h.lease == nil {
		return nil, nil, locks.ErrNotHeld
	}
	lease := h.lease
	if take {
		h.lease = nil
	}
	return h, lease, nil
}
