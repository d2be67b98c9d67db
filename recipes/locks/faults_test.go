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

// The states of an acquisition, and what may befall it in each. Every cell names its test.
//
//	            creating            waiting             holding                   releasing
//	not sent    CreateCutBefore     WaitReconnect       HoldSuspended, HoldSession ReleaseCutBefore
//	reply lost  CreateCutAfter      WaitReconnect       -                         ReleaseCutAfter
//	expiry      CreateExpired       WaitExpired         HoldExpired               ReleaseExpired
//	reconnect   CreateCutBefore     WaitReconnect       HoldSession               ReleaseCutBefore
//	partition   CreatePartition     -                   HoldPartition             ReleasePending
//	ctx ends    CreatePartition     WaitCancelled       HoldOutlivesAcquire       ReleaseEndedContext
//	Close       CreateClosed        WaitClosed          HoldClosed                ReleaseClosed
//	node gone   -                   WaitNodeDeleted     HoldNodeDeleted           ReleaseNodeDeleted

func TestCreateCutBefore(t *testing.T) {
	suite.Each(t, func(t *testing.T, b *suite.Backend) {
		e := newEnv(t, b)
		hit := e.network.On(jute.OpCreate2, suite.CutBefore, nil)
		lease := e.acquire(e.mutex)
		<-hit
		e.wantNodes(1)
		e.release(lease)
		e.wantNodes(0)
	})
}

// The reply is lost but the session lives: the node is found again, and only one is there.
func TestCreateCutAfter(t *testing.T) {
	suite.Each(t, func(t *testing.T, b *suite.Backend) {
		e := newEnv(t, b)
		e.release(e.acquire(e.mutex)) // the parents are there
		hit := e.network.On(jute.OpCreate2, suite.CutAfter, nil)
		lease := e.acquire(e.mutex)
		<-hit
		if name := e.wantNodes(1)[0]; lease.Path() != e.path+"/"+name || name[len(name)-1] != '1' {
			t.Fatalf("lease on %q, node %q: not the one that was created first", lease.Path(), name)
		}
		e.release(lease)
		e.wantNodes(0)
	})
}

// The reply is lost and the session, too: the node of the old session is not adopted.
func TestCreateExpired(t *testing.T) {
	suite.Each(t, func(t *testing.T, b *suite.Backend) {
		e := newEnv(t, b)
		e.release(e.acquire(e.mutex))
		before := e.client.SessionID()
		hit := e.network.On(jute.OpCreate2, suite.CutAfter, func() { e.network.Expire(t) })
		lease := e.acquire(e.mutex)
		<-hit
		if after := e.client.SessionID(); after == before {
			t.Fatal("the session is the same")
		}
		e.wantNodes(1)
		e.release(lease)
		e.wantNodes(0)
	})
}

// The caller gives up while nobody knows whether the node was made: it is removed later.
func TestCreatePartition(t *testing.T) {
	suite.Each(t, func(t *testing.T, b *suite.Backend) {
		e := newEnv(t, b)
		e.release(e.acquire(e.mutex))
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		var heal func()
		hit := e.network.On(jute.OpCreate2, suite.CutAfter, func() {
			heal = e.network.Isolate()
			cancel()
		})
		_, err := e.mutex.Acquire(ctx)
		<-hit
		wantErr(t, err, context.Canceled)
		if errors.Is(err, locks.ErrNotAcquired) {
			t.Fatalf("%v says that the lock is busy", err)
		}
		e.wantNodes(1)
		heal()
		e.untilNodes(0)
	})
}

func TestCreateClosed(t *testing.T) {
	suite.Each(t, func(t *testing.T, b *suite.Backend) {
		e := newEnv(t, b)
		heal := e.network.Isolate()
		defer heal()
		a := e.start(t.Context(), e.mutex)
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		wantErr(t, e.client.Close(ctx), framework.ErrConnectionLoss) // the session is left to its timeout
		<-a.done
		wantErr(t, a.err, framework.ErrClosed)
	})
}

func TestWaitReconnect(t *testing.T) {
	suite.Each(t, func(t *testing.T, b *suite.Backend) {
		e := newEnv(t, b)
		holder := e.acquire(e.other())
		a := e.queue(t.Context(), e.mutex, 2)
		name := e.wantNodes(2)[1]
		for range 3 {
			e.network.Cut()
			suite.Eventually(t, "a connection", func() bool { return e.client.ConnectionState().IsConnected() })
		}
		e.release(holder)
		if lease := e.granted(a); lease.Path() != e.path+"/"+name {
			t.Fatalf("lease on %q, waited with %q: it lost its place", lease.Path(), name)
		} else {
			e.release(lease)
		}
		e.wantNodes(0)
	})
}

func TestWaitExpired(t *testing.T) {
	suite.Each(t, func(t *testing.T, b *suite.Backend) {
		e := newEnv(t, b)
		holder := e.acquire(e.other())
		a := e.queue(t.Context(), e.mutex, 2)
		old := e.wantNodes(2)[1]
		e.network.Expire(t)
		suite.Eventually(t, "another node in the queue", func() bool {
			names := e.nodes()
			return len(names) == 2 && names[1] != old
		})
		e.release(holder)
		e.release(e.granted(a))
		e.wantNodes(0)
	})
}

func TestWaitCancelled(t *testing.T) {
	suite.Each(t, func(t *testing.T, b *suite.Backend) {
		e := newEnv(t, b)
		holder := e.acquire(e.other())
		ctx, cancel := context.WithCancelCause(t.Context())
		a := e.queue(ctx, e.mutex, 2)
		last := e.queue(t.Context(), e.other(), 3)
		why := errors.New("lost interest")
		cancel(why)
		<-a.done
		wantErr(t, a.err, locks.ErrNotAcquired, context.Canceled, why)
		e.wantNodes(2) // it is gone when Acquire returns
		select {
		case <-last.done:
			t.Fatal("let in although the holder holds")
		default:
		}
		e.release(holder)
		e.release(e.granted(last))
		e.wantNodes(0)
	})
}

func TestWaitClosed(t *testing.T) {
	suite.Each(t, func(t *testing.T, b *suite.Backend) {
		e := newEnv(t, b)
		holder := e.acquire(e.other())
		a := e.queue(t.Context(), e.mutex, 2)
		if err := e.client.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		<-a.done
		wantErr(t, a.err, framework.ErrClosed)
		e.untilNodes(1)
		e.release(holder)
	})
}

func TestWaitNodeDeleted(t *testing.T) {
	suite.Each(t, func(t *testing.T, b *suite.Backend) {
		e := newEnv(t, b)
		holder := e.acquire(e.other())
		a := e.queue(t.Context(), e.mutex, 2)
		old := e.wantNodes(2)[1]
		if err := e.observer.Delete().ForPath(t.Context(), e.path+"/"+old); err != nil {
			t.Fatal(err)
		}
		suite.Eventually(t, "another node in the queue", func() bool {
			names := e.nodes()
			return len(names) == 2 && names[1] != old
		})
		e.release(holder)
		e.release(e.granted(a))
		e.wantNodes(0)
	})
}

// The standard policy gives a lock up at the first broken connection. Nobody was let in,
// which Release finds out.
func TestHoldSuspended(t *testing.T) {
	suite.Each(t, func(t *testing.T, b *suite.Backend) {
		e := newEnv(t, b)
		lease := e.acquire(e.mutex)
		bound := lease.Bind(t.Context())
		e.network.Cut()
		e.lost(lease, locks.LossSuspended)
		<-bound.Done()
		wantErr(t, context.Cause(bound), locks.ErrLockLost)
		e.wantNodes(1)
		e.release(lease)
		e.wantNodes(0)
	})
}

// The session policy keeps a lock over a reconnect within the session.
func TestHoldSession(t *testing.T) {
	suite.Each(t, func(t *testing.T, b *suite.Backend) {
		e := newEnv(t, b, sessionPolicy)
		lease := e.acquire(e.mutex)
		e.network.Cut()
		if _, err := e.client.CheckExists().ForPath(t.Context(), e.path); err != nil {
			t.Fatal(err)
		}
		if err := lease.Err(); err != nil {
			t.Fatal(err)
		}
		// The node is watched on the new connection, too.
		if err := e.observer.Delete().ForPath(t.Context(), lease.Path()); err != nil {
			t.Fatal(err)
		}
		e.lost(lease, locks.LossNodeDeleted)
		wantErr(t, lease.Release(t.Context()), locks.ErrLockLost)
	})
}

func TestHoldExpired(t *testing.T) {
	suite.Each(t, func(t *testing.T, b *suite.Backend) {
		e := newEnv(t, b, sessionPolicy)
		lease := e.acquire(e.mutex)
		e.network.Expire(t)
		e.lost(lease, locks.LossSessionExpired)
		wantErr(t, lease.Err(), framework.ErrSessionExpired, locks.ErrNotHeld)
		e.untilNodes(0)
		wantErr(t, lease.Release(t.Context()), locks.ErrLockLost)
		wantErr(t, lease.Release(t.Context()), locks.ErrLockLost) // the same again
	})
}

// Behind a partition the holder stops believing before the server lets the next one in.
func TestHoldPartition(t *testing.T) {
	suite.Each(t, func(t *testing.T, b *suite.Backend) {
		e := newEnv(t, b, sessionPolicy)
		lease := e.acquire(e.mutex)
		next := e.queue(t.Context(), e.other(), 2)
		heal := e.network.Isolate()
		select {
		case <-lease.Context().Done():
		case <-next.done:
			t.Fatal("the next is in while the holder believes")
		}
		e.lost(lease, locks.LossDeadline)
		e.release(e.granted(next))
		heal()
		wantErr(t, lease.Release(t.Context()), locks.ErrLockLost)
	})
}

func TestHoldOutlivesAcquire(t *testing.T) {
	suite.Each(t, func(t *testing.T, b *suite.Backend) {
		e := newEnv(t, b)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		lease, err := e.mutex.Acquire(ctx)
		if err != nil {
			t.Fatal(err)
		}
		bound := lease.Bind(ctx)
		cancel()
		if err := lease.Err(); err != nil {
			t.Fatal(err)
		}
		wantErr(t, bound.Err(), context.Canceled)
		e.release(lease)
	})
}

func TestHoldClosed(t *testing.T) {
	suite.Each(t, func(t *testing.T, b *suite.Backend) {
		e := newEnv(t, b)
		lease := e.acquire(e.mutex)
		if err := e.client.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		e.lost(lease, locks.LossClosed)
		wantErr(t, lease.Release(t.Context()), locks.ErrLockLost)
		e.untilNodes(0)
	})
}

func TestHoldNodeDeleted(t *testing.T) {
	suite.Each(t, func(t *testing.T, b *suite.Backend) {
		e := newEnv(t, b)
		lease := e.acquire(e.mutex)
		if err := e.observer.Delete().ForPath(t.Context(), lease.Path()); err != nil {
			t.Fatal(err)
		}
		e.lost(lease, locks.LossNodeDeleted)
		wantErr(t, lease.Release(t.Context()), locks.ErrLockLost)
	})
}

func TestReleaseCutBefore(t *testing.T) {
	suite.Each(t, func(t *testing.T, b *suite.Backend) {
		e := newEnv(t, b)
		lease := e.acquire(e.mutex)
		hit := e.network.On(jute.OpDelete, suite.CutBefore, nil)
		e.release(lease)
		<-hit
		e.wantNodes(0)
	})
}

func TestReleaseCutAfter(t *testing.T) {
	suite.Each(t, func(t *testing.T, b *suite.Backend) {
		e := newEnv(t, b)
		lease := e.acquire(e.mutex)
		hit := e.network.On(jute.OpDelete, suite.CutAfter, nil)
		e.release(lease) // the node is gone on a session that lives: it was our delete
		<-hit
		e.wantNodes(0)
	})
}

func TestReleaseExpired(t *testing.T) {
	suite.Each(t, func(t *testing.T, b *suite.Backend) {
		e := newEnv(t, b)
		lease := e.acquire(e.mutex)
		hit := e.network.On(jute.OpDelete, suite.CutBefore, func() { e.network.Expire(t) })
		wantErr(t, lease.Release(t.Context()), locks.ErrLockLost)
		<-hit
		e.wantNodes(0)
	})
}

func TestReleasePending(t *testing.T) {
	suite.Each(t, func(t *testing.T, b *suite.Backend) {
		e := newEnv(t, b)
		lease := e.acquire(e.mutex)
		heal := e.network.Isolate()
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		wantErr(t, lease.Release(ctx), locks.ErrReleasePending)
		e.wantNodes(1)
		heal()
		e.release(lease) // waits for the outcome
		e.wantNodes(0)
	})
}

func TestReleaseEndedContext(t *testing.T) {
	suite.Each(t, func(t *testing.T, b *suite.Backend) {
		e := newEnv(t, b)
		lease := e.acquire(e.mutex)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := lease.Release(ctx); err != nil {
			t.Fatal(err)
		}
		e.wantNodes(0)
	})
}

// Close waits for a release that is on its way, or ends the session and the node with it.
func TestReleaseClosed(t *testing.T) {
	suite.Each(t, func(t *testing.T, b *suite.Backend) {
		e := newEnv(t, b)
		lease := e.acquire(e.mutex)
		released := make(chan error, 1)
		hit := e.network.On(jute.OpDelete, suite.CutBefore, nil)
		go func() { released <- lease.Release(t.Context()) }()
		<-hit
		if err := e.client.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := <-released; err != nil {
			t.Fatal(err)
		}
		e.untilNodes(0)
	})
}

func TestReleaseNodeDeleted(t *testing.T) {
	suite.Each(t, func(t *testing.T, b *suite.Backend) {
		e := newEnv(t, b)
		lease := e.acquire(e.mutex)
		// The node goes while its watch cannot tell: the connection is cut before.
		heal := e.network.Isolate()
		if err := e.observer.Delete().ForPath(t.Context(), lease.Path()); err != nil {
			t.Fatal(err)
		}
		heal()
		// A delete that is lost with the old connection would be taken for the one
		// that removed the node.
		e.lost(lease, locks.LossSuspended)
		suite.Eventually(t, "a connection", func() bool { return e.client.ConnectionState().IsConnected() })
		wantErr(t, lease.Release(t.Context()), locks.ErrLockLost)
		e.wantNodes(0)
	})
}
