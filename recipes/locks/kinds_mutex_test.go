package locks_test

import (
	"context"
	"errors"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/recipes/locks"
)

// Mutexes with options, for the kinds of kinds_test.go.

func aMutex(e *env, c *framework.Client) locks.InterProcessLock { return e.lock(c) }

func aPlainMutex(e *env, c *framework.Client) locks.InterProcessLock {
	return e.lock(c, locks.WithPlainProtocol())
}

func aHandoverMutex(e *env, c *framework.Client) locks.InterProcessLock {
	return e.lock(c, locks.WithLocalHandover(2))
}

func aLimitedMutex(e *env, c *framework.Client) locks.InterProcessLock {
	return e.lock(c, locks.WithMaxHold(time.Minute))
}

// The others wait for the delay after a holder is lost; nobody waits for it without need, or the
// test would take longer than the waits of its own.
func aDelayedMutex(e *env, c *framework.Client) locks.InterProcessLock {
	return e.lock(c, locks.WithLockDelay(10*time.Millisecond))
}

func aHandedMutex(e *env, c *framework.Client) locks.InterProcessLock {
	return &handed{mutex: e.lock(c, locks.WithLocalHandover(1)), e: e}
}

func aMutexAt(dir string) maker {
	return func(e *env, c *framework.Client) locks.InterProcessLock { return e.mutexAt(dir, c) }
}

func (e *env) mutexAt(dir string, c *framework.Client, opts ...locks.MutexOption) *locks.InterProcessMutex {
	e.t.Helper()
	return mutexAtPath(e.t, c, e.path+dir, opts...)
}

// handed is a mutex that is taken by way of another goroutine, which hands it over.
type handed struct {
	e       *env
	mutex   *locks.InterProcessMutex
	between func() // while the other one holds it
}

func (h *handed) Acquire(ctx context.Context) (*locks.Lease, error) {
	first, err := h.mutex.Acquire(ctx)
	if err != nil {
		return nil, err
	}
	if h.between != nil {
		h.between()
	}
	second := h.e.start(ctx, h.mutex)
	suite.Eventually(h.e.t, "the other goroutine's place in the line", func() bool { return locks.InLine(h.mutex) == 1 })
	err = first.Release(ctx)
	<-second.done
	if second.lease.Token() != first.Token() && second.err == nil {
		h.e.t.Error("the lock was not handed over")
	}
	return second.lease, errors.Join(err, second.err)
}

func (h *handed) TryAcquire(ctx context.Context) (*locks.Lease, error) { return h.Acquire(ctx) }

// aBoundedHandoverMutex and aBoundedDelayMutex have all that goes on in the background.
func aBoundedHandoverMutex(e *env, c *framework.Client) locks.InterProcessLock {
	return e.lock(c, locks.WithLocalHandover(3), locks.WithMaxHold(2*time.Second))
}

func aBoundedDelayMutex(e *env, c *framework.Client) locks.InterProcessLock {
	return e.lock(c, locks.WithLockDelay(50*time.Millisecond), locks.WithMaxHold(2*time.Second))
}
