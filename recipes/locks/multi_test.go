package locks_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/recipes/locks"
)

// onMulti runs test on some backends. To the server a multi lock is several mutexes, here in multiDirs, so most
// tests have nothing to ask a real one.
func onMulti(t *testing.T, on suite.Backends, test func(t *testing.T, e *env), opts ...framework.Option) {
	onBackends(t, on, func(t *testing.T, e *env) {
		test(t, e)
		e.wantHeld()
	}, opts...)
}

// wantHeld fails unless exactly these of the mutexes have a node.
func (e *env) wantHeld(want ...int) {
	e.t.Helper()
	var held []int
	for i, dir := range multiDirs {
		if len(e.names(dir)) > 0 {
			held = append(held, i)
		}
	}
	if !slices.Equal(held, want) {
		e.t.Fatalf("the mutexes %v are held, want %v", held, want)
	}
}

// all returns the mutexes.
func (e *env) all(client *framework.Client) []locks.InterProcessLock {
	e.t.Helper()
	var all []locks.InterProcessLock
	for i := range multiDirs {
		all = append(all, e.mutexAt(multiDirs[i], client))
	}
	return all
}

func TestMulti(t *testing.T) {
	onMulti(t, withRealServer, func(t *testing.T, e *env) {
		multi := multiOf(t, e.all(e.client)...)
		lease := e.acquire(multi)
		e.wantHeld(0, 1, 2)
		parts := lease.Parts()
		if len(parts) != 3 || lease.Token() != -1 || lease.Path() != "" || lease.Err() != nil {
			t.Fatalf("%d parts, token %d, path %q, error %v", len(parts), lease.Token(), lease.Path(), lease.Err())
		}
		for i, part := range parts {
			if part.Parts() != nil || part.Token() <= 0 || i > 0 && part.Token() <= parts[i-1].Token() {
				t.Errorf("part %d has the token %d", i, part.Token())
			}
		}
		clear(parts) // a copy
		suite.OK(t, lease.Verify(t.Context()))
		// What the context carries is every part: all of it, or one, re-enters.
		inner := e.acquireFrom(lease.Context(), multi)
		one := e.acquireFrom(inner.Bind(t.Context()), e.mutexAt(multiDirs[1], e.client))
		if one.Token() != lease.Parts()[1].Token() {
			t.Error("a part did not nest")
		}
		suite.Got(multiOf(t, e.all(e.otherClient())...).TryAcquire(t.Context())).Fails(t, locks.ErrNotAcquired)
		e.release(one)
		e.release(inner)
		e.wantHeld(0, 1, 2)
		e.release(lease)
		suite.WantErr(t, lease.Err(), locks.ErrReleased)
		suite.WantErr(t, context.Cause(lease.Context()), locks.ErrReleased)
		e.release(lease) // the same again
		suite.Got(multi.Acquire(lease.Context())).Fails(t, locks.ErrReleased)
	})
}

// A lock in the middle that is not to be had leaves nothing held.
func TestMultiAllOrNone(t *testing.T) {
	onMulti(t, suite.InVirtualTime, func(t *testing.T, e *env) {
		busy := e.acquire(e.mutexAt(multiDirs[1], e.otherClient()))
		multi := multiOf(t, e.all(e.client)...)
		suite.Got(multi.TryAcquire(t.Context())).Fails(t, locks.ErrNotAcquired)
		e.wantHeld(1)
		ctx, cancel := context.WithCancel(t.Context())
		a := e.start(ctx, multi)
		e.untilWaiters(1, 1)
		e.wantHeld(0, 1)
		cancel()
		<-a.done
		suite.WantErr(t, a.err, locks.ErrNotAcquired, context.Canceled)
		e.wantHeld(1)
		e.release(busy)
		e.release(e.acquire(multi))
	})
}

// Two that take the same locks in opposite orders wait for each other, until one of them gives
// up: then the other one goes on.
func TestMultiInOppositeOrders(t *testing.T) {
	onMulti(t, suite.InVirtualTime, func(t *testing.T, e *env) {
		mine := e.all(e.client)
		theirs := e.all(e.otherClient())
		slices.Reverse(theirs)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		between := e.acquire(e.mutexAt(multiDirs[1], e.otherClient()))
		a, b := e.start(ctx, multiOf(t, mine...)), e.start(t.Context(), multiOf(t, theirs...))
		e.untilWaiters(1, 2)
		e.release(between)
		suite.Eventually(t, "the one that has two to wait for the third", func() bool {
			return len(e.below(multiDirs[0]))+len(e.below(multiDirs[2])) == 3
		})
		// Of five nodes, of the predecessors of two, and the marker of the one that was third at /b.
		e.untilWatches("of the two that wait", func(n int) bool { return n == 5+2+1 })
		e.waiting(a, b)
		cancel()
		<-a.done
		suite.WantErr(t, a.err, context.Canceled)
		if e.b.Name != "real" { // there nothing tells whether it has seen that the third is held
			suite.WantErr(t, a.err, locks.ErrNotAcquired)
		}
		e.release(e.granted(b))
	})
}

// When one part is lost while the others are waited for, all are given back and waited for
// again, behind those who came meanwhile.
func TestMultiLosesAPartWhileWaiting(t *testing.T) {
	onMulti(t, suite.InVirtualTime, func(t *testing.T, e *env) {
		busy := e.acquire(e.mutexAt(multiDirs[2], e.otherClient()))
		a := e.start(t.Context(), multiOf(t, e.all(e.client)...))
		e.untilWaiters(2, 1)
		next := e.start(t.Context(), e.mutexAt(multiDirs[1], e.otherClient()))
		e.untilWaiters(1, 1)
		e.deleteAt(0)
		between := e.granted(next)
		e.untilWaiters(1, 1)
		e.release(busy)
		e.release(between)
		lease := e.granted(a)
		suite.OK(t, lease.Verify(t.Context()))
		e.release(lease)
	})
}

// What ends a part by somebody's wish while the others are waited for ends the wait: it would
// end the next one, too.
func TestMultiPartEndsWhileWaiting(t *testing.T) {
	for name, c := range map[string]struct {
		opt  locks.MutexOption
		end  func(e *env)
		want error
	}{
		"held for too long": {locks.WithMaxHold(50 * time.Millisecond), func(*env) {}, locks.ErrLockLost},
		"revoked":           {locks.WithRevocable(nil), func(e *env) { e.askAt(0) }, locks.ErrLockLost},
		"let go": {
			locks.WithRevocable(func(ctx context.Context, lease *locks.Lease) { _ = lease.Release(ctx) }),
			func(e *env) { e.askAt(0) }, locks.ErrReleased,
		},
	} {
		t.Run(name, func(t *testing.T) {
			onMulti(t, suite.InVirtualTime, func(t *testing.T, e *env) {
				busy := e.acquire(e.mutexAt(multiDirs[2], e.otherClient()))
				first := e.mutexAt(multiDirs[0], e.client, c.opt)
				a := e.start(t.Context(), multiOf(t, first, e.mutexAt(multiDirs[1], e.client), e.mutexAt(multiDirs[2], e.client)))
				e.untilWaiters(2, 1)
				c.end(e)
				<-a.done
				suite.WantErr(t, a.err, c.want)
				e.wantHeld(2)
				e.release(busy)
			})
		})
	}
}

// untilWaiters waits until so many wait for the holder of a path.
func (e *env) untilWaiters(i, n int) {
	e.t.Helper()
	suite.Eventually(e.t, "waiters", func() bool { return len(e.below(multiDirs[i])) == n+1 })
}

// deleteAt is what an operator does to the holder's node of a path.
func (e *env) deleteAt(i int) {
	e.t.Helper()
	e.delete(e.below(multiDirs[i])[0])
}

// askAt asks the holder of a path to let go.
func (e *env) askAt(i int) {
	e.t.Helper()
	suite.OK(e.t, locks.AttemptRevoke(e.t.Context(), e.observer, e.below(multiDirs[i])[0]))
}

// The loss of one part ends the whole at once, with its cause; Release gives the others
// back and tells.
func TestMultiLosesAPart(t *testing.T) {
	onMulti(t, suite.InVirtualTime, func(t *testing.T, e *env) {
		lease := e.acquire(multiOf(t, e.all(e.client)...))
		bound := lease.Bind(t.Context())
		e.deleteAt(1)
		for _, ctx := range []context.Context{lease.Parts()[1].Context(), lease.Context(), bound} {
			<-ctx.Done()
			suite.WantErr(t, context.Cause(ctx), locks.ErrLockLost)
		}
		e.lost(lease, locks.LossNodeDeleted)
		for _, i := range []int{0, 2} {
			if err := lease.Parts()[i].Err(); err != nil {
				t.Errorf("part %d has ended, too: %v", i, err)
			}
		}
		suite.WantErr(t, lease.Verify(t.Context()), locks.ErrLockLost)
		suite.WantErr(t, lease.Release(t.Context()), locks.ErrLockLost)
		e.wantHeld()
	})
}

// The same lock twice nests; a write lock and its read lock are a downgrade waiting to
// happen; a read lock before its write lock is refused.
func TestMultiSameLockTwice(t *testing.T) {
	onMulti(t, suite.InVirtualTime, func(t *testing.T, e *env) {
		mutex := e.mutexAt(multiDirs[0], e.client)
		lease := e.acquire(multiOf(t, mutex, e.mutexAt(multiDirs[1], e.client), mutex))
		if parts := lease.Parts(); parts[0].Token() != parts[2].Token() {
			t.Error("it did not nest")
		}
		suite.OK(t, lease.Verify(t.Context()))
		e.release(lease)
		e.wantHeld()
		rw := suite.Got(locks.NewInterProcessReadWriteLock(e.client, e.path+multiDirs[2])).OK(t)
		e.release(e.acquire(multiOf(t, rw.WriteLock(), rw.ReadLock())))
		suite.Got(multiOf(t, rw.ReadLock(), rw.WriteLock()).Acquire(t.Context())).Fails(t, locks.ErrDeadlock)
	})
}

// odd is a lock of somebody else's.
type odd func(ctx context.Context) (*locks.Lease, error)

func (o odd) Acquire(ctx context.Context) (*locks.Lease, error)    { return o(ctx) }
func (o odd) TryAcquire(ctx context.Context) (*locks.Lease, error) { return o(ctx) }

// Whatever a foreign lock does, nothing stays held, and no lock after it is tried.
func TestMultiOfOddLocks(t *testing.T) {
	onMulti(t, suite.InVirtualTime, func(t *testing.T, e *env) {
		failed := errors.New("failed")
		tried := false
		last := odd(func(context.Context) (*locks.Lease, error) { tried = true; return nil, failed })
		for name, c := range map[string]struct {
			lock odd
			want error
		}{
			"fails":        {func(context.Context) (*locks.Lease, error) { return nil, failed }, failed},
			"gives none":   {func(context.Context) (*locks.Lease, error) { return nil, nil }, framework.ErrInvalidOption},
			"gives a zero": {func(context.Context) (*locks.Lease, error) { return new(locks.Lease), nil }, framework.ErrInvalidOption},
		} {
			lease, err := multiOf(t, e.mutexAt(multiDirs[0], e.client), c.lock, last).Acquire(t.Context())
			if lease != nil || !errors.Is(err, c.want) || tried {
				t.Errorf("a lock that %s: lease %v, error %v, the next was tried: %t", name, lease, err, tried)
			}
			e.wantHeld()
		}
		func() {
			defer func() {
				if recover() != "boom" {
					t.Error("the panic was swallowed")
				}
			}()
			panics := odd(func(context.Context) (*locks.Lease, error) { panic("boom") })
			_, _ = multiOf(t, e.mutexAt(multiDirs[0], e.client), e.mutexAt(multiDirs[1], e.client), panics).TryAcquire(t.Context())
		}()
		e.wantHeld()
		// One that has lost its lease by the time the others are acquired.
		over := odd(func(ctx context.Context) (*locks.Lease, error) {
			lease, err := e.mutexAt(multiDirs[1], e.client).Acquire(ctx)
			if err == nil {
				err = lease.Release(ctx)
			}
			return lease, err
		})
		suite.Got(multiOf(t, e.mutexAt(multiDirs[0], e.client), over).Acquire(t.Context())).Fails(t, locks.ErrNotHeld)
	})
}

// Who gives a lease that is lost already gives no other the next time.
func TestMultiOfALostLease(t *testing.T) {
	onMulti(t, suite.InVirtualTime, func(t *testing.T, e *env) {
		lost := e.acquire(e.mutexAt(multiDirs[1], e.client))
		e.deleteAt(1)
		e.lost(lost, locks.LossNodeDeleted)
		calls := 0
		again := odd(func(context.Context) (*locks.Lease, error) {
			if calls++; calls > 1 {
				return nil, errors.New("asked once more")
			}
			return lost, nil
		})
		suite.Got(multiOf(t, e.mutexAt(multiDirs[0], e.client), again).Acquire(t.Context())).Fails(t, locks.ErrLockLost)
	})
}

// hasty is a lock of this package whose first lease is lost before anybody looks at it.
type hasty struct {
	*locks.InterProcessMutex
	lose func(*locks.Lease)
}

func (h *hasty) Acquire(ctx context.Context) (*locks.Lease, error) {
	lease, err := h.InterProcessMutex.Acquire(ctx)
	if err == nil && h.lose != nil {
		h.lose(lease)
		h.lose = nil
	}
	return lease, err
}

// A lock that is lost as soon as it is granted is taken again, as one that is lost during the wait for the next.
func TestMultiOfALockThatIsLostAtOnce(t *testing.T) {
	onMulti(t, suite.InVirtualTime, func(t *testing.T, e *env) {
		lock := &hasty{InterProcessMutex: e.mutexAt(multiDirs[1], e.client)}
		lock.lose = func(lease *locks.Lease) {
			e.deleteAt(1)
			e.lost(lease, locks.LossNodeDeleted)
		}
		lease := e.acquire(multiOf(t, e.mutexAt(multiDirs[0], e.client), lock, e.mutexAt(multiDirs[2], e.client)))
		if lock.lose != nil {
			t.Error("no lease was lost")
		}
		e.wantHeld(0, 1, 2)
		e.release(lease)
		e.wantHeld()
	})
}

// wantReleasedInReverse fails unless what is in dirs went in the reverse order.
func (e *env) wantReleasedInReverse(dirs []string) {
	e.t.Helper()
	var changes []int64 // when the nodes went
	for _, dir := range dirs {
		var stat framework.Stat
		suite.Got(e.observer.GetData().StoringStatIn(&stat).ForPath(e.t.Context(), e.path+dir)).OK(e.t)
		changes = append(changes, stat.Pzxid)
	}
	if slices.Reverse(changes); !slices.IsSorted(changes) {
		e.t.Errorf("the parts were released in another order than the last one first: %d", changes)
	}
}

// Parts are released in reverse, all of them, and every failure is told.
func TestMultiRelease(t *testing.T) {
	onMulti(t, withRealServer, func(t *testing.T, e *env) {
		lease := e.acquire(multiOf(t, e.all(e.client)...))
		var waiters []*acquisition
		for i := range multiDirs {
			waiters = append(waiters, e.start(t.Context(), e.mutexAt(multiDirs[i], e.otherClient())))
			e.untilWaiters(i, 1)
		}
		e.release(lease)
		e.wantReleasedInReverse(multiDirs)
		for _, w := range waiters {
			e.release(e.granted(w))
		}
		lease = e.acquire(multiOf(t, e.all(e.client)...))
		for _, i := range []int{0, 2} {
			e.deleteAt(i)
			<-lease.Parts()[i].Context().Done()
		}
		err := lease.Release(t.Context())
		joined, ok := err.(interface{ Unwrap() []error })
		if !ok || len(joined.Unwrap()) != 2 {
			t.Errorf("two parts were lost: %v", err)
		}
		suite.WantErr(t, err, locks.ErrLockLost)
		e.wantHeld()
	})
}

// The whole end with the session, and with a client that is closed.
func TestMultiOfTwoClients(t *testing.T) {
	onMulti(t, suite.InVirtualTime, func(t *testing.T, e *env) {
		lease := e.acquire(multiOf(t, e.mutexAt(multiDirs[0], e.client), e.mutexAt(multiDirs[1], e.otherClient())))
		suite.WantErr(t, lease.Verify(t.Context()), framework.ErrInvalidOption) // part by part only
		suite.Got(lease.Guard(t.Context())).Fails(t, framework.ErrInvalidOption)
		e.network.Expire(t)
		e.lost(lease, locks.LossSessionExpired)
		if err := lease.Parts()[1].Err(); err != nil {
			t.Errorf("the other client's part: %v", err)
		}
		suite.WantErr(t, lease.Release(t.Context()), locks.ErrLockLost)
	}, sessionPolicy)
}
