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

// The states of an acquisition, and what may befall it in each. Every cell names its test,
// which runs for every kind of lock: see kinds_test.go. For what befalls a downgrade while
// its node is created see downgrade_test.go.
//
//	            creating            waiting             holding                   releasing
//	not sent    CreateCutBefore     WaitCutBefore       HoldSuspended, HoldSession ReleaseCutBefore
//	reply lost  CreateCutAfter      WaitCutAfter        -                         ReleaseCutAfter
//	expiry      CreateExpired       WaitExpired         HoldExpired               ReleaseExpired
//	reconnect   CreateCutBefore     WaitReconnect       HoldSession               ReleaseCutBefore
//	partition   CreatePartition     WaitPartition       HoldPartition             ReleasePending
//	ctx ends    CreateCancelled     WaitCancelled       HoldOutlivesAcquire       ReleaseEndedContext
//	Close       CreateClosed        WaitClosed          HoldClosed                ReleaseClosed
//	node gone   CreateNodeDeleted   WaitNodeDeleted     HoldNodeDeleted           ReleaseNodeDeleted

func TestCreateCutBefore(t *testing.T) {
	eachKind(t, creators, func(t *testing.T, f *fixture) {
		hit := f.network.On(jute.OpCreate2, suite.CutBefore, nil)
		lease := f.hold()
		<-hit
		f.wantOurs(1)
		f.release(lease)
		f.wantOurs(0)
	})
}

// The reply is lost but the session lives: the node is found again, and only one is there.
func TestCreateCutAfter(t *testing.T) {
	eachKind(t, creators, func(t *testing.T, f *fixture) {
		f.accompany()
		f.env.release(f.take()) // the parents are there
		hit := f.network.On(jute.OpCreate2, suite.CutAfter, nil)
		lease := f.take()
		<-hit
		first := byte('1' + len(f.others))
		if name := f.wantOurs(1)[0]; lease.Path() != f.path+"/"+name || name[len(name)-1] != first {
			t.Fatalf("lease on %q, node %q: not the one that was created first", lease.Path(), name)
		}
		f.follow()
		f.release(lease)
		f.wantOurs(0)
	})
}

// The reply is lost and the session, too: the node of the old session is not adopted.
func TestCreateExpired(t *testing.T) {
	eachKind(t, creators, func(t *testing.T, f *fixture) {
		f.env.release(f.take())
		before := f.client.SessionID()
		hit := f.network.On(jute.OpCreate2, suite.CutAfter, func() { f.network.Expire(t) })
		lease := f.hold()
		<-hit
		if after := f.client.SessionID(); after == before {
			t.Fatal("the session is the same")
		}
		f.wantOurs(1)
		f.release(lease)
		f.wantOurs(0)
	})
}

// The caller gives up while nobody knows whether the node was made: it is removed later.
func TestCreatePartition(t *testing.T) {
	eachKindIdly(t, creators, func(t *testing.T, f *fixture) {
		f.env.release(f.take())
		f.accompany()
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		var heal func()
		hit := f.network.On(jute.OpCreate2, suite.CutAfter, func() {
			heal = f.network.Isolate()
			cancel()
		})
		_, err := f.lock.Acquire(ctx)
		<-hit
		wantErr(t, err, context.Canceled)
		if errors.Is(err, locks.ErrNotAcquired) {
			t.Fatalf("%v says that the lock is busy", err)
		}
		f.wantOurs(1)
		f.follow()
		heal()
		f.succeed()
		f.untilOurs(0)
	})
}

// The caller gives up in the middle of the create: its node is gone when Acquire returns.
func TestCreateCancelled(t *testing.T) {
	eachKind(t, creators, func(t *testing.T, f *fixture) {
		f.accompany()
		f.env.release(f.take())
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		hit := f.network.On(jute.OpCreate2, suite.CutAfter, cancel)
		_, err := f.lock.Acquire(ctx)
		<-hit
		wantErr(t, err, context.Canceled)
		f.wantOurs(0)
	})
}

func TestCreateClosed(t *testing.T) {
	eachKind(t, creators, func(t *testing.T, f *fixture) {
		f.accompany()
		heal := f.network.Isolate()
		defer heal()
		a := f.start(t.Context(), f.lock)
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		wantErr(t, f.client.Close(ctx), framework.ErrConnectionLoss) // the session is left to its timeout
		<-a.done
		wantErr(t, a.err, framework.ErrClosed)
	})
}

// The reply is lost, and an operator deletes the node before it is found again.
func TestCreateNodeDeleted(t *testing.T) {
	eachKind(t, creators, func(t *testing.T, f *fixture) {
		f.accompany()
		f.env.release(f.take())
		hit := f.network.On(jute.OpCreate2, suite.CutAfter, func() { f.deleteOurs(f.ours()[0]) })
		lease := f.take()
		<-hit
		if name := f.wantOurs(1)[0]; lease.Path() != f.path+"/"+name {
			t.Fatalf("lease on %q, node %q", lease.Path(), name)
		}
		f.follow()
		f.release(lease)
		f.wantOurs(0)
	})
}

// deleteOurs is what an operator does.
func (f *fixture) deleteOurs(name string) {
	f.t.Helper()
	if err := f.observer.Delete().ForPath(context.Background(), f.path+"/"+name); err != nil {
		f.t.Error(err)
	}
}

func TestWaitCutBefore(t *testing.T) { waitWithFate(t, suite.CutBefore) }

func TestWaitCutAfter(t *testing.T) { waitWithFate(t, suite.CutAfter) }

// waitWithFate has the requests meet their fate that set the watches of a waiter.
func waitWithFate(t *testing.T, fate suite.Fate) {
	eachKind(t, waiters, func(t *testing.T, f *fixture) {
		hit := f.network.On(jute.OpGetData, fate, nil)
		a := f.wait(t.Context())
		name := f.wantOurs(1)[0]
		<-hit
		f.follow()
		f.wantWaiting(a)
		f.getsIn(a, name)
	})
}

// getsIn has the others release what they hold, and wants the waiter let in with its node.
func (f *fixture) getsIn(a *acquisition, name string) {
	f.t.Helper()
	f.yield()
	lease := f.granted(a)
	if lease.Path() != f.path+"/"+name {
		f.t.Fatalf("lease on %q, waited with %q: it lost its place", lease.Path(), name)
	}
	f.env.release(lease)
}

func TestWaitReconnect(t *testing.T) {
	eachKind(t, waiters, func(t *testing.T, f *fixture) {
		a := f.wait(t.Context())
		name := f.wantOurs(1)[0]
		for range 3 {
			f.network.Cut()
			suite.Eventually(t, "a connection", func() bool { return f.client.ConnectionState().IsConnected() })
		}
		f.follow()
		f.getsIn(a, name)
	})
}

func TestWaitExpired(t *testing.T) {
	eachKind(t, waiters, func(t *testing.T, f *fixture) {
		a := f.wait(t.Context())
		old := f.wantOurs(1)[0]
		f.network.Expire(t)
		f.getsIn(a, f.untilAnother(old))
	})
}

// untilAnother waits until the waiter has another node in the queue.
func (f *fixture) untilAnother(old string) (name string) {
	f.t.Helper()
	suite.Eventually(f.t, "another node in the queue", func() bool {
		names := f.ours()
		if len(names) == 1 {
			name = names[0]
		}
		return len(names) == 1 && name != old
	})
	return name
}

// Behind a partition the waiter's session ends, and nobody waits for its node. When the
// partition heals it queues with another.
func TestWaitPartition(t *testing.T) {
	eachKindIdly(t, waiters, func(t *testing.T, f *fixture) {
		a := f.wait(t.Context())
		old := f.wantOurs(1)[0]
		heal := f.network.Isolate()
		f.untilOurs(0)
		f.wantWaiting(a)
		heal()
		f.getsIn(a, f.untilAnother(old))
	})
}

func TestWaitCancelled(t *testing.T) {
	eachKind(t, waiters, func(t *testing.T, f *fixture) {
		ctx, cancel := context.WithCancelCause(t.Context())
		a := f.wait(ctx)
		f.follow()
		why := errors.New("lost interest")
		cancel(why)
		<-a.done
		wantErr(t, a.err, locks.ErrNotAcquired, context.Canceled, why)
		f.wantOurs(0) // it is gone when Acquire returns
		f.wantWaiting(f.rival)
	})
}

// Who gives up takes its watches back while what it watched is still there.
func TestWaitCancelledWatches(t *testing.T) {
	eachKind(t, waiters, func(t *testing.T, f *fixture) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		a := f.wait(ctx)
		held := len(f.others) // everyone watches the own node
		f.untilWatches("on its own node and one ahead", func(n int) bool { return n >= held+2 })
		cancel()
		<-a.done
		f.untilWatches("those of the holders alone", func(n int) bool { return n == held })
	})
}

func TestWaitClosed(t *testing.T) {
	eachKind(t, waiters, func(t *testing.T, f *fixture) {
		a := f.wait(t.Context())
		f.follow()
		if err := f.client.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		<-a.done
		wantErr(t, a.err, framework.ErrClosed)
		f.untilOurs(0)
		f.wantWaiting(f.rival)
	})
}

func TestWaitNodeDeleted(t *testing.T) {
	eachKind(t, waiters, func(t *testing.T, f *fixture) {
		a := f.wait(t.Context())
		old := f.wantOurs(1)[0]
		f.deleteOurs(old)
		f.getsIn(a, f.untilAnother(old))
	})
}
