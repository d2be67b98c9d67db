package locks_test

import (
	"math"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/recipes/locks"
	"github.com/go-curator/curator/tools/curatortest"
)

// The rules of the lock model, which were found by model checking: see docs/lock-model.md, and
// docs/rules.md for the tests. Rule 7 is tested in internal/zkconn, rule 11 in recipes/internal/ephemeral.

// Rule 1: the node is created and the queue is listed in one write. A node of a former session,
// whose reply was lost, is not used.
func TestRule1(t *testing.T) {
	runVirtual(t, "one write", func(t *testing.T, s *curatortest.Server) {
		giveBack(t, take(t, mutexOf(t, s.Client(t)))) // makes the parents
		holder := enqueue(t, s, virtualMutex(t))
		if want := "create2=1 getChildren2=1 writes=1"; holder.joined != want {
			t.Errorf("%q, want %q", holder.joined, want)
		}
		holder.release()
	})
	t.Run("former session", func(t *testing.T) {
		virtually(t, func(t *testing.T, e *env) {
			e.release(e.acquire(e.mutex)) // makes the parents
			former := e.client.SessionID()
			hit := e.network.On(jute.OpCreate2, suite.CutAfter, func() { e.network.Expire(t) })
			lease := e.acquire(e.mutex)
			<-hit
			var stat framework.Stat
			suite.Got(e.observer.CheckExists().StoringStatIn(&stat).ForPath(t.Context(), lease.Path())).OK(t)
			if now := e.client.SessionID(); now == former || stat.EphemeralOwner != now {
				t.Errorf("the node is of the session %x, the client's is %x and was %x", stat.EphemeralOwner, now, former)
			}
			e.release(lease)
		})
	})
}

// Rule 2: a waiter sets its watches in one write. If the node ahead is gone by then, it lists the
// queue again.
func TestRule2(t *testing.T) {
	onVirtual(t, func(t *testing.T, s *curatortest.Server) {
		holder, second := enqueue(t, s, virtualMutex(t)), enqueue(t, s, virtualMutex(t))
		delayed := s.Inject(curatortest.Rule{Op: "setWatches", Do: curatortest.Delay(time.Second)})
		third := enqueue(t, s, virtualMutex(t))
		if want := "create2=1 getChildren2=1 setWatches=1 writes=2"; third.joined != want || !delayed() {
			t.Errorf("%q, want %q; delayed: %t", third.joined, want, delayed())
		}
		second.cancel()
		<-second.done
		time.Sleep(2 * time.Second)
		if third.in() {
			t.Fatal("let in behind one that gave up")
		}
		if n := s.Watches(); n != 3 {
			t.Errorf("%d watches of a holder and of a waiter behind it, want 3", n)
		}
		holder.release()
		third.release()
	})
}

// Rule 3: the marker of the node ahead lets a waiter in only while the watch on its own node is
// silent. Here that node is changed and deleted before the holder releases, and the events arrive
// together.
func TestRule3(t *testing.T) {
	t.Parallel() // beside tests that wait in real time
	for range 5 {
		onVirtual(t, func(t *testing.T, s *curatortest.Server) {
			first, holder, waiter := enqueue(t, s, virtualMutex(t)), enqueue(t, s, virtualMutex(t)), enqueue(t, s, virtualMutex(t))
			first.release()
			own := ""
			for _, name := range s.Children("/lock") {
				if path := "/lock/" + name; !holder.in() || path != holder.lease.Path() {
					own = path
				}
			}
			operator := s.Client(t)
			heal := s.PartitionSession(waiter.client.SessionID(), curatortest.ToClient)
			suite.Got(operator.SetData().ForPath(t.Context(), own, nil)).OK(t)
			suite.OK(t, operator.Delete().ForPath(t.Context(), own))
			holder.release() // marks its release
			heal()
			time.Sleep(time.Minute)
			if !waiter.in() || waiter.lease.Path() == own {
				t.Fatal("let in without a node")
			}
			waiter.release()
		})
	}
}

// Rule 4: a waiter is not let in by the deletion of the node ahead, when that was a waiter that
// gave up, nor by a change of its data, which is how somebody asks for the lock. A waiter whose own
// node is deleted begins again with a new one.
func TestRule4(t *testing.T) {
	onVirtual(t, func(t *testing.T, s *curatortest.Server) {
		holder, quitter, last := enqueue(t, s, virtualMutex(t)), enqueue(t, s, virtualMutex(t)), enqueue(t, s, virtualMutex(t))
		names := s.Children("/lock")
		for _, name := range names {
			suite.OK(t, locks.AttemptRevoke(t.Context(), s.Client(t), "/lock/"+name))
			if last.in() || quitter.in() {
				t.Fatalf("let in after a change of %s", name)
			}
		}
		quitter.cancel()
		<-quitter.done
		if last.in() {
			t.Fatal("let in behind one that gave up")
		}
		own := "/lock/" + slices.MaxFunc(s.Children("/lock"), func(a, b string) int { return strings.Compare(number(a), number(b)) })
		suite.OK(t, s.Client(t).Delete().ForPath(t.Context(), own))
		if last.in() {
			t.Fatal("let in after the deletion of its node")
		}
		holder.release()
		if !last.in() || last.lease.Path() == own {
			t.Fatalf("let in with %s after the deletion of %s", last.lease.Path(), own)
		}
		last.release()
	})
}

// Rule 5: a holder that waited releases with the marker. If the marker is refused, or nobody knows
// whether it was made, the node is deleted all the same, and the next waiter is let in.
func TestRule5(t *testing.T) {
	for name, c := range map[string]struct {
		fate curatortest.Fate
		want string // of the traffic; the watch on the node ahead ends with the connection
	}{
		"refused":              {curatortest.Fail(framework.ErrNoAuth), "delete=1 events=1 multi=1 writes=2"},
		"lost before":          {curatortest.CutBefore(), ""},
		"applied, answer lost": {curatortest.CutAfter(), ""},
	} {
		runVirtual(t, name, func(t *testing.T, s *curatortest.Server) {
			first, holder, waiter := enqueue(t, s, virtualMutex(t)), enqueue(t, s, virtualMutex(t)), enqueue(t, s, virtualMutex(t))
			first.release()
			if !holder.in() {
				t.Fatal("the second is not let in")
			}
			holder.traffic.Take()
			hit := s.Inject(curatortest.Rule{Op: "multi", Do: c.fate})
			giveBack(t, holder.lease)
			time.Sleep(time.Minute)
			if !hit() {
				t.Fatal("no release was marked")
			}
			if got := holder.traffic.Take(); c.want != "" && got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
			waiter.release()
			wantQueue(t, s, 0)
		})
	}
}

// Rule 8: a waiter lists the queue again after a reconnect.
func TestRule8(t *testing.T) {
	onVirtual(t, func(t *testing.T, s *curatortest.Server) {
		holder, waiter := enqueue(t, s, virtualMutex(t)), enqueue(t, s, virtualMutex(t))
		s.DisconnectSession(waiter.client.SessionID())
		time.Sleep(time.Second)
		if waiter.in() {
			t.Fatal("let in by a reconnect")
		}
		if got := waiter.traffic.Take(); !strings.Contains(got, "getChildren2=1") {
			t.Errorf("%q: the waiter has not listed the queue", got)
		}
		holder.release()
		waiter.release()
	})
}

// Rule 9: a waiter that gives up and one that is let in give back every watch.
func TestRule9(t *testing.T) {
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
		ctx := bounded(t, time.Second)
		suite.Got(mutexOf(t, s.Client(t)).Acquire(ctx)).Fails(t, locks.ErrNotAcquired)
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

// Rule 10: near the end of the server's sequence numbers nobody gets the lock, because there two
// could hold it.
func TestRule10(t *testing.T) {
	onVirtual(t, func(t *testing.T, s *curatortest.Server) {
		client := s.Client(t)
		mutex := suite.Got(locks.NewInterProcessMutex(client, "/lock")).OK(t)
		suite.Got(client.Create().ForPath(t.Context(), "/lock")).OK(t)
		for _, next := range []int32{1<<31 - 1_000_000, 1<<31 - 1} {
			s.SetSequence("/lock", next)
			suite.Got(mutex.Acquire(t.Context())).Fails(t, locks.ErrSequenceExhausted)
			wantQueue(t, s, 0)
		}
		s.SetSequence("/lock", 1<<31-2_000_000)
		lease := suite.Got(mutex.Acquire(t.Context())).OK(t)
		suite.OK(t, lease.Release(t.Context()))
	})
}

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

// The node ahead is of the waiter's own session, whose end would take both: the waiter is not let
// in by the end of that node alone, but lists the queue.
func TestNextOfTheSameClient(t *testing.T) {
	onVirtual(t, func(t *testing.T, s *curatortest.Server) {
		client, traffic := suite.Tapped(t, s)
		holder := take(t, mutexOf(t, client))
		waiter := taking(t, mutexOf(t, client))
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

// TestA10SequenceWraps is the other half of TestA10LockIsGrantedTwice in internal/zkconn:
// there is a holder, of another client, at the last of the server's numbers, and ours is
// the first that counts from the beginning. See TestRule10 for the numbers before.
func TestA10SequenceWraps(t *testing.T) {
	onVirtual(t, func(t *testing.T, s *curatortest.Server) {
		client := s.Client(t)
		mutex := mutexOf(t, client)
		holder := "/lock/_c_01234567-89ab-cdef-0123-456789abcdef-lock-2147483647"
		suite.Got(client.Create().CreatingParentsIfNeeded().WithMode(framework.Ephemeral).ForPath(t.Context(), holder)).OK(t)
		// Those near the end, the first one behind it, and one whose digits are those of a low number.
		for _, next := range []int32{math.MaxInt32 - 1_000_000 + 1, math.MinInt32, math.MinInt32 + 1_000_001} {
			s.SetSequence("/lock", next)
			for _, acquire := range []func() (*locks.Lease, error){
				func() (*locks.Lease, error) { return mutex.Acquire(t.Context()) },
				func() (*locks.Lease, error) { return mutex.TryAcquire(t.Context()) },
			} {
				suite.Got(acquire()).Fails(t, locks.ErrSequenceExhausted)
			}
		}
		if names := s.Children("/lock"); len(names) != 1 || "/lock/"+names[0] != holder {
			t.Fatalf("nodes %q", names)
		}
	})
}
