package locks_test

import (
	"slices"
	"testing"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/recipes/locks"
)

// look inspects the lock, and wants these nodes in this order.
func (e *env) look(kind string, holders, waiters []string) *locks.Inspection {
	e.t.Helper()
	i := suite.Got(locks.Inspect(e.t.Context(), e.observer, e.path)).OK(e.t)
	paths := func(all []locks.Contender) (paths []string) {
		for _, c := range all {
			paths = append(paths, c.Path)
		}
		return paths
	}
	if i.Path != e.path || i.Kind != kind || !slices.Equal(paths(i.Holders), holders) || !slices.Equal(paths(i.Waiters), waiters) {
		e.t.Fatalf("%q %q: held by %q, waited for by %q; want %q, %q and %q", i.Path, i.Kind, paths(i.Holders), paths(i.Waiters), kind, holders, waiters)
	}
	return i
}

// Who holds a read-write lock, and who waits, is told by the rules of each side.
func TestInspectReadWrite(t *testing.T) {
	onRW(t, withRealServer, func(t *testing.T, e *env, rw *locks.InterProcessReadWriteLock) {
		e.look("", nil, nil)
		before := time.Now()
		write := e.acquire(rw.WriteLock())
		reader := e.queue(t.Context(), e.otherRW().ReadLock(), 2)
		node := func(i int) string { return e.path + "/" + e.nodes()[i] }
		holder := e.look("read-write", []string{write.Path()}, []string{node(1)}).Holders[0]
		if holder.Token != write.Token() || holder.SessionID != e.client.SessionID() || e.b.Virtual && holder.Since.Before(before.Truncate(time.Millisecond)) {
			t.Errorf("the holder is %+v", holder)
		}
		e.release(write)
		read := e.granted(reader)
		second := e.acquire(rw.ReadLock())
		writer := e.queue(t.Context(), e.otherRW().WriteLock(), 3)
		last := e.queue(t.Context(), e.otherRW().ReadLock(), 4)
		e.look("read-write", []string{read.Path(), second.Path()}, []string{node(2), node(3)})
		e.release(read)
		e.release(second)
		e.release(e.granted(writer))
		e.release(e.granted(last))
	})
}

// A downgraded reader holds the lock beside the writer that it was, while that is there.
func TestInspectDowngrade(t *testing.T) {
	onRW(t, suite.InVirtualTime, func(t *testing.T, e *env, rw *locks.InterProcessReadWriteLock) {
		for range 8 { // which of the two sorts before the other is chance
			write := e.acquire(rw.WriteLock())
			read := e.acquireFrom(write.Context(), rw.ReadLock())
			i, err := locks.Inspect(t.Context(), e.observer, e.path)
			if err != nil || len(i.Waiters) != 0 || len(i.Holders) != 2 {
				t.Errorf("%+v, %v", i, err)
			}
			e.release(write)
			e.look("read-write", []string{read.Path()}, nil)
			e.release(read)
		}
	})
}

// Of a semaphore in Java's layout the leases are the holders, one of whom may wait still, and
// those at the mutex the waiters.
func TestInspectSemaphoreV2(t *testing.T) {
	onLeased(t, 2, func(e *leasedEnv) {
		e.look("semaphore-v2", nil, nil)
		all := e.full()
		waiting := e.wait(e.soon(), e.semaphore)
		below := func(dir string) (paths []string) {
			for _, name := range e.below(dir) {
				paths = append(paths, e.path+"/"+dir+"/"+name)
			}
			return paths
		}
		i := e.look("semaphore-v2", below("leases"), below("locks"))
		if i.Holders[1].Token != all.Parts()[1].Token() || i.Waiters[0].SessionID != e.client.SessionID() {
			e.t.Errorf("%+v", i)
		}
		e.release(all)
		e.release(e.granted(waiting))
		e.intact()
	})
}

// What is no lock, or more than one, is told.
func TestInspectOtherPaths(t *testing.T) {
	virtually(t, func(t *testing.T, e *env) {
		create := e.observer.Create().CreatingParentsIfNeeded()
		for _, name := range []string{"/notes", "/x-lock-1"} {
			suite.Got(create.ForPath(t.Context(), e.path+name)).OK(t)
		}
		e.look("", nil, nil)
		for _, name := range []string{"/x-lock-0000000000", "/x-__READ__0000000001"} {
			suite.Got(create.ForPath(t.Context(), e.path+name)).OK(t)
		}
		suite.Got(locks.Inspect(t.Context(), e.observer, e.path)).Fails(t, locks.ErrKindMismatch)
		for _, path := range []string{"", "relative", "/a//b"} {
			suite.Got(locks.Inspect(t.Context(), e.observer, path)).Fails(t, framework.ErrInvalidPath)
		}
	})
}
