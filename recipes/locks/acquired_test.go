package locks_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/recipes/locks"
	"github.com/go-curator/curator/tools/curatortest"
)

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
