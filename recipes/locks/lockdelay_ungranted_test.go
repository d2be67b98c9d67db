package locks_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/recipes/locks"
	"github.com/go-curator/curator/tools/curatortest"
)

// quitAt is a point at which the one who acquires a lock with a delay gives up.
type quitAt struct {
	rule curatortest.Rule // for its requests
	// refuse: no connection is made from then on, until it has given up.
	refuse bool
}

// recorded is the transaction that writes the holder record.
func recorded(do curatortest.Fate) curatortest.Rule {
	return curatortest.Rule{Op: "multi", Path: "/lock.holder", Do: do}
}

var quits = map[string]quitAt{
	"the answer to the record comes late":          {recorded(curatortest.Delay(2 * time.Second)), false},
	"the answer to the record is lost":             {recorded(curatortest.CutAfter()), true},
	"the record is lost":                           {recorded(curatortest.CutBefore()), true},
	"the record is refused":                        {recorded(curatortest.Fail(framework.ErrNoAuth)), false},
	"the look at the record of before comes late":  {curatortest.Rule{Op: "getData", Path: "/lock.holder", Do: curatortest.Delay(2 * time.Second)}, false},
	"the look at the queue before that comes late": {curatortest.Rule{Op: "getChildren", Do: curatortest.Delay(2 * time.Second)}, false},
}

// ways are those to bound an Acquire.
var ways = map[string]func(t *testing.T, c *framework.Client, wait time.Duration) (*locks.Lease, error){
	"context": func(t *testing.T, c *framework.Client, wait time.Duration) (*locks.Lease, error) {
		ctx, cancel := context.WithTimeout(t.Context(), wait)
		defer cancel()
		return delayed(t)(c).Acquire(ctx)
	},
	"TryAcquire": func(t *testing.T, c *framework.Client, wait time.Duration) (*locks.Lease, error) {
		ctx, cancel := context.WithTimeout(t.Context(), wait)
		defer cancel()
		return delayed(t)(c).TryAcquire(ctx)
	},
	"WithMaxWait": func(t *testing.T, c *framework.Client, wait time.Duration) (*locks.Lease, error) {
		return virtualMutex(t, locks.WithLockDelay(delay), locks.WithMaxWait(wait))(c).Acquire(t.Context())
	},
}

// Who gives up before the lock is granted was no holder: nobody waits for the delay because of it,
// whatever became of its holder record.
func TestLockDelayGivenUpBeforeTheGrant(t *testing.T) {
	for what, quit := range quits {
		for way, acquire := range ways {
			runVirtual(t, what+", "+way, func(t *testing.T, s *curatortest.Server) {
				client := s.Client(t)
				giveBack(t, take(t, delayed(t)(client))) // the parents are there
				quit.rule.SessionID = client.SessionID()
				hit := s.Inject(quit.rule)
				accept := func() {}
				if quit.refuse {
					accept = s.Refuse()
				}
				if lease, err := acquire(t, client, time.Second); err == nil {
					t.Fatalf("let in with token %d, although it has given up", lease.Token())
				}
				if !hit() {
					t.Fatal("nothing has happened to it")
				}
				accept()
				time.Sleep(10 * time.Second)
				wantQueue(t, s, 0)
				wantNoDelay(t, s)
			})
		}
	}
}

// wantNoDelay fails if the next one waits for the delay.
func wantNoDelay(t *testing.T, s *curatortest.Server) {
	t.Helper()
	next := enqueue(t, s, delayed(t))
	begin := time.Now()
	time.Sleep(delay / 2)
	if !next.in() {
		<-next.done
		t.Errorf("the next one was let in after %v, although nobody was lost", time.Since(begin))
	}
	next.release()
	wantNothingLeft(t, s)
}

// A contender that has left its record, and whose node is deleted before the grant, was no holder
// either, and knows it: it does not wait for the delay because of itself.
func TestLockDelayLostBeforeTheGrant(t *testing.T) {
	onVirtual(t, func(t *testing.T, s *curatortest.Server) {
		first, second := enqueue(t, s, delayed(t)), enqueue(t, s, delayed(t))
		operator := s.Client(t)
		suite.OK(t, operator.BlockUntilConnected(t.Context()))
		s.Inject(curatortest.Rule{Op: "multi", Path: "/lock.holder", SessionID: second.client.SessionID(), Do: curatortest.CutAfter()})
		accept := s.Refuse()
		first.release()
		for _, name := range s.Children("/lock") { // the second's: it has left its record, and is not in
			suite.OK(t, operator.Delete().ForPath(t.Context(), "/lock/"+name))
		}
		begin := time.Now()
		accept()
		<-second.done
		if took := time.Since(begin); took > delay/2 {
			t.Errorf("the second waited %v for the delay of its own node", took)
		}
		second.release()
		wantNothingLeft(t, s)
	})
}

// A server that puts off the transaction of a release is asked again: without it the record would
// stay, and the next one wait, although the release is confirmed.
func TestLockDelayReleaseIsThrottled(t *testing.T) {
	for name, waited := range map[string]bool{"at once": false, "after a wait": true} {
		for _, times := range []int{1, 2, 5} {
			runVirtual(t, fmt.Sprintf("%s, %d times", name, times), func(t *testing.T, s *curatortest.Server) {
				holder := enqueue(t, s, delayed(t))
				if waited {
					first := holder
					holder = enqueue(t, s, delayed(t))
					first.release()
				}
				s.Inject(curatortest.Rule{
					Op: "multi", Path: "/lock.holder", SessionID: holder.client.SessionID(),
					Times: times, Do: curatortest.Fail(throttled{}),
				})
				holder.release()
				wantNoDelay(t, s)
			})
		}
	}
}

// A contender has written its record, and an operator has deleted its node before the grant. When
// it gives up later, it leaves the record of the one that holds the lock by then.
func TestLockDelayRecordOfAnotherHolder(t *testing.T) {
	onVirtual(t, func(t *testing.T, s *curatortest.Server) {
		first, second := enqueue(t, s, delayed(t)), enqueue(t, s, delayed(t))
		third, fourth := enqueue(t, s, delayed(t)), enqueue(t, s, delayed(t))
		operator := s.Client(t)
		suite.OK(t, operator.BlockUntilConnected(t.Context()))
		hit := s.Inject(curatortest.Rule{Op: "multi", Path: "/lock.holder", SessionID: second.client.SessionID(), Do: curatortest.CutAfter()})
		accept := s.Refuse()
		first.release()
		if !hit() {
			t.Fatal("the second one has not written its record")
		}
		record, _ := s.Get("/lock.holder")
		suite.OK(t, operator.Delete().ForPath(t.Context(), "/lock/"+string(record)))
		accept()
		time.Sleep(time.Minute) // the delay
		if !third.in() {
			t.Fatal("the third one was not let in")
		}
		third.release()
		time.Sleep(time.Second)
		if !fourth.in() {
			t.Fatal("the fourth one was not let in")
		}
		second.cancel()
		<-second.done
		synctest.Wait()
		if _, ok := s.Get("/lock.holder"); !ok {
			t.Error("the record of the holder was deleted")
		}
		fourth.release()
	})
}
