package locks_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/recipes/locks"
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

func TestDo(t *testing.T) {
	virtually(t, func(t *testing.T, e *env) {
		failed := errors.New("work failed")
		err := locks.Do(t.Context(), e.mutex, func(ctx context.Context, lease *locks.Lease) error {
			if !e.mutex.IsOwnedBy(ctx) || lease.Err() != nil {
				t.Error("fn's context re-enters")
			}
			return failed
		})
		suite.WantErr(t, err, failed)
		if errors.Is(err, locks.ErrLockLost) {
			t.Fatalf("error %v", err)
		}
		e.wantNodes(0)

		// The work's context ends, the lock is released all the same.
		ctx, cancel := context.WithCancel(t.Context())
		err = locks.Do(ctx, e.mutex, func(ctx context.Context, _ *locks.Lease) error {
			cancel()
			<-ctx.Done()
			return ctx.Err()
		})
		suite.WantErr(t, err, context.Canceled)
		e.wantNodes(0)

		// The lock is lost while fn works, which does not look.
		err = locks.Do(t.Context(), e.mutex, func(ctx context.Context, lease *locks.Lease) error {
			e.network.Expire(t)
			<-ctx.Done()
			return nil
		})
		suite.WantErr(t, err, locks.ErrLockLost)

		// A panic releases the lock and goes on.
		func() {
			defer func() {
				if recover() != "boom" {
					t.Error("the panic was swallowed")
				}
			}()
			_ = locks.Do(t.Context(), e.mutex, func(context.Context, *locks.Lease) error { panic("boom") })
		}()
		e.wantNodes(0)
	})
}

func TestTryDo(t *testing.T) {
	virtually(t, func(t *testing.T, e *env) {
		lease := e.acquire(e.other())
		err := locks.TryDo(t.Context(), e.mutex, func(context.Context, *locks.Lease) error {
			t.Error("called although the lock is busy")
			return nil
		})
		suite.WantErr(t, err, locks.ErrNotAcquired)
		e.release(lease)
		called := false
		err = locks.TryDo(t.Context(), e.mutex, func(context.Context, *locks.Lease) error {
			called = true
			return nil
		})
		if err != nil || !called {
			t.Fatalf("error %v, called %t", err, called)
		}
	})
}
