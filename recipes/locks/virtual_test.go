package locks_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/internal/zkclient"
	"github.com/go-curator/curator/recipes/locks"
	"github.com/go-curator/curator/state"
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
	if !q.over() {
		return false
	}
	suite.OK(q.t, q.err)
	return q.lease.Err() == nil
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

// goroutines are several goroutines of one client that take the same lock, each once, in order.
type goroutines struct {
	t       *testing.T
	traffic *suite.Traffic
	client  *framework.Client
	lock    locks.InterProcessLock
	members []*queued
}

func startGoroutines(t *testing.T, s *curatortest.Server, opts ...locks.MutexOption) *goroutines {
	t.Helper()
	c := &goroutines{t: t}
	c.client, c.traffic = suite.Tapped(t, s)
	c.lock = virtualMutex(t, opts...)(c.client)
	return c
}

// join has another goroutine acquire the lock.
func (c *goroutines) join() *queued {
	c.t.Helper()
	q := &queued{t: c.t, client: c.client, traffic: c.traffic}
	q.enter(c.lock)
	c.members = append(c.members, q)
	return q
}

// stopped keeps a client from noticing that time goes on, as if its process had been stopped: when the session
// cannot be relied on any more, the session layer waits before it says so.
type stopped struct {
	stop chan struct{} // has room for one: the next loss is not to be told
	goOn chan struct{}
}

// stoppable returns a client that can be stopped. Only the deadline ends what it holds.
func stoppable(t *testing.T, s *curatortest.Server) (*framework.Client, *stopped) {
	t.Helper()
	client := s.Client(t, framework.WithErrorPolicy(state.SessionErrorPolicy()))
	p := &stopped{stop: make(chan struct{}, 1), goOn: make(chan struct{})}
	zkclient.Of(client).OnLoss("", func(zkclient.Loss) { // ahead of all others
		select {
		case <-p.stop:
			<-p.goOn
		default:
		}
	})
	return client, p
}

// stopPast stops the client past the end of its session, at the server, too. The client notices
// nothing until resume is called, but can ask the clock.
func (p *stopped) stopPast(t *testing.T, s *curatortest.Server, client *framework.Client) (resume func()) {
	t.Helper()
	id, sessions := client.SessionID(), s.Sessions()
	accept := s.Refuse()
	p.stop <- struct{}{}
	s.DisconnectSession(id)
	time.Sleep(time.Minute)
	synctest.Wait()
	if len(p.stop) > 0 {
		t.Fatal("the session layer was not stopped")
	}
	if s.Sessions() != sessions-1 {
		t.Fatalf("%d sessions, want that of the stopped client to have ended", s.Sessions())
	}
	return func() {
		close(p.goOn)
		accept()
	}
}

// wantNothingLeft fails if a node of the lock, its holder record or a watch is left.
func wantNothingLeft(t *testing.T, s *curatortest.Server) {
	t.Helper()
	synctest.Wait()
	if names, n := s.Children("/lock"), s.Watches(); len(names) > 0 || n > 0 {
		t.Errorf("nodes %q and %d watches are left", names, n)
	}
	wantRecord(t, s, false)
}

// wantRecord fails unless the record of a holder is there, or is not.
func wantRecord(t *testing.T, s *curatortest.Server, want bool) {
	t.Helper()
	if _, ok := s.Get("/lock.holder"); ok != want {
		t.Errorf("record of a holder: %v, want %v", ok, want)
	}
}

// throttled is an answer that passes with time.
type throttled struct{}

func (throttled) Error() string { return "throttled" }

func (throttled) Code() int32 { return jute.CodeThrottledOp }

// opener makes a lock of some kind at /lock.
type opener = func(t *testing.T, c *framework.Client, opts ...locks.Option) locks.InterProcessLock

// opened is for enqueue.
func opened(t *testing.T, open opener, opts ...locks.Option) func(c *framework.Client) locks.InterProcessLock {
	return func(c *framework.Client) locks.InterProcessLock { return open(t, c, opts...) }
}

func openMutex(t *testing.T, c *framework.Client, opts ...locks.Option) locks.InterProcessLock {
	return mutexOf(t, c, optionsOf[locks.MutexOption](opts)...)
}

func openRW(t *testing.T, c *framework.Client, opts ...locks.Option) *locks.InterProcessReadWriteLock {
	t.Helper()
	return suite.Got(locks.NewInterProcessReadWriteLock(c, "/lock", optionsOf[locks.ReadWriteLockOption](opts)...)).OK(t)
}

func openRead(t *testing.T, c *framework.Client, opts ...locks.Option) locks.InterProcessLock {
	return openRW(t, c, opts...).ReadLock()
}

func openWrite(t *testing.T, c *framework.Client, opts ...locks.Option) locks.InterProcessLock {
	return openRW(t, c, opts...).WriteLock()
}

func openSemaphore(n int) opener {
	return func(t *testing.T, c *framework.Client, opts ...locks.Option) locks.InterProcessLock {
		return suite.Got(locks.NewInterProcessSemaphore(c, "/lock", n, optionsOf[locks.SemaphoreOption](opts)...)).OK(t)
	}
}

func openV2(n int) opener {
	return func(t *testing.T, c *framework.Client, opts ...locks.Option) locks.InterProcessLock {
		return suite.Got(locks.NewInterProcessSemaphoreV2(c, "/lock", n, optionsOf[locks.SemaphoreOption](opts)...)).OK(t)
	}
}

func openSemaphoreMutex(t *testing.T, c *framework.Client, opts ...locks.Option) locks.InterProcessLock {
	return suite.Got(locks.NewInterProcessSemaphoreMutex(c, "/lock", optionsOf[locks.SemaphoreOption](opts)...)).OK(t)
}

// openTwo takes two leases of a semaphore.
func openTwo(of opener) opener {
	return func(t *testing.T, c *framework.Client, opts ...locks.Option) locks.InterProcessLock {
		return several{of(t, c, opts...).(counted), 2}
	}
}

func optionsOf[T any](opts []locks.Option) []T {
	all := make([]T, len(opts))
	for i, o := range opts {
		all[i] = any(o).(T)
	}
	return all
}
