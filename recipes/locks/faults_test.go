package locks_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/recipes/locks"
)

// The states of an acquisition, and what may happen to it in each. Every cell names its test,
// which runs for every kind of lock: see kinds_test.go. For what happens to a downgrade while
// its node is created see downgrade_test.go.
//
//	            creating            waiting             holding                   releasing
//	not sent    CreateCutBefore     WaitCutBefore       HoldSuspended, HoldSession ReleaseCutBefore
//	reply lost  CreateCutAfter      WaitCutAfter        -                         ReleaseCutAfter
//	expiry      CreateExpired       WaitExpired         HoldExpired               ReleaseExpired
//	reconnect   CreateCutBefore     WaitReconnect       HoldSession               ReleaseCutBefore
//	lagging     CreateLagging       WaitLagging         HoldLagging               -
//	partition   CreatePartition     WaitPartition       HoldPartition             ReleasePending
//	ctx ends    CreateCancelled     WaitCancelled       HoldOutlivesAcquire       ReleaseEndedContext
//	Close       CreateClosed        WaitClosed          HoldClosed                ReleaseClosed
//	node gone   CreateNodeDeleted   WaitNodeDeleted     HoldNodeDeleted           ReleaseNodeDeleted
//	reaped      CreateReaped        -                   HoldReaped                ReleaseReaped
//	path gone   CreatePathDeleted   WaitPathDeleted     HoldPathDeleted           ReleasePathDeleted
//	asked       CreateAsked         WaitAsked           HoldAsked                 ReleaseAsked
//	            CreateMultiAsked    WaitMultiAsked
//	watched     CreateWatched...    WaitWatched...      HoldWatchedFromAbove

func TestCreateCutBefore(t *testing.T) {
	eachKind(t, creators, func(t *testing.T, f *fixture) {
		if f.kind.v2 {
			f.prepare() // of the others it is the first request of all
		}
		hit := f.onCreate(suite.CutBefore, nil)
		lease := f.hold()
		<-hit
		f.wantOurs()
		f.release(lease)
		f.wantNone()
	})
}

// The reply is lost but the session lives: a single node is found again, and only one is
// there.
func TestCreateCutAfter(t *testing.T) {
	eachKind(t, creators, func(t *testing.T, f *fixture) {
		f.startHoldersBeside()
		f.prepare()
		hit := f.onCreate(suite.CutAfter, nil)
		lease := f.take()
		<-hit
		paths := f.wantOurs()
		f.wantPaths(lease, paths)
		contended := f.contended(paths)
		n := len(f.others) + 2*len(contended) // have been made
		if len(contended) > 1 || !f.keepsPlace() {
			n += len(contended) // several are made anew: see keepsPlace for those in Java's layout
		}
		if last := number(contended[len(contended)-1]); last != fmt.Sprintf("%010d", n-1) {
			t.Fatalf("lease on %q: not those that were created first", paths)
		}
		f.follow()
		f.release(lease)
		f.wantNone()
	})
}

// The reply is lost and the session, too: the node of the old session is not adopted.
func TestCreateExpired(t *testing.T) {
	eachKind(t, creators, func(t *testing.T, f *fixture) {
		f.prepare()
		before := f.client.SessionID()
		hit := f.onCreate(suite.CutAfter, func() { f.network.Expire(t) })
		lease := f.hold()
		<-hit
		if after := f.client.SessionID(); after == before {
			t.Fatal("the session is the same")
		}
		f.wantOurs()
		f.release(lease)
		f.wantNone()
	})
}

// The caller gives up while nobody knows whether the node was made: it is removed later.
func TestCreatePartition(t *testing.T) {
	eachKindVirtually(t, creators, func(t *testing.T, f *fixture) {
		f.prepare()
		f.startHoldersBeside()
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		var heal func()
		hit := f.onCreate(suite.CutAfter, func() {
			heal = f.network.Isolate()
			cancel()
		})
		_, err := f.lock.Acquire(ctx)
		<-hit
		suite.WantErr(t, err, context.Canceled)
		if errors.Is(err, locks.ErrNotAcquired) {
			t.Fatalf("%v says that the lock is busy", err)
		}
		f.wantQueued()
		f.follow()
		heal()
		f.succeed()
		f.untilNone()
	}, patient)
}

// The caller gives up in the middle of the create: its node is gone when Acquire returns.
func TestCreateCancelled(t *testing.T) {
	eachKindVirtually(t, creators, func(t *testing.T, f *fixture) {
		f.startHoldersBeside()
		f.prepare()
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		hit := f.onCreate(suite.CutAfter, cancel)
		_, err := f.lock.Acquire(ctx)
		<-hit
		suite.WantErr(t, err, context.Canceled)
		f.wantNone()
	})
}

func TestCreateClosed(t *testing.T) {
	eachKindVirtually(t, creators, func(t *testing.T, f *fixture) {
		f.startHoldersBeside()
		heal := f.network.Isolate()
		defer heal()
		a := f.start(t.Context(), f.lock)
		ctx := bounded(t, 100*time.Millisecond)
		suite.WantErr(t, f.client.Close(ctx), framework.ErrConnectionLoss) // the session is left to its timeout
		<-a.done
		suite.WantErr(t, a.err, framework.ErrClosed)
	})
}

// The reply is lost, and an operator deletes the node before it is found again.
func TestCreateNodeDeleted(t *testing.T) {
	eachKind(t, creators, func(t *testing.T, f *fixture) {
		f.startHoldersBeside()
		f.prepare()
		f.createUnanswered(func() { f.deleteMeanwhile(f.contended(f.ours())[0]) })
	})
}

// createUnanswered has the lock be acquired by a create whose reply is lost, upon which meanwhile
// is called: the lease is on the nodes that are there.
func (f *fixture) createUnanswered(meanwhile func()) {
	f.t.Helper()
	hit := f.onCreate(suite.CutAfter, meanwhile)
	lease := f.take()
	<-hit
	f.wantPaths(lease, f.wantOurs())
	f.follow()
	f.release(lease)
	f.wantNone()
}

func TestWaitCutBefore(t *testing.T) { waitWithFate(t, suite.CutBefore) }

func TestWaitCutAfter(t *testing.T) { waitWithFate(t, suite.CutAfter) }

// waitWithFate has the requests meet their fate that set the watches of a waiter.
func waitWithFate(t *testing.T, fate suite.Fate) {
	eachKind(t, waiters, func(t *testing.T, f *fixture) {
		hit := f.onArming(fate)
		a := f.wait(t.Context())
		paths := f.wantQueued()
		<-hit
		if f.keepsPlace() {
			f.follow()
		}
		f.waiting(a)
		f.getsIn(a, paths)
	})
}

func TestWaitReconnect(t *testing.T) {
	eachKind(t, waiters, func(t *testing.T, f *fixture) {
		a := f.wait(t.Context())
		paths := f.wantQueued()
		for range 3 {
			f.network.Cut()
			suite.Eventually(t, "a connection", func() bool { return f.client.ConnectionState().IsConnected() })
		}
		if f.keepsPlace() {
			f.follow()
		}
		f.getsIn(a, paths)
	})
}

func TestWaitExpired(t *testing.T) {
	eachKind(t, waiters, func(t *testing.T, f *fixture) {
		a := f.wait(t.Context())
		old := f.wantQueued()
		f.network.Expire(t)
		others := f.untilOthers(old)
		f.wantNext(others, old)
		f.getsIn(a, others)
	})
}

// wantNext fails if other nodes were made, and given back, between the old and the new ones.
func (f *fixture) wantNext(others, old []string) {
	f.t.Helper()
	old = f.contended(old)
	last, err := strconv.Atoi(number(old[len(old)-1]))
	if err != nil {
		f.t.Fatal(err)
	}
	if first := f.contended(others)[0]; number(first) != fmt.Sprintf("%010d", last+1) {
		f.t.Errorf("the first new node is %q, the last old one %q", first, old[len(old)-1])
	}
}

// Behind a partition the waiter's session ends, and nobody waits for its node. When the
// partition heals it queues with another.
func TestWaitPartition(t *testing.T) {
	eachKindVirtually(t, waiters, func(t *testing.T, f *fixture) {
		a := f.wait(t.Context())
		old := f.wantQueued()
		heal := f.network.Isolate()
		f.untilNone()
		f.waiting(a)
		heal()
		others := f.untilOthers(old)
		f.wantNext(others, old)
		f.getsIn(a, others)
	})
}

func TestWaitCancelled(t *testing.T) {
	eachKindVirtually(t, waiters, func(t *testing.T, f *fixture) {
		ctx, cancel := context.WithCancelCause(t.Context())
		a := f.wait(ctx)
		f.follow()
		why := errors.New("lost interest")
		cancel(why)
		<-a.done
		suite.WantErr(t, a.err, locks.ErrNotAcquired, context.Canceled, why)
		f.wantNone() // it is gone when Acquire returns
		f.waiting(f.nextWaiter)
	})
}

// Who gives up takes its watches back while what it watched is still there.
func TestWaitCancelledWatches(t *testing.T) {
	eachKindVirtually(t, waiters, func(t *testing.T, f *fixture) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		a := f.wait(ctx)
		held := len(f.others) + f.kind.watches // everyone watches the own node
		f.untilWatches("on its own node and one ahead", func(n int) bool { return n >= held+2 })
		cancel()
		<-a.done
		f.untilWatches("those of the holders alone", func(n int) bool { return n == held })
	})
}

func TestWaitClosed(t *testing.T) {
	eachKindVirtually(t, waiters, func(t *testing.T, f *fixture) {
		a := f.wait(t.Context())
		f.follow()
		suite.OK(t, f.client.Close(t.Context()))
		<-a.done
		suite.WantErr(t, a.err, framework.ErrClosed)
		f.untilNone()
		f.waiting(f.nextWaiter)
	})
}

func TestWaitNodeDeleted(t *testing.T) { eachKind(t, waiters, waitNodeDeleted) }

func waitNodeDeleted(t *testing.T, f *fixture) {
	a := f.wait(t.Context())
	old := f.contended(f.wantQueued())
	f.delete(old[0])
	f.getsIn(a, f.untilOthers(old))
}
