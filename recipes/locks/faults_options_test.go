package locks_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/recipes/locks"
	"github.com/go-curator/curator/tools/curatortest"
)

// What may happen to the holder of a lock with options, or of a lock that is made of others, while
// another one waits. The table in faults_test.go has what may happen to every kind of lock.

const shortDelay = 5 * time.Second

// optionHolder is a lease of a lock, and the next waiter.
type optionHolder struct {
	t          *testing.T
	s          *curatortest.Server
	client     *framework.Client
	stopped    *stopped // of client
	lease      *locks.Lease
	path       string // of the node that the next waiter waits for
	nextWaiter *queued
}

// optionKinds take a lock each, by client, for which a second client waits at /lock.
var optionKinds = map[string]struct {
	take       func(t *testing.T, client *framework.Client) *locks.Lease
	nextWaiter func(t *testing.T) func(c *framework.Client) locks.InterProcessLock
	delay      time.Duration // that the next waiter has to wait after a loss
}{
	"handover": {takeHandedOver, plainRival, 0},
	"lock delay": {func(t *testing.T, client *framework.Client) *locks.Lease {
		return take(t, virtualMutex(t, locks.WithLockDelay(shortDelay), locks.WithRevocable(nil))(client))
	}, func(t *testing.T) func(c *framework.Client) locks.InterProcessLock {
		return virtualMutex(t, locks.WithLockDelay(shortDelay))
	}, shortDelay},
	"multi lock": {func(t *testing.T, client *framework.Client) *locks.Lease {
		asked := locks.WithRevocable(nil)
		m, err := locks.NewInterProcessMultiLock(mutexAtPath(t, client, "/other", asked), mutexAtPath(t, client, "/lock", asked))
		if err != nil {
			t.Fatal(err)
		}
		return take(t, m)
	}, plainRival, 0},
	"downgrade": {takeDowngraded, func(t *testing.T) func(c *framework.Client) locks.InterProcessLock {
		return func(c *framework.Client) locks.InterProcessLock { return readWriteLock(t, c).WriteLock() }
	}, 0},
}

func plainRival(t *testing.T) func(c *framework.Client) locks.InterProcessLock {
	return virtualMutex(t)
}

func readWriteLock(t *testing.T, client *framework.Client) *locks.InterProcessReadWriteLock {
	t.Helper()
	rw, err := locks.NewInterProcessReadWriteLock(client, "/lock", locks.WithRevocable(nil))
	if err != nil {
		t.Fatal(err)
	}
	return rw
}

// takeHandedOver returns a lease whose node another goroutine has handed over.
func takeHandedOver(t *testing.T, client *framework.Client) *locks.Lease {
	t.Helper()
	lock := virtualMutex(t, locks.WithLocalHandover(10), locks.WithRevocable(nil))(client)
	first := take(t, lock)
	second := taking(t, lock)
	synctest.Wait()
	giveBack(t, first)
	lease := <-second
	if lease.Token() != first.Token() {
		t.Fatal("the lock was not handed over")
	}
	return lease
}

// takeDowngraded returns a read lease that was a write lease.
func takeDowngraded(t *testing.T, client *framework.Client) *locks.Lease {
	t.Helper()
	rw := readWriteLock(t, client)
	read, err := rw.Downgrade(t.Context(), take(t, rw.WriteLock()))
	if err != nil {
		t.Fatal(err)
	}
	return read
}

// eachOption runs test for every kind, with a holder and a next waiter. What before does, if
// it is not nil, is done when the client is connected. After the test the next waiter must get in, and
// nothing may be left.
func eachOption(t *testing.T, before func(h *optionHolder), test func(h *optionHolder)) {
	for name, kind := range optionKinds {
		runVirtual(t, name, func(t *testing.T, s *curatortest.Server) {
			client, stopped := stoppable(t, s)
			h := &optionHolder{t: t, s: s, stopped: stopped, client: client}
			suite.OK(t, h.client.BlockUntilConnected(t.Context()))
			if before != nil {
				before(h)
			}
			h.lease = kind.take(t, h.client)
			h.path = h.lease.Path()
			if parts := h.lease.Parts(); len(parts) > 0 {
				h.path = parts[len(parts)-1].Path()
			}
			h.nextWaiter = enqueue(t, s, kind.nextWaiter(t))
			time.Sleep(time.Second) // the node is watched
			h.wantBelieved()
			test(h)
			h.succeed(kind.delay)
		})
	}
}

// wantBelieved fails unless the lease is believed, and the next waiter still waits.
func (h *optionHolder) wantBelieved() {
	h.t.Helper()
	if err := h.lease.Err(); err != nil || h.nextWaiter.in() {
		h.t.Fatalf("the lease ended with %v, the next waiter is in: %t", err, h.nextWaiter.in())
	}
}

// loses makes the fault, and wants the lease of the holder to end for a reason, without the next waiter
// being in while it is believed.
func (h *optionHolder) loses(want locks.LossReason, fault func() error) {
	h.t.Helper()
	suite.OK(h.t, fault())
	synctest.Wait()
	if h.nextWaiter.in() && h.lease.Context().Err() == nil {
		h.t.Error("the next waiter is in while the lease is believed")
	}
	wantLostSoon(h.t, h.lease, want)
}

// succeed wants the next waiter in, after at most the delay, and nothing left of anybody.
func (h *optionHolder) succeed(delay time.Duration) {
	h.t.Helper()
	time.Sleep(delay + time.Second)
	h.nextWaiter.release()
	wantNothingLeft(h.t, h.s)
	if names := h.s.Children("/other"); len(names) > 0 {
		h.t.Errorf("nodes %q are left of the other part", names)
	}
}

// remove is what an operator does.
func (h *optionHolder) remove() error {
	return h.nextWaiter.client.Delete().ForPath(h.t.Context(), h.path)
}

func TestOptionsNodeDeleted(t *testing.T) {
	eachOption(t, nil, func(h *optionHolder) {
		h.loses(locks.LossNodeDeleted, h.remove)
		suite.WantErr(h.t, h.lease.Release(h.t.Context()), locks.ErrLockLost)
	})
}

// Somebody asks for the lock: the lease ends, and the next waiter gets in when it is released, and not
// before, which Release confirms.
func TestOptionsRevoked(t *testing.T) {
	eachOption(t, nil, func(h *optionHolder) {
		h.loses(locks.LossRevoked, func() error { return locks.AttemptRevoke(h.t.Context(), h.nextWaiter.client, h.path) })
		time.Sleep(time.Minute)
		if h.nextWaiter.in() {
			h.t.Fatal("the next waiter is in before the release")
		}
		giveBack(h.t, h.lease)
	})
}

// The process is stopped past its session, and releases before its session layer has noticed.
func TestOptionsStopped(t *testing.T) {
	for _, asked := range []bool{false, true} {
		t.Run(map[bool]string{false: "released", true: "asked"}[asked], func(t *testing.T) {
			eachOption(t, nil, func(h *optionHolder) {
				resume := h.stopped.stopPast(h.t, h.s, h.client)
				if !h.nextWaiter.in() {
					h.t.Fatal("the next waiter is not in after the end of the session")
				}
				if asked { // it looks at the clock
					suite.WantErr(h.t, h.lease.Err(), locks.ErrLockLost)
				}
				release := startRelease(h.t.Context(), h.lease)
				resume()
				<-release.done
				wantGivenUp(h.t, release.err)
				<-h.lease.Context().Done()
			})
		})
	}
}

// The reply to the release is lost while the session lives: it was our delete, and the next waiter gets
// in after it.
func TestOptionsReleaseCutAfter(t *testing.T) {
	eachOption(t, nil, func(h *optionHolder) {
		hit := h.s.Inject(curatortest.Rule{Path: h.path, SessionID: h.client.SessionID(), Do: curatortest.CutAfter()})
		giveBack(h.t, h.lease)
		if !hit() {
			h.t.Error("the reply was not lost")
		}
	})
}

// The watch on the own node is put off once: the deletion of the node is noticed all the same.
func TestOptionsWatchThrottled(t *testing.T) {
	hit := func() bool { return false }
	eachOption(t, func(h *optionHolder) {
		hit = h.s.Inject(curatortest.Rule{Op: "getData", Path: "/lock/**", SessionID: h.client.SessionID(), Do: curatortest.Fail(throttled{})})
	}, func(h *optionHolder) {
		time.Sleep(time.Minute)
		if !hit() {
			h.t.Fatal("the watch was not put off")
		}
		h.wantBelieved()
		h.loses(locks.LossNodeDeleted, h.remove)
		suite.WantErr(h.t, h.lease.Release(h.t.Context()), locks.ErrLockLost)
	})
}
