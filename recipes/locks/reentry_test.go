package locks_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/recipes/locks"
	"github.com/go-curator/curator/tools/curatortest"
)

// Re-entry talks to no server: three levels cost what one does.
func TestReentry(t *testing.T) {
	virtually(t, func(t *testing.T, e *env) {
		outer := e.acquire(e.mutex)
		creates := e.network.Requests(jute.OpCreate2)
		middle := suite.Got(e.lock(e.client).Acquire(outer.Context())).OK(t) // another object, the same lock
		inner := suite.Got(e.mutex.TryAcquire(middle.Bind(t.Context()))).OK(t)
		if inner.Token() != outer.Token() || inner.Path() != outer.Path() {
			t.Fatal("a nested lease has another node")
		}
		if n := e.network.Requests(jute.OpCreate2); n != creates {
			t.Fatalf("%d creates for nested leases", n-creates)
		}
		// In any order; the node goes with the last.
		e.release(outer)
		suite.WantErr(t, outer.Err(), locks.ErrReleased)
		if inner.Err() != nil || middle.Err() != nil {
			t.Fatal("nested leases outlive the outer one")
		}
		e.wantNodes(1)
		e.release(inner)
		e.wantNodes(1)
		e.release(middle)
		e.wantNodes(0)
	})
}

// Goroutines that were all handed the holder's context do not get in together.
func TestSiblingsExcludeEachOther(t *testing.T) {
	virtually(t, func(t *testing.T, e *env) {
		outer := e.acquire(e.mutex)
		var in, entered atomic.Int32
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				err := locks.Do(outer.Context(), e.mutex, func(ctx context.Context, _ *locks.Lease) error {
					if in.Add(1) != 1 {
						t.Error("two siblings are in")
					}
					entered.Add(1)
					// A child of the child enters at once.
					err := locks.TryDo(ctx, e.mutex, func(context.Context, *locks.Lease) error { return nil })
					in.Add(-1)
					return err
				})
				if err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if entered.Load() != 8 {
			t.Fatalf("%d entered", entered.Load())
		}
		child := e.acquireFrom(outer.Context(), e.mutex)
		suite.Got(e.mutex.TryAcquire(outer.Context())).Fails(t, locks.ErrNotAcquired)
		suite.Got(e.lock(e.client, locks.WithMaxWait(10*time.Millisecond)).Acquire(outer.Context())).Fails(t, locks.ErrNotAcquired)
		e.release(child)
		e.release(outer)
	})
}

// An ended lease in a context carries nothing.
func TestEndedLeaseCarriesNothing(t *testing.T) {
	virtually(t, func(t *testing.T, e *env) {
		lease := e.acquire(e.mutex)
		if !e.mutex.IsOwnedBy(lease.Context()) || e.mutex.IsOwnedBy(t.Context()) || e.other().IsOwnedBy(lease.Context()) {
			t.Fatal("IsOwnedBy")
		}
		e.release(lease)
		if e.mutex.IsOwnedBy(lease.Context()) {
			t.Fatal("a released lease owns nothing")
		}
		suite.Got(e.mutex.Acquire(lease.Context())).Fails(t, locks.ErrReleased, context.Canceled)
		again := e.acquireFrom(context.WithoutCancel(lease.Context()), e.mutex) // an ordinary contender
		if again.Token() <= lease.Token() {
			t.Fatal("it nested in a released lease")
		}
		e.release(again)
	})
}

// A wait below a lease ends with the context, with the lease, or when the one ahead goes.
func TestWaitBelowALease(t *testing.T) {
	virtually(t, func(t *testing.T, e *env) {
		outer := e.acquire(e.mutex)
		child := e.acquireFrom(outer.Context(), e.mutex)
		why := errors.New("lost interest")
		ctx, cancel := context.WithCancelCause(outer.Context())
		waits := e.start(ctx, e.mutex)
		synctest.Wait()
		suite.Got(e.mutex.TryAcquire(outer.Context())).Fails(t, locks.ErrNotAcquired)
		cancel(why)
		<-waits.done
		suite.WantErr(t, waits.err, locks.ErrNotAcquired, context.Canceled, why)

		next := e.start(outer.Context(), e.mutex)
		synctest.Wait()
		e.release(child)
		child = e.granted(next)
		// With the outer lease's end it becomes an ordinary contender, or nobody by its context.
		detached, bound := e.start(context.WithoutCancel(outer.Context()), e.mutex), e.start(outer.Context(), e.mutex)
		synctest.Wait()
		e.release(outer)
		<-bound.done
		suite.WantErr(t, bound.err, locks.ErrReleased)
		e.untilNodes(2)
		e.release(child)
		again := e.granted(detached)
		if again.Token() == outer.Token() {
			t.Error("nested in a lease that had ended")
		}
		e.release(again)
		e.wantNodes(0)
	})
}

// Whether the client holds the mutex, through whatever object, does not depend on the context.
func TestIsAcquiredInThisProcess(t *testing.T) {
	virtually(t, func(t *testing.T, e *env) {
		same, other := e.lock(e.client), e.other()
		want := func(when string, want bool) {
			t.Helper()
			if e.mutex.IsAcquiredInThisProcess() != want || same.IsAcquiredInThisProcess() != want || other.IsAcquiredInThisProcess() {
				t.Errorf("%s: acquired %t, another object %t, another client %t", when, !want, same.IsAcquiredInThisProcess(), other.IsAcquiredInThisProcess())
			}
		}
		want("at first", false)
		lease := e.acquire(e.mutex)
		want("held", true)
		nested := e.acquireFrom(lease.Context(), e.mutex)
		e.release(lease)
		want("held by a nested lease", true)
		e.release(nested)
		want("released", false)
		lease = e.acquire(e.mutex)
		e.network.Cut()
		e.lost(lease, locks.LossSuspended)
		want("lost", false)
		e.release(lease)
	})
}

// A lease of another client is no re-entry: it would be another session's.
func TestOtherClientsDoNotNest(t *testing.T) {
	virtually(t, func(t *testing.T, e *env) {
		lease := e.acquire(e.mutex)
		suite.Got(e.other().TryAcquire(lease.Context())).Fails(t, locks.ErrNotAcquired)
		e.release(lease)
	})
}

// A loss ends every nested lease before Lose returns to its caller, which noticed it.
func TestLossEndsNestedLeases(t *testing.T) {
	virtually(t, func(t *testing.T, e *env) {
		outer := e.acquire(e.mutex)
		inner := e.acquireFrom(outer.Context(), e.mutex)
		e.network.Expire(t)
		e.lost(inner, locks.LossSuspended)
		e.lost(outer, locks.LossSuspended)
		suite.Got(e.mutex.Acquire(inner.Context())).Fails(t, locks.ErrLockLost)
		suite.WantErr(t, inner.Release(t.Context()), locks.ErrLockLost)
		suite.WantErr(t, outer.Release(t.Context()), locks.ErrLockLost)
		e.wantNodes(0)
	})
}

// acquirable is a lock that can be asked.
type acquirable interface{ IsAcquiredInThisProcess() bool }

// A multi lock is acquired while the client holds all its locks, through whatever objects.
func TestIsMultiAcquiredInThisProcess(t *testing.T) {
	onMulti(t, suite.InVirtualTime, func(t *testing.T, e *env) {
		multi, same, other := multiOf(t, e.all(e.client)...), multiOf(t, e.all(e.client)...), multiOf(t, e.all(e.otherClient())...)
		want := func(when string, want bool) {
			t.Helper()
			if multi.IsAcquiredInThisProcess() != want || same.IsAcquiredInThisProcess() != want || other.IsAcquiredInThisProcess() {
				t.Errorf("%s: acquired %t, another object %t, another client %t",
					when, multi.IsAcquiredInThisProcess(), same.IsAcquiredInThisProcess(), other.IsAcquiredInThisProcess())
			}
		}
		want("at first", false)
		lease := e.acquire(multi)
		want("held", true)
		e.release(lease)
		want("released", false)
		var parts []*locks.Lease
		for i := range multiDirs {
			want("not all are held", false)
			parts = append(parts, e.acquire(e.mutexAt(multiDirs[i], e.client)))
		}
		want("each is held by itself", true)
		e.release(parts[1])
		want("one was released", false)
		e.release(parts[0])
		e.release(parts[2])
		lease = e.acquire(multi)
		e.deleteAt(1)
		<-lease.Parts()[1].Context().Done()
		want("one was lost", false)
		suite.WantErr(t, lease.Release(t.Context()), locks.ErrLockLost)
	})
}

// wrapper is a lock of another package that has one of this package inside, and plain one that
// hides its methods.
type (
	wrapper struct{ *locks.InterProcessMutex }
	plain   struct{ lock locks.InterProcessLock }
)

func (p plain) Acquire(ctx context.Context) (*locks.Lease, error)    { return p.lock.Acquire(ctx) }
func (p plain) TryAcquire(ctx context.Context) (*locks.Lease, error) { return p.lock.TryAcquire(ctx) }

// Each kind of lock can be a part, and tells whether it is held.
func TestIsMultiOfAnyKindAcquired(t *testing.T) {
	virtually(t, func(t *testing.T, e *env) {
		rw, err1 := locks.NewInterProcessReadWriteLock(e.client, e.b.Path("rw"))
		semaphore, err2 := locks.NewInterProcessSemaphore(e.client, e.b.Path("semaphore"), 2)
		v2, err3 := locks.NewInterProcessSemaphoreV2(e.client, e.b.Path("v2"), 2)
		semaphoreMutex, err4 := locks.NewInterProcessSemaphoreMutex(e.client, e.b.Path("semaphore-mutex"))
		inner, err5 := locks.NewInterProcessMultiLock(e.mutex)
		suite.OK(t, errors.Join(err1, err2, err3, err4, err5))
		for _, tt := range []struct {
			lock locks.InterProcessLock
			want bool
		}{
			{e.mutex, true},
			{rw.ReadLock(), true},
			{rw.WriteLock(), true},
			{semaphore, true},
			{v2, true},
			{semaphoreMutex, true},
			{inner, true},
			{wrapper{e.mutex}, true},
			{&wrapper{e.mutex}, true},
			{plain{e.mutex}, false}, // it does not say
		} {
			multi := suite.Got(locks.NewInterProcessMultiLock(tt.lock)).OK(t)
			if multi.IsAcquiredInThisProcess() {
				t.Errorf("%T: acquired at first", tt.lock)
			}
			err := locks.Do(t.Context(), multi, func(context.Context, *locks.Lease) error {
				if got := multi.IsAcquiredInThisProcess(); got != tt.want {
					t.Errorf("%T: held, IsAcquiredInThisProcess %t, want %t", tt.lock, got, tt.want)
				}
				return nil
			})
			if err != nil || multi.IsAcquiredInThisProcess() {
				t.Errorf("%T: released, %v, still acquired %t", tt.lock, err, multi.IsAcquiredInThisProcess())
			}
		}
	})
}

// Locks of other packages can be values as well as pointers.
func TestDoOfAWrappedLock(t *testing.T) {
	virtually(t, func(t *testing.T, e *env) {
		for _, lock := range []locks.InterProcessLock{wrapper{e.mutex}, &wrapper{e.mutex}, plain{e.mutex}} {
			err := locks.Do(t.Context(), lock, func(ctx context.Context, lease *locks.Lease) error { return errors.Join(ctx.Err(), lease.Err()) })
			if err != nil {
				t.Errorf("%T: %v", lock, err)
			}
		}
	})
}

// A hold is over when its time is, whether or not a timer has fired: the client's deadline, and
// that of WithMaxHold.
func TestNotAcquiredAfterTheDeadline(t *testing.T) {
	onVirtual(t, func(t *testing.T, s *curatortest.Server) {
		for what, most := range map[string]time.Duration{"WithMaxHold": time.Second, "the session's deadline": time.Hour} {
			client := s.Client(t, framework.WithSessionTimeout(4*time.Second), sessionPolicy)
			mutex := suite.Got(locks.NewInterProcessMutex(client, "/lock", locks.WithMaxHold(most))).OK(t)
			multi := suite.Got(locks.NewInterProcessMultiLock(mutex)).OK(t)
			lease := suite.Got(multi.Acquire(t.Context())).OK(t)
			heal := func() {}
			if most == time.Hour {
				heal = s.PartitionSession(client.SessionID(), curatortest.Both)
			}
			synctest.Wait()
			for _, lock := range []acquirable{mutex, multi} {
				if !lock.IsAcquiredInThisProcess() {
					t.Errorf("%s: %T: not acquired in time", what, lock)
				}
			}
			// Asked at the very instant: nothing else has had the time to notice.
			time.Sleep(min(most, 4*time.Second))
			for _, lock := range []acquirable{mutex, multi} {
				if lock.IsAcquiredInThisProcess() {
					t.Errorf("%s: %T: acquired after the deadline", what, lock)
				}
			}
			heal()
			suite.WantErr(t, lease.Err(), locks.ErrLockLost)
			_ = lease.Release(t.Context()) // what it says is tested elsewhere
		}
	})
}
