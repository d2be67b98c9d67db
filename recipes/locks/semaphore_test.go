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

// A waiter gets in when any of the leases ahead goes, whichever it is.
func TestSemaphoreAnyLeaseGoes(t *testing.T) {
	const n = 3
	for goes := range n {
		t.Run([]string{"first", "second", "third"}[goes], func(t *testing.T) {
			onBackends(t, withRealServer, func(t *testing.T, e *env) {
				var leases []*locks.Lease
				for range n {
					leases = append(leases, e.acquire(e.semaphore(e.otherClient(), n)))
				}
				semaphore := e.semaphore(e.client, n)
				waiter := e.queue(t.Context(), semaphore, n+1)
				next := e.queue(t.Context(), e.semaphore(e.otherClient(), n), n+2)
				order, err := semaphore.ParticipantNodes(t.Context())
				if err != nil || len(order) != n+2 || order[0] != leases[0].Path() {
					t.Fatalf("participants %q, %v", order, err)
				}
				e.release(leases[goes])
				lease := e.granted(waiter)
				if lease.Path() != order[n] {
					t.Errorf("let in %q, want %q", lease.Path(), order[n])
				}
				e.waiting(next)
				suite.Got(semaphore.TryAcquire(t.Context())).Fails(t, locks.ErrNotAcquired)
				e.release(lease)
				e.release(e.granted(next))
				for _, lease := range slices.Delete(leases, goes, goes+1) {
					e.release(lease)
				}
				e.wantNodes(0)
			})
		})
	}
}

// Waiters get in in the order in which they came, also when those ahead go in another.
func TestSemaphoreOrder(t *testing.T) {
	virtually(t, func(t *testing.T, e *env) {
		semaphore := e.semaphore(e.client, 2)
		leases := []*locks.Lease{e.acquire(semaphore), e.acquire(semaphore)}
		var waiters []*acquisition
		for i := range 4 {
			waiters = append(waiters, e.queue(t.Context(), e.semaphore(e.otherClient(), 2), i+3))
		}
		for i, w := range waiters {
			e.waiting(waiters[i:]...)
			goes := i % 2
			e.release(leases[goes])
			leases[goes] = e.granted(w)
		}
		e.release(leases[0])
		e.release(leases[1])
		e.wantNodes(0)
	})
}

// Leases do not nest: the same context takes one after the other.
func TestSemaphoreIsFlat(t *testing.T) {
	virtually(t, func(t *testing.T, e *env) {
		semaphore := e.semaphore(e.client, 2)
		first := e.acquire(semaphore)
		second := e.acquireFrom(first.Context(), semaphore)
		if first.Path() == second.Path() || second.Token() <= first.Token() {
			t.Errorf("leases on %q and %q, tokens %d and %d", first.Path(), second.Path(), first.Token(), second.Token())
		}
		e.wantNodes(2)
		suite.Got(semaphore.TryAcquire(second.Context())).Fails(t, locks.ErrNotAcquired)
		suite.Got(e.semaphore(e.client, 2, locks.WithMaxWait(20*time.Millisecond)).Acquire(second.Context())).Fails(t, locks.ErrNotAcquired)
		e.wantNodes(2)
		// A lease is anybody's to give back, in any order and from any goroutine.
		done := make(chan error)
		go func() { done <- first.Release(context.WithoutCancel(t.Context())) }()
		if err := <-done; err != nil {
			t.Error(err)
		}
		if second.Err() != nil {
			t.Error(second.Err())
		}
		e.release(second)
		e.wantNodes(0)
	})
}

// Kinds of locks that would not exclude each other do not share a path.
func TestKindMismatch(t *testing.T) {
	virtually(t, func(t *testing.T, e *env) {
		other := e.rw(e.otherClient())
		refused := func(lock locks.InterProcessLock, held int) {
			t.Helper()
			for _, acquire := range []func(context.Context) (*locks.Lease, error){lock.Acquire, lock.TryAcquire} {
				suite.Got(acquire(t.Context())).Fails(t, locks.ErrKindMismatch)
				e.wantNodes(held)
			}
		}
		for _, holder := range []locks.InterProcessLock{other.ReadLock(), other.WriteLock()} {
			lease := e.acquire(holder)
			refused(e.mutex, 1)
			refused(e.semaphore(e.client, 2), 1)
			e.release(lease)
		}
		for _, holder := range []locks.InterProcessLock{e.lock(e.otherClient()), e.semaphore(e.otherClient(), 2)} {
			lease := e.acquire(holder)
			refused(e.rw(e.client).ReadLock(), 1)
			refused(e.rw(e.client).WriteLock(), 1)
			e.release(lease)
		}
		for _, child := range []string{"leases", "locks"} { // those of Java's second semaphore
			suite.Got(e.observer.Create().CreatingParentsIfNeeded().ForPath(t.Context(), e.path+"/"+child)).OK(t)
			for _, m := range []maker{aMutex, aReadLock, aWriteLock, aSemaphore} {
				refused(m(e, e.client), 1)
			}
			e.delete(e.path + "/" + child)
		}
		for _, m := range []maker{aMutex, aReadLock, aWriteLock, aSemaphore} {
			e.release(e.acquire(m(e, e.client)))
		}
		e.wantNodes(0)
	})
}

// A path that changes its kind under a waiter ends the wait when it looks at the queue again,
// as it does when somebody writes to its node. The kinds in Java's layout do not see it: their
// nodes are further down.
func TestKindMismatchWhileWaiting(t *testing.T) {
	plain := slices.DeleteFunc(slices.Clone(waiters), func(k kind) bool { return k.v2 })
	eachKindVirtually(t, plain, func(t *testing.T, f *fixture) {
		a := f.wait(t.Context())
		dir := f.kind.dirs()[f.kind.contended]
		nodes := f.below(dir)
		suite.Got(f.observer.Create().ForPath(t.Context(), f.path+dir+"/leases")).OK(t)
		suite.Eventually(t, "the end of the wait", func() bool {
			_, err := f.observer.SetData().ForPath(t.Context(), nodes[len(nodes)-1], nil)
			if err != nil && !errors.Is(err, framework.ErrNoNode) {
				t.Fatal(err)
			}
			select {
			case <-a.done:
				return true
			default:
				return false
			}
		})
		f.releaseHolders()
		suite.WantErr(t, a.err, locks.ErrKindMismatch)
		if left := f.below(dir); len(left) != 1 {
			t.Errorf("%q are left", left)
		}
		f.delete(f.path + dir + "/leases")
		f.wantNone()
	})
}
