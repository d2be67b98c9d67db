package locks_test

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/recipes/locks"
	"github.com/go-curator/curator/tools/curatortest"
)

// These are for tests of one behaviour in virtual time, with faults that the server makes. Tests on
// several backends use env, those of every kind of lock use fixture.

// onVirtual runs test in virtual time, in which everybody is asleep or done when
// synctest.Wait returns.
func onVirtual(t *testing.T, test func(t *testing.T, s *curatortest.Server)) {
	synctest.Test(t, func(t *testing.T) { test(t, startVirtual(t)) })
}

func startVirtual(t *testing.T) *curatortest.Server {
	return curatortest.Start(t, curatortest.Virtual(), curatortest.WithTickTime(suite.Tick))
}

// runVirtual is onVirtual in a subtest.
func runVirtual(t *testing.T, name string, test func(t *testing.T, s *curatortest.Server)) {
	t.Run(name, func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) { test(t, startVirtual(t)) })
	})
}

// take acquires the lock. It may be called by any goroutine of the test.
func take(t *testing.T, lock locks.InterProcessLock) *locks.Lease {
	t.Helper()
	lease, err := lock.Acquire(t.Context())
	if err != nil {
		t.Error(err)
	}
	return lease
}

func giveBack(t *testing.T, lease *locks.Lease) {
	t.Helper()
	if err := lease.Release(t.Context()); err != nil {
		t.Error(err)
	}
}

// taking takes the lock on another goroutine.
func taking(t *testing.T, lock locks.InterProcessLock) <-chan *locks.Lease {
	taken := make(chan *locks.Lease, 1)
	go func() { taken <- take(t, lock) }()
	return taken
}

// queued is a contender of a lock in virtual time, on a client of its own.
type queued struct {
	*acquisition
	t       *testing.T
	client  *framework.Client
	traffic *suite.Traffic // since it has joined
	joined  string         // the traffic of joining
	cancel  context.CancelFunc
}

// enqueue acquires the lock that make returns, and returns when it holds it or waits.
func enqueue(t *testing.T, s *curatortest.Server, lockOf func(c *framework.Client) locks.InterProcessLock) *queued {
	t.Helper()
	q := &queued{t: t}
	q.client, q.traffic = suite.Tapped(t, s)
	lock := lockOf(q.client)
	synctest.Wait() // it is connected
	q.traffic.Take()
	q.enter(lock)
	q.joined = q.traffic.Take()
	return q
}

// enter acquires the lock.
func (q *queued) enter(lock locks.InterProcessLock) {
	ctx, cancel := context.WithCancel(q.t.Context())
	q.cancel, q.acquisition = cancel, acquiring(ctx, lock)
	synctest.Wait()
}

// in tells whether the contender was let in.
func (q *queued) in() bool {
	q.t.Helper()
	synctest.Wait()
	select {
	case <-q.done:
		if q.err != nil {
			q.t.Fatal(q.err)
		}
		return q.lease.Err() == nil
	default:
		return false
	}
}

func (q *queued) release() {
	q.t.Helper()
	if !q.in() {
		q.t.Fatal("not let in")
	}
	giveBack(q.t, q.lease)
	synctest.Wait()
}

// virtualMutex returns a function that makes the mutex at /lock.
func virtualMutex(t *testing.T, opts ...locks.MutexOption) func(c *framework.Client) locks.InterProcessLock {
	return func(c *framework.Client) locks.InterProcessLock { return mutexOf(t, c, opts...) }
}

// mutexOf returns the mutex at /lock.
func mutexOf(t *testing.T, c *framework.Client, opts ...locks.MutexOption) *locks.InterProcessMutex {
	t.Helper()
	return mutexAtPath(t, c, "/lock", opts...)
}

func mutexAtPath(t *testing.T, c *framework.Client, path string, opts ...locks.MutexOption) *locks.InterProcessMutex {
	t.Helper()
	return suite.Got(locks.NewInterProcessMutex(c, path, opts...)).OK(t)
}

// wantQueue fails unless the lock has n nodes.
func wantQueue(t *testing.T, s *curatortest.Server, n int) {
	t.Helper()
	if names := s.Children("/lock"); len(names) != n {
		t.Fatalf("nodes %q, want %d", names, n)
	}
}
