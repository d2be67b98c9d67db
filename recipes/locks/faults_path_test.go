package locks_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/recipes/locks"
	"github.com/go-curator/curator/tools/curatortest"
)

// The rows reaped and path gone of the table in faults_test.go. A server removes only what is
// empty: it cannot while somebody waits, and while the lock is held only the directory of the
// mutex in Java's layout. An operator can remove everything at any time.

// eachKindReaped is eachKind on servers that remove empty containers at once.
func eachKindReaped(t *testing.T, kinds []kind, test func(t *testing.T, f *fixture)) {
	t.Parallel()
	for _, k := range kinds {
		t.Run(k.name, func(t *testing.T) {
			t.Parallel() // on a real server most of a test is waiting
			suite.EachReaping(t, k.on(), k.with(test, nil))
		})
	}
}

// v2Kinds are those that have directories of their own for the mutex and for the leases.
var v2Kinds = []kind{sharedKind, twoV2Kind, semaphoreMutexKind}

// untilReaped waits until the server has removed a directory of the lock.
func (f *fixture) untilReaped(dir string) {
	f.t.Helper()
	suite.Eventually(f.t, "the server to remove "+dir, func() bool {
		exists, err := f.observer.CheckExists().ForPath(context.Background(), f.path+dir)
		return err == nil && !exists
	})
}

// removePath removes everything at once, as an operator does. The others lose what they hold. The
// last contenders go first, so that none of them is let in by the end of the one ahead of it: see
// TestPathDeletedInOrder.
func (f *fixture) removePath() {
	f.t.Helper()
	remove := func(path string) framework.Op { return f.observer.TransactionOp().Delete().ForPath(path) }
	gates, leases := f.all()
	var ops []framework.Op
	for _, path := range slices.Backward(append(leases, gates...)) {
		ops = append(ops, remove(path))
	}
	if f.kind.v2 || f.kind.multi {
		for _, dir := range append([]string{"/locks"}, f.kind.dirs()...) {
			exists, err := f.observer.CheckExists().ForPath(context.Background(), f.path+dir)
			if err != nil {
				f.t.Error(err)
			}
			if exists {
				ops = append(ops, remove(f.path+dir))
			}
		}
	}
	if _, err := f.observer.Transaction().ForOperations(context.Background(), append(ops, remove(f.path))...); err != nil {
		f.t.Error(err)
	}
}

// othersLost wants the others to have lost what they held.
func (f *fixture) othersLost() {
	f.t.Helper()
	for _, lease := range f.others {
		f.lost(lease, locks.LossNodeDeleted)
		suite.WantErr(f.t, lease.Release(f.t.Context()), locks.ErrLockLost)
	}
	f.others = nil
}

// The directory has gone between a release and the next acquisition, or goes right before a
// node is made in it.
func TestCreateReaped(t *testing.T) {
	eachKindReaped(t, creators, func(t *testing.T, f *fixture) {
		f.prepare()
		f.untilReaped("")
		f.release(f.hold())
		f.wantNone()
		f.releaseHolders()

		op := jute.OpCreate2
		if f.kind.grouped() {
			op = jute.OpMulti
		}
		reaped := ""
		if f.kind.v2 || f.kind.contended > 0 { // then the mutex's node is there, or that of another part
			reaped = f.kind.dirs()[f.kind.contended]
		}
		hit := f.on(op, f.kind.contended, suite.Late, func() { f.untilReaped(reaped) })
		lease := f.take()
		<-hit
		f.wantPaths(lease, f.wantOurs())
		f.env.release(lease)
		f.wantNone()
	})
}

// Nobody waits to be told that the lock is free when there is nothing at its path.
func TestTryReaped(t *testing.T) {
	tried := slices.DeleteFunc(slices.Clone(creators), func(k kind) bool { return !k.tries() })
	eachKindReaped(t, tried, func(t *testing.T, f *fixture) {
		f.prepare()
		f.untilReaped("")
		lease, err := f.lock.TryAcquire(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		f.env.release(lease)
		f.wantNone()
	})
}

// The reply is lost, and before the nodes are found again an operator has removed them with
// everything else.
func TestCreatePathDeleted(t *testing.T) {
	eachKind(t, creators, func(t *testing.T, f *fixture) {
		f.startHoldersBeside()
		f.prepare()
		hit := f.onCreate(suite.CutAfter, f.removePath)
		lease := f.take()
		<-hit
		f.othersLost()
		f.wantPaths(lease, f.wantOurs())
		f.env.release(lease)
		f.wantNone()
	})
}

func TestWaitPathDeleted(t *testing.T) {
	eachKind(t, waiters, func(t *testing.T, f *fixture) {
		a := f.wait(t.Context())
		f.removePath()
		lease := f.granted(a) // with other nodes: nobody is ahead any more
		f.wantPaths(lease, f.wantOurs())
		f.othersLost()
		f.env.release(lease)
	})
}

// While the lock is held nobody needs the directory of the mutex, and the server removes it. The
// next one makes it again, and waits.
func TestHoldReaped(t *testing.T) {
	eachKindReaped(t, v2Kinds, func(t *testing.T, f *fixture) {
		f.startHoldersBeside()
		lease := f.take()
		f.untilReaped("/locks")
		f.follow()
		suite.OK(t, lease.Verify(t.Context()))
		f.release(lease)
		f.wantNone()
	})
}

func TestHoldPathDeleted(t *testing.T) {
	eachKind(t, holders, func(t *testing.T, f *fixture) {
		lease := f.hold()
		f.removePath()
		f.lost(lease, locks.LossNodeDeleted)
		f.othersLost()
		f.succeed()
		suite.WantErr(t, lease.Release(t.Context()), locks.ErrLockLost)
		f.wantNone()
	})
}

// The reply to the delete is lost, and before it is repeated the server has removed the
// directory: it was our delete all the same.
func TestReleaseReaped(t *testing.T) {
	eachKindReaped(t, holders, func(t *testing.T, f *fixture) {
		lease := f.take()
		hit := f.on(f.kind.deletes(), f.kind.leases-1, suite.CutAfter, func() { f.untilReaped("") })
		f.env.release(lease)
		<-hit
		f.wantNone()
		f.release(f.hold())
	})
}

// The delete arrives when the operator's has been there.
func TestReleasePathDeleted(t *testing.T) {
	eachKind(t, holders, func(t *testing.T, f *fixture) {
		lease := f.hold()
		hit := f.network.On(f.kind.deletes(), suite.Late, f.removePath)
		suite.WantErr(t, lease.Release(t.Context()), locks.ErrLockLost)
		<-hit
		f.othersLost()
		f.succeed()
		f.wantNone()
	})
}

// An operator deletes the holder's node and those of two waiters in one transaction. The first
// waiter sees the holder's node go, and may be let in; the end of its own node is the next event,
// and ends its lease, as any deletion by an operator does.
func TestPathDeletedInOrder(t *testing.T) {
	onVirtual(t, func(t *testing.T, s *curatortest.Server) {
		operator := s.Client(t)
		holder := enqueue(t, s, virtualMutex(t))
		first, second := enqueue(t, s, virtualMutex(t)), enqueue(t, s, virtualMutex(t))
		time.Sleep(time.Second) // the holder watches its node
		var ops []framework.Op
		names := s.Children("/lock")
		slices.SortFunc(names, func(a, b string) int { return strings.Compare(number(a), number(b)) })
		for _, name := range names {
			ops = append(ops, operator.TransactionOp().Delete().ForPath("/lock/"+name))
		}
		if _, err := operator.Transaction().ForOperations(t.Context(), ops...); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		wantLoss(t, holder.lease.Err(), locks.LossNodeDeleted)
		suite.WantErr(t, holder.lease.Release(t.Context()), locks.ErrLockLost)
		for _, waiter := range []*queued{first, second} { // in what order they stand again is open
			select {
			case <-waiter.done:
			default:
				continue
			}
			if waiter.lease.Err() != nil {
				wantLoss(t, waiter.lease.Err(), locks.LossNodeDeleted)
				suite.WantErr(t, waiter.lease.Release(t.Context()), locks.ErrLockLost)
			}
		}
		in := slices.DeleteFunc([]*queued{first, second}, func(q *queued) bool { return !q.in() })
		if len(in) != 1 {
			t.Fatalf("%d hold the mutex", len(in))
		}
		in[0].release()
		time.Sleep(time.Second)
		for _, waiter := range []*queued{first, second} {
			if waiter != in[0] && waiter.in() {
				waiter.release()
			}
		}
		if left := s.Children("/lock"); len(left) > 0 {
			t.Errorf("left: %q", left)
		}
	})
}
