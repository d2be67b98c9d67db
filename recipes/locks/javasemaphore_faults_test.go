package locks_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/recipes/locks"
)

// leasedFault is what may happen to an acquisition of a semaphore with two leases.
type leasedFault struct {
	name string
	test func(e *leasedEnv)
}

// TestLeasedFaults has a cell for every state of an acquisition and everything that may
// happen to it then. After each nothing is left: no node, no watch, and all leases are free.
func TestLeasedFaults(t *testing.T) {
	t.Parallel()
	for state, faults := range map[string][]leasedFault{
		"acquiring": leasedAcquiring, "waiting": leasedWaiting, "holding": leasedHolding, "releasing": leasedReleasing,
	} {
		t.Run(state, func(t *testing.T) {
			for _, fault := range faults {
				t.Run(fault.name, func(t *testing.T) {
					t.Parallel()
					on := suite.InVirtualTime
					if leasedOnRealServer[fault.name] {
						on = withRealServer
					}
					suite.EachOf(t, on, func(t *testing.T, b *suite.Backend) {
						e := newLeasedEnv(t, b, 2, sessionPolicy)
						fault.test(e)
						e.intact()
					})
				})
			}
		})
	}
}

// onLease sets the fate of the second create, that of the lease: the first is the mutex's.
func (e *leasedEnv) onLease(fate suite.Fate, then func()) <-chan struct{} {
	e.network.On(jute.OpCreate2, suite.Late, nil)
	return e.network.On(jute.OpCreate2, fate, then)
}

// survives acquires and releases a lease although something happens meanwhile.
func (e *leasedEnv) survives(hit <-chan struct{}) {
	e.t.Helper()
	lease, err := e.semaphore.Acquire(e.soon())
	if err != nil {
		e.t.Fatal(err)
	}
	<-hit
	e.have(0, 1)
	e.release(lease)
}

var leasedAcquiring = []leasedFault{
	{"mutex not sent", func(e *leasedEnv) { e.survives(e.network.On(jute.OpCreate2, suite.CutBefore, nil)) }},
	{"mutex reply lost", func(e *leasedEnv) { e.survives(e.network.On(jute.OpCreate2, suite.CutAfter, nil)) }},
	{"mutex expired", func(e *leasedEnv) {
		e.survives(e.network.On(jute.OpCreate2, suite.CutAfter, func() { e.network.Expire(e.t) }))
	}},
	{"lease not sent", func(e *leasedEnv) { e.survives(e.onLease(suite.CutBefore, nil)) }},
	{"lease reply lost", func(e *leasedEnv) { e.survives(e.onLease(suite.CutAfter, nil)) }},
	{"lease expired", func(e *leasedEnv) {
		e.survives(e.onLease(suite.CutAfter, func() { e.network.Expire(e.t) }))
	}},
	{"mutex deleted", func(e *leasedEnv) {
		e.survives(e.onLease(suite.Late, func() { e.deleteMeanwhile(e.path + "/locks/" + e.below("locks")[0]) }))
	}},
	{"mutex's delete not sent", func(e *leasedEnv) { e.survives(e.network.On(jute.OpDelete, suite.CutBefore, nil)) }},
	{"mutex's delete reply lost", func(e *leasedEnv) { e.survives(e.network.On(jute.OpDelete, suite.CutAfter, nil)) }},
	{"context ends in the mutex", func(e *leasedEnv) {
		ctx, cancel := context.WithCancel(e.t.Context())
		defer cancel()
		hit := e.network.On(jute.OpCreate2, suite.CutAfter, cancel)
		_, err := e.semaphore.Acquire(ctx)
		<-hit
		e.notSeenBusy(err)
	}},
	{"context ends in the lease", func(e *leasedEnv) {
		ctx, cancel := context.WithCancel(e.t.Context())
		defer cancel()
		hit := e.onLease(suite.CutAfter, cancel)
		_, err := e.semaphore.Acquire(ctx)
		<-hit
		e.notSeenBusy(err)
	}},
	{"client closed", func(e *leasedEnv) {
		var heal func()
		hit := e.onLease(suite.CutBefore, func() { heal = e.network.Isolate() })
		a := e.start(e.t.Context(), e.semaphore)
		<-hit
		ctx, cancel := context.WithTimeout(e.t.Context(), 100*time.Millisecond)
		defer cancel()
		if err := e.client.Close(ctx); err == nil {
			e.t.Fatal("closed in order, without a connection")
		}
		<-a.done
		heal()
		suite.WantErr(e.t, a.err, framework.ErrClosed)
	}},
}

// notSeenBusy fails unless the context's end is the error, nobody else was seen, and
// nothing is left when Acquire returns.
func (e *leasedEnv) notSeenBusy(err error) {
	e.t.Helper()
	suite.WantErr(e.t, err, context.Canceled)
	if errors.Is(err, locks.ErrNotAcquired) {
		e.t.Fatalf("%v says that the semaphore is busy", err)
	}
	e.have(0, 0)
}

var leasedWaiting = []leasedFault{
	{"read not sent", func(e *leasedEnv) { e.readFails(suite.CutBefore) }},
	{"read reply lost", func(e *leasedEnv) { e.readFails(suite.CutAfter) }},
	{"reconnect", func(e *leasedEnv) {
		all := e.full()
		a := e.await(e.soon())
		own := e.below("leases")[2]
		for range 3 {
			e.network.Cut()
			suite.Eventually(e.t, "a connection", func() bool { return e.client.ConnectionState().IsConnected() })
		}
		e.release(all)
		lease := e.granted(a)
		if lease.Path() != e.path+"/leases/"+own {
			e.t.Errorf("lease on %q, waited with %q", lease.Path(), own)
		}
		e.release(lease)
	}},
	{"session expired", func(e *leasedEnv) {
		all := e.full()
		a := e.await(e.soon())
		old := e.below("leases")[2]
		e.network.Expire(e.t)
		e.other(old)
		e.until(1, 3) // with the mutex
		e.release(all)
		e.release(e.granted(a))
	}},
	{"context ends", func(e *leasedEnv) {
		all := e.full()
		ctx, cancel := context.WithCancelCause(e.t.Context())
		a := e.await(ctx)
		why := errors.New("lost interest")
		cancel(why)
		<-a.done
		suite.WantErr(e.t, a.err, locks.ErrNotAcquired, context.Canceled, why)
		e.have(0, 2) // gone when Acquire returns
		e.release(all)
	}},
	{"context ends in the mutex", func(e *leasedEnv) {
		all := e.full()
		first := e.wait(e.soon(), e.another())
		ctx, cancel := context.WithCancel(e.t.Context())
		looks := e.network.Requests(jute.OpSetWatches) + 1
		a := e.start(ctx, e.semaphore)
		suite.Eventually(e.t, "the look at the node ahead", func() bool { return e.network.Requests(jute.OpSetWatches) >= looks })
		e.have(2, 3)
		cancel()
		<-a.done
		suite.WantErr(e.t, a.err, locks.ErrNotAcquired, context.Canceled)
		e.have(1, 3)
		e.release(all)
		e.release(e.granted(first))
	}},
	{"longest wait", func(e *leasedEnv) {
		all := e.full()
		_, err := e.open(e.client, locks.WithMaxWait(100*time.Millisecond)).Acquire(e.t.Context())
		suite.WantErr(e.t, err, locks.ErrNotAcquired)
		if errors.Is(err, context.DeadlineExceeded) {
			e.t.Errorf("%v is taken for the end of a context", err)
		}
		e.have(0, 2)
		e.release(all)
	}},
	{"longest wait without an answer", func(e *leasedEnv) {
		heal := e.network.Isolate()
		_, err := e.open(e.client, locks.WithMaxWait(100*time.Millisecond)).Acquire(e.t.Context())
		suite.WantErr(e.t, err, framework.ErrConnectionLoss)
		if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, locks.ErrNotAcquired) {
			e.t.Errorf("%v says that others were seen, or that a context has ended", err)
		}
		heal()
	}},
	{"client closed", func(e *leasedEnv) {
		all := e.full()
		a := e.await(e.t.Context())
		suite.OK(e.t, e.client.Close(e.t.Context()))
		<-a.done
		suite.WantErr(e.t, a.err, framework.ErrClosed)
		e.until(0, 2)
		e.release(all)
	}},
	{"lease deleted", func(e *leasedEnv) {
		all := e.full()
		a := e.await(e.soon())
		old := e.below("leases")[2]
		e.remove("leases", old)
		e.other(old)
		e.have(1, 3)
		e.release(all)
		e.release(e.granted(a))
	}},
	{"mutex deleted", func(e *leasedEnv) {
		// Were both to wait for a lease, each would wait for the other's node to go.
		all := e.full()
		first := e.await(e.soon())
		e.remove("locks", e.below("locks")[0])
		second := e.start(e.soon(), e.another())
		e.until(2, 3)
		e.release(all.Parts()[1])
		select {
		case <-first.done:
		case <-second.done:
			first, second = second, first
		}
		e.release(e.granted(first))
		e.release(e.granted(second))
		e.release(all)
	}},
}

// readFails has the read fail that follows a change of the leases.
func (e *leasedEnv) readFails(fate suite.Fate) {
	e.t.Helper()
	all := e.full()
	a := e.await(e.soon())
	hit := e.network.On(jute.OpGetChildren2, fate, nil)
	if _, err := e.observer.Create().ForPath(e.t.Context(), e.path+"/leases/notes"); err != nil {
		e.t.Fatal(err)
	}
	<-hit
	e.release(all)
	e.remove("leases", "notes")
	e.release(e.granted(a))
}

var leasedHolding = []leasedFault{
	{"reconnect", func(e *leasedEnv) {
		lease := e.acquire(e.semaphore)
		e.network.Cut()
		if _, err := e.client.CheckExists().ForPath(e.t.Context(), e.path); err != nil {
			e.t.Fatal(err)
		}
		suite.OK(e.t, lease.Err())
		e.release(lease)
	}},
	{"suspended", func(e *leasedEnv) {
		client, network := e.b.Client(e.t) // with the standard policy
		lease := e.acquire(e.open(client))
		network.Cut()
		e.lost(lease, locks.LossSuspended)
		e.have(0, 1)
		e.release(lease)
	}},
	{"session expired", func(e *leasedEnv) {
		lease := e.acquire(e.semaphore)
		e.network.Expire(e.t)
		e.lost(lease, locks.LossSessionExpired)
		e.until(0, 0)
		suite.WantErr(e.t, lease.Release(e.t.Context()), locks.ErrLockLost)
	}},
	{"partition", func(e *leasedEnv) {
		rest := e.acquire(e.another())
		lease := e.acquire(e.semaphore)
		next := e.wait(e.soon(), e.another())
		heal := e.network.Isolate()
		select {
		case <-lease.Context().Done():
		case <-next.done:
			e.t.Fatal("the next is in while the holder believes")
		}
		e.release(e.granted(next))
		heal()
		suite.WantErr(e.t, lease.Release(e.t.Context()), locks.ErrLockLost)
		e.release(rest)
	}},
	{"context ends", func(e *leasedEnv) {
		ctx, cancel := context.WithCancel(e.t.Context())
		lease, err := e.semaphore.Acquire(ctx)
		if err != nil {
			e.t.Fatal(err)
		}
		cancel()
		suite.OK(e.t, lease.Err())
		e.have(0, 1)
		e.release(lease)
	}},
	{"client closed", func(e *leasedEnv) {
		lease := e.acquire(e.semaphore)
		suite.OK(e.t, e.client.Close(e.t.Context()))
		e.lost(lease, locks.LossClosed)
		suite.WantErr(e.t, lease.Release(e.t.Context()), locks.ErrLockLost)
	}},
	{"lease deleted", func(e *leasedEnv) {
		lease := e.acquire(e.semaphore)
		rest := e.acquire(e.another())
		next := e.wait(e.soon(), e.another())
		e.remove("leases", e.below("leases")[0])
		e.lost(lease, locks.LossNodeDeleted)
		e.release(e.granted(next))
		suite.WantErr(e.t, lease.Release(e.t.Context()), locks.ErrLockLost)
		e.release(rest)
	}},
	{"one of two deleted", func(e *leasedEnv) {
		both, err := e.semaphore.AcquireN(e.t.Context(), 2)
		if err != nil {
			e.t.Fatal(err)
		}
		e.remove("leases", e.below("leases")[0])
		<-both.Context().Done()
		suite.WantErr(e.t, both.Err(), locks.ErrLockLost)
		if err := both.Parts()[1].Err(); err != nil {
			e.t.Errorf("the other one: %v", err)
		}
		e.release(e.acquire(e.another())) // there is room for one
		suite.WantErr(e.t, both.Release(e.t.Context()), locks.ErrLockLost)
	}},
}

var leasedReleasing = []leasedFault{
	{"not sent", func(e *leasedEnv) { e.releaseMeets(suite.CutBefore) }},
	{"reply lost", func(e *leasedEnv) { e.releaseMeets(suite.CutAfter) }},
	{"session expired", func(e *leasedEnv) {
		lease := e.acquire(e.semaphore)
		hit := e.network.On(jute.OpDelete, suite.CutBefore, func() { e.network.Expire(e.t) })
		suite.WantErr(e.t, lease.Release(e.t.Context()), locks.ErrLockLost)
		<-hit
	}},
	{"reconnect", func(e *leasedEnv) {
		lease := e.acquire(e.semaphore)
		e.network.Cut()
		e.release(lease)
		e.have(0, 0)
	}},
	{"context ends", func(e *leasedEnv) {
		lease := e.acquire(e.semaphore)
		heal := e.network.Isolate()
		ctx, cancel := context.WithTimeout(e.t.Context(), 50*time.Millisecond)
		defer cancel()
		suite.WantErr(e.t, lease.Release(ctx), locks.ErrReleasePending)
		e.have(0, 1)
		heal()
		e.release(lease)
		e.have(0, 0)
	}},
	{"context has ended", func(e *leasedEnv) {
		lease := e.acquire(e.semaphore)
		ctx, cancel := context.WithCancel(e.t.Context())
		cancel()
		suite.OK(e.t, lease.Release(ctx))
		e.have(0, 0)
	}},
	{"client closed", func(e *leasedEnv) {
		lease := e.acquire(e.semaphore)
		released := make(chan error, 1)
		hit := e.network.On(jute.OpDelete, suite.CutBefore, nil)
		go func() { released <- lease.Release(e.t.Context()) }()
		<-hit
		suite.OK(e.t, e.client.Close(e.t.Context()))
		suite.OK(e.t, <-released)
	}},
	{"lease deleted", func(e *leasedEnv) {
		lease := e.acquire(e.semaphore)
		// The delete arrives when the node is gone, and on the same session.
		hit := e.network.On(jute.OpDelete, suite.Late, func() { e.deleteMeanwhile(e.path + "/leases/" + e.below("leases")[0]) })
		suite.WantErr(e.t, lease.Release(e.t.Context()), locks.ErrLockLost)
		<-hit
	}},
}

// releaseMeets releases a lease whose delete meets its fate.
func (e *leasedEnv) releaseMeets(fate suite.Fate) {
	e.t.Helper()
	lease := e.acquire(e.semaphore)
	hit := e.network.On(jute.OpDelete, fate, nil)
	e.release(lease)
	<-hit
	e.have(0, 0)
}

// leasedOnRealServer has the faults of which a server decides what becomes, in whatever state.
var leasedOnRealServer = map[string]bool{
	"mutex reply lost": true, "lease reply lost": true, "reply lost": true, "lease expired": true, "session expired": true,
	"lease deleted": true, "mutex deleted": true,
}
