package locks_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/recipes/locks"
	"github.com/go-curator/curator/tools/curatortest"
)

// onVirtual runs test in virtual time, in which everybody is asleep or done when
// synctest.Wait returns.
func onVirtual(t *testing.T, test func(t *testing.T, s *curatortest.Server)) {
	synctest.Test(t, func(t *testing.T) {
		test(t, curatortest.Start(t, curatortest.Virtual(), curatortest.WithTickTime(suite.Tick)))
	})
}

func mutexOf(t *testing.T, c *framework.Client) *locks.InterProcessMutex {
	t.Helper()
	m, err := locks.NewInterProcessMutex(c, "/lock")
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func take(t *testing.T, m *locks.InterProcessMutex) *locks.Lease {
	t.Helper()
	lease, err := m.Acquire(t.Context())
	if err != nil {
		t.Error(err)
	}
	return lease
}

func giveBack(t *testing.T, lease *locks.Lease) {
	t.Helper()
	if err := lease.Release(t.Context()); err != nil {
		t.Error(err)
	}
}

// Every watch is given back: by a waiter that gives up, and by one that is let in.
func TestNoWatchIsLeft(t *testing.T) {
	onVirtual(t, func(t *testing.T, s *curatortest.Server) {
		check := func(want int, when string) {
			t.Helper()
			time.Sleep(100 * time.Millisecond) // a holder's node is not watched at once
			synctest.Wait()
			if n := s.Watches(); n != want {
				t.Errorf("%d watches %s, want %d", n, when, want)
			}
		}
		holder := take(t, mutexOf(t, s.Client(t)))
		check(1, "of a holder")
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := mutexOf(t, s.Client(t)).Acquire(ctx)
		wantErr(t, err, locks.ErrNotAcquired)
		check(1, "after a waiter gave up")
		done := make(chan *locks.Lease)
		waiter := mutexOf(t, s.Client(t))
		go func() { done <- take(t, waiter) }()
		check(3, "of a holder and a waiter")
		giveBack(t, holder)
		next := <-done
		check(1, "of the next holder")
		giveBack(t, next)
		check(0, "for nobody")
	})
}

// The holder's node is watched again after its data was changed.
func TestOwnNodeIsWatchedAgain(t *testing.T) {
	onVirtual(t, func(t *testing.T, s *curatortest.Server) {
		lease := take(t, mutexOf(t, s.Client(t)))
		other := s.Client(t)
		synctest.Wait()
		if _, err := other.SetData().ForPath(t.Context(), lease.Path(), nil); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if err := other.Delete().ForPath(t.Context(), lease.Path()); err != nil {
			t.Fatal(err)
		}
		<-lease.Context().Done()
		wantErr(t, lease.Release(t.Context()), locks.ErrLockLost)
	})
}

// The connection breaks before the holder's node is watched, and the servers are gone: Close does
// not wait until they are back.
func TestCloseBeforeOwnNodeIsWatched(t *testing.T) {
	onVirtual(t, func(t *testing.T, s *curatortest.Server) {
		client := s.Client(t, sessionPolicy)
		lease := take(t, mutexOf(t, client))
		defer s.Refuse()()
		s.Disconnect()
		time.Sleep(100 * time.Millisecond)
		if err := lease.Err(); err != nil {
			t.Fatal(err)
		}
		begin := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		wantErr(t, client.Close(ctx), framework.ErrConnectionLoss)
		if took := time.Since(begin); took > time.Minute {
			t.Errorf("Close took %v", took)
		}
		wantErr(t, lease.Release(t.Context()), locks.ErrLockLost)
	})
}

// A contender that may create but not list leaves nothing behind.
func TestListRefused(t *testing.T) {
	onVirtual(t, func(t *testing.T, s *curatortest.Server) {
		m := mutexOf(t, s.Client(t))
		giveBack(t, take(t, m))
		s.Inject(curatortest.Rule{Op: "getChildren", Do: curatortest.Fail(framework.ErrNoAuth)})
		_, err := m.Acquire(t.Context())
		wantErr(t, err, framework.ErrNoAuth)
		synctest.Wait()
		if names := s.Children("/lock"); len(names) != 0 {
			t.Errorf("nodes %q", names)
		}
	})
}

// The search after a lost reply looks behind a sync: the server may lag.
func TestSyncBeforeTheSearch(t *testing.T) {
	suite.Each(t, func(t *testing.T, b *suite.Backend) {
		e := newEnv(t, b)
		e.release(e.acquire(e.mutex))
		e.network.On(jute.OpCreate2, suite.CutAfter, nil)
		lease := e.acquire(e.mutex)
		if n := e.network.Requests(jute.OpSync); n == 0 {
			t.Error("no sync before the search")
		}
		e.release(lease)
	})
}
