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

// The columns holding and releasing of the table in faults_test.go.

// The standard policy gives a lock up at the first broken connection. Nobody was let in,
// which Release finds out.
func TestHoldSuspended(t *testing.T) {
	eachKindVirtually(t, holders, func(t *testing.T, f *fixture) {
		lease := f.hold()
		bound := lease.Bind(t.Context())
		f.network.Cut()
		f.lost(lease, locks.LossSuspended)
		<-bound.Done()
		suite.WantErr(t, context.Cause(bound), locks.ErrLockLost)
		f.wantOurs()
		f.release(lease)
		f.wantNone()
	})
}

// The session policy keeps a lock over a reconnect within the session.
func TestHoldSession(t *testing.T) {
	eachKind(t, holders, func(t *testing.T, f *fixture) {
		lease := f.hold()
		f.network.Cut()
		if _, err := f.client.CheckExists().ForPath(t.Context(), f.path); err != nil {
			t.Fatal(err)
		}
		suite.OK(t, lease.Err())
		f.waiting(f.nextWaiter)
		// The node is watched on the new connection, too.
		f.delete(f.contended(f.wantOurs())...)
		f.lost(lease, locks.LossNodeDeleted)
		f.succeed()
		suite.WantErr(t, lease.Release(t.Context()), locks.ErrLockLost)
	}, sessionPolicy)
}

func TestHoldExpired(t *testing.T) {
	eachKind(t, holders, func(t *testing.T, f *fixture) {
		lease := f.hold()
		f.network.Expire(t)
		f.lost(lease, locks.LossSessionExpired)
		suite.WantErr(t, lease.Err(), framework.ErrSessionExpired, locks.ErrNotHeld)
		f.succeed()
		f.untilNone()
		suite.WantErr(t, lease.Release(t.Context()), locks.ErrLockLost)
		suite.WantErr(t, lease.Release(t.Context()), locks.ErrLockLost) // the same again
	}, sessionPolicy)
}

// Behind a partition the holder stops believing before the server lets the next one in.
func TestHoldPartition(t *testing.T) {
	eachKindVirtually(t, holders, func(t *testing.T, f *fixture) {
		lease := f.hold()
		heal := f.network.Isolate()
		select {
		case <-lease.Context().Done():
		case <-f.nextWaiter.done:
			if lease.Err() == nil { // it looks at the clock: its timer may be late on a busy machine
				t.Fatal("the next is in while the holder believes")
			}
		}
		f.lost(lease, locks.LossDeadline)
		f.succeed()
		heal()
		suite.WantErr(t, lease.Release(t.Context()), locks.ErrLockLost)
	}, sessionPolicy)
}

// The partition heals in time: nobody was let in, which Release finds out.
func TestHoldDeadline(t *testing.T) {
	for _, k := range holders {
		t.Run(k.name, func(t *testing.T) {
			suite.Virtual(t, k.with(func(t *testing.T, f *fixture) {
				lease := f.hold()
				heal := f.network.Isolate()
				f.lost(lease, locks.LossDeadline)
				heal()
				f.release(lease)
				f.wantNone()
			}, []framework.Option{sessionPolicy}))
		})
	}
}

func TestHoldOutlivesAcquire(t *testing.T) {
	eachKindVirtually(t, holders, func(t *testing.T, f *fixture) {
		f.startHoldersBeside()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		lease, err := f.lock.Acquire(ctx)
		if err != nil {
			t.Fatal(err)
		}
		bound := lease.Bind(ctx)
		cancel()
		suite.OK(t, lease.Err())
		suite.WantErr(t, bound.Err(), context.Canceled)
		f.follow()
		f.release(lease)
	})
}

func TestHoldClosed(t *testing.T) {
	eachKindVirtually(t, holders, func(t *testing.T, f *fixture) {
		lease := f.hold()
		suite.OK(t, f.client.Close(t.Context()))
		f.lost(lease, locks.LossClosed)
		suite.WantErr(t, lease.Release(t.Context()), locks.ErrLockLost)
		f.succeed()
		f.untilNone()
	})
}

func TestHoldNodeDeleted(t *testing.T) { eachKind(t, holders, holdNodeDeleted) }

func holdNodeDeleted(t *testing.T, f *fixture) {
	lease := f.hold()
	f.delete(f.contended(f.wantOurs())...)
	f.lost(lease, locks.LossNodeDeleted)
	f.succeed()
	suite.WantErr(t, lease.Release(t.Context()), locks.ErrLockLost)
}

func TestReleaseCutBefore(t *testing.T) {
	eachKind(t, holders, func(t *testing.T, f *fixture) {
		lease := f.hold()
		hit := f.onDelete(suite.CutBefore, nil)
		f.release(lease)
		<-hit
		f.wantNone()
	})
}

func TestReleaseCutAfter(t *testing.T) {
	eachKind(t, holders, func(t *testing.T, f *fixture) {
		lease := f.hold()
		hit := f.onDelete(suite.CutAfter, nil)
		f.release(lease) // the node is gone on a session that lives: it was our delete
		<-hit
		f.wantNone()
	})
}

func TestReleaseExpired(t *testing.T) {
	eachKind(t, holders, func(t *testing.T, f *fixture) {
		lease := f.hold()
		hit := f.onDelete(suite.CutBefore, func() { f.network.Expire(t) })
		suite.WantErr(t, lease.Release(t.Context()), locks.ErrLockLost)
		<-hit
		f.succeed()
		f.wantNone()
	})
}

func TestReleasePending(t *testing.T) {
	eachKindVirtually(t, holders, func(t *testing.T, f *fixture) {
		lease := f.hold()
		heal := f.network.Isolate()
		ctx := bounded(t, 50*time.Millisecond)
		suite.WantErr(t, lease.Release(ctx), locks.ErrReleasePending)
		f.wantOurs()
		f.waiting(f.nextWaiter)
		heal()
		f.env.release(lease) // waits for the outcome
		f.succeed()
		f.wantNone()
	}, patient)
}

func TestReleaseEndedContext(t *testing.T) {
	eachKindVirtually(t, holders, func(t *testing.T, f *fixture) {
		lease := f.hold()
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		suite.OK(t, lease.Release(ctx))
		f.succeed()
		f.wantNone()
	})
}

// Close waits for a release that is on its way, or ends the session and the node with it.
func TestReleaseClosed(t *testing.T) {
	eachKindVirtually(t, holders, func(t *testing.T, f *fixture) {
		lease := f.hold()
		released := make(chan error, 1)
		hit := f.onDelete(suite.CutBefore, nil)
		go func() { released <- lease.Release(t.Context()) }()
		<-hit
		suite.OK(t, f.client.Close(t.Context()))
		err := <-released
		if f.kind.leases > 1 && (errors.Is(err, locks.ErrLockLost) || errors.Is(err, locks.ErrReleasePending)) {
			err = nil // of several Close has left some to go with the session
		}
		if err != nil {
			t.Fatal(err)
		}
		f.succeed()
		f.untilNone()
	})
}

func TestReleaseNodeDeleted(t *testing.T) {
	eachKind(t, holders, func(t *testing.T, f *fixture) {
		lease := f.hold()
		// The node goes while its watch cannot tell: the connection is cut before.
		heal := f.network.Isolate()
		f.delete(f.contended(f.wantOurs())...)
		heal()
		// A delete that is lost with the old connection would be taken for the one
		// that removed the node.
		f.lost(lease, locks.LossSuspended)
		suite.Eventually(t, "a connection", func() bool { return f.client.ConnectionState().IsConnected() })
		f.succeed()
		suite.WantErr(t, lease.Release(t.Context()), locks.ErrLockLost)
		f.wantNone()
	})
}

// The row lagging of the table in faults_test.go: the client reconnects to a server that is
// behind the one before. Writes are the same at all servers, releases among them.

// patient has a client believe in its session for as long as a busy machine needs to get it a
// connection: that is the longest that the servers grant.
var patient = framework.WithSessionTimeout(suite.LongSession)

// The reply is lost, and the next server does not know the node yet: it is looked for behind a
// sync.
func TestCreateLagging(t *testing.T) {
	eachKindVirtually(t, creators, func(t *testing.T, f *fixture) {
		f.startHoldersBeside()
		f.prepare()
		f.network.Lag()
		f.createUnanswered(nil)
	})
}

// Those ahead let go while there is no connection, and the next server has not heard of it.
func TestWaitLagging(t *testing.T) {
	eachKindVirtually(t, waiters, func(t *testing.T, f *fixture) {
		a := f.wait(t.Context())
		f.network.Lag()
		heal := f.network.Isolate()
		f.releaseHolders()
		heal()
		lease := f.granted(a)
		f.wantPaths(lease, f.wantOurs())
		f.env.release(lease)
	})
}

// The node is deleted while there is no connection, and the next server has it still.
func TestHoldLagging(t *testing.T) {
	eachKindVirtually(t, holders, func(t *testing.T, f *fixture) {
		lease := f.hold()
		suite.Eventually(t, "the watches on the nodes", func() bool { return f.network.Requests(jute.OpGetData) >= f.kind.leases })
		f.network.Lag()
		heal := f.network.Isolate()
		f.delete(f.contended(f.wantOurs())...)
		heal()
		f.lost(lease, locks.LossNodeDeleted)
		f.succeed()
		suite.WantErr(t, lease.Release(t.Context()), locks.ErrLockLost)
	}, sessionPolicy, patient)
}

// The client has a persistent recursive watch, as of a cache, above the lock. So it gets the events
// of the lock's own writes, and of others' that no watch of the lock is for, also before the answers
// to the requests that set the lock's watches.

// watchedFromAbove has test run beside the watch. A real server shows it for one kind of lock.
func watchedFromAbove(t *testing.T, kinds []kind, test func(t *testing.T, f *fixture)) {
	eachKindVirtually(t, kinds, func(t *testing.T, f *fixture) {
		ignore := framework.NewWatcher(func(context.Context, framework.WatchedEvent) {})
		watches := f.client.Watches()
		suite.OK(t, watches.Add().WithMode(framework.PersistentRecursive).ForPath(t.Context(), f.path, ignore))
		f.prepare()
		test(t, f)
		suite.OK(t, watches.Remove().ForPath(t.Context(), f.path, ignore))
	})
}

func TestCreateWatchedFromAbove(t *testing.T) {
	watchedFromAbove(t, creators, func(t *testing.T, f *fixture) {
		f.startHoldersBeside()
		f.createUnanswered(nil)
	})
}

func TestWaitWatchedFromAbove(t *testing.T) { watchedFromAbove(t, waiters, waitNodeDeleted) }

func TestHoldWatchedFromAbove(t *testing.T) { watchedFromAbove(t, holders, holdNodeDeleted) }
