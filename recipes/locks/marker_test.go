package locks_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/recipes/locks"
	"github.com/go-curator/curator/tools/curatortest"
)

// What a cycle and a hand-over cost on the wire. The lock's path is there already.
func TestTraffic(t *testing.T) {
	onVirtual(t, func(t *testing.T, s *curatortest.Server) {
		want := func(q *queued, want, when string) {
			t.Helper()
			synctest.Wait()
			if got := q.traffic.Take(); got != want {
				t.Errorf("%s: %q, want %q", when, got, want)
			}
		}
		giveBack(t, take(t, mutexOf(t, s.Client(t))))

		alone := enqueue(t, s, virtualMutex(t))
		alone.release()
		alone.traffic.Take()
		giveBack(t, take(t, mutexOf(t, alone.client)))
		want(alone, "create2=1 delete=1 getChildren2=1 writes=2", "a cycle without contention")

		first, second, third, fourth := enqueue(t, s, virtualMutex(t)), enqueue(t, s, virtualMutex(t)), enqueue(t, s, virtualMutex(t)), enqueue(t, s, virtualMutex(t))
		first.traffic.Take()
		first.release() // it has not waited: its node just goes
		want(first, "delete=1 writes=1", "the first's release")
		want(second, "events=1", "the second, which is next and need not look again")
		want(third, "", "the third, meanwhile")
		second.release()
		want(second, "events=1 multi=1 writes=1", "the second's release") // the event is of its own node
		want(third, "events=2", "the third, which sees the marker")
		want(fourth, "", "the fourth, meanwhile")
		third.release()
		want(fourth, "events=2", "the fourth, which sees the marker")
		fourth.release()
		if n := s.Watches(); n != 0 {
			t.Errorf("%d watches are left", n)
		}
	})
}

// A write lease that a reader was made from does not mark its release, and its going is not
// counted: the writer behind waits for the reader.
func TestDowngradeKeepsWritersOut(t *testing.T) {
	for name, waited := range map[string]bool{"holder that had waited": true, "holder that had not": false} {
		runVirtual(t, name, func(t *testing.T, s *curatortest.Server) {
			rwOf := func(c *framework.Client) *locks.InterProcessReadWriteLock {
				return suite.Got(locks.NewInterProcessReadWriteLock(c, "/lock")).OK(t)
			}
			writeLock := func(c *framework.Client) locks.InterProcessLock { return rwOf(c).WriteLock() }
			holder, waiter := enqueue(t, s, writeLock), enqueue(t, s, writeLock)
			if waited {
				first := holder
				holder, waiter = waiter, enqueue(t, s, writeLock)
				first.release()
			}
			if !holder.in() {
				t.Fatal("the holder is not let in")
			}
			read := suite.Got(rwOf(holder.client).Downgrade(t.Context(), holder.lease)).OK(t)
			if waiter.in() {
				t.Fatal("a writer is let in beside a reader")
			}
			giveBack(t, read)
			waiter.release()
		})
	}
}

// The node ahead is of the waiter's own session, whose end would take both: the waiter is not let
// in by the end of that node alone, but lists the queue.
func TestNextOfTheSameClient(t *testing.T) {
	onVirtual(t, func(t *testing.T, s *curatortest.Server) {
		client, traffic := suite.Tapped(t, s)
		holder := take(t, mutexOf(t, client))
		waiter := make(chan *locks.Lease)
		go func() { waiter <- take(t, mutexOf(t, client)) }()
		synctest.Wait()
		traffic.Take()
		giveBack(t, holder)
		next := <-waiter
		synctest.Wait()
		if got := traffic.Take(); !strings.Contains(got, "getChildren2=1") {
			t.Errorf("%q: the waiter has not listed the queue", got)
		}
		giveBack(t, next)
	})
}

// A writer that waits for one writer is not let in by the end of that node alone: a reader may
// have taken its place.
func TestNextBehindADowngrade(t *testing.T) {
	onVirtual(t, func(t *testing.T, s *curatortest.Server) {
		rwLock := func(c *framework.Client) *locks.InterProcessReadWriteLock {
			return suite.Got(locks.NewInterProcessReadWriteLock(c, "/lock")).OK(t)
		}
		holder := rwLock(s.Client(t))
		write := suite.Got(holder.WriteLock().Acquire(t.Context())).OK(t)
		waiter := enqueue(t, s, func(c *framework.Client) locks.InterProcessLock { return rwLock(c).WriteLock() })
		read := suite.Got(holder.Downgrade(t.Context(), write)).OK(t)
		time.Sleep(time.Second)
		if waiter.in() {
			t.Error("a writer is in beside a reader")
		}
		giveBack(t, read)
		time.Sleep(time.Second)
		waiter.release()
	})
}
