package locks_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/recipes/locks"
	"github.com/go-curator/curator/tools/curatortest"
)

const delay = time.Minute

func delayed(t *testing.T) func(c *framework.Client) locks.InterProcessLock {
	return virtualMutex(t, locks.WithLockDelay(delay))
}

// After each way to lose a lock the next one waits for the delay, and nobody waits after a
// release.
func TestLockDelay(t *testing.T) {
	for name, c := range map[string]struct {
		lose    func(s *curatortest.Server, q *queued)
		delayed bool
	}{
		"release": {func(_ *curatortest.Server, q *queued) { giveBack(q.t, q.lease) }, false},
		"release that is refused": {func(s *curatortest.Server, q *queued) {
			s.Inject(curatortest.Rule{Op: "multi", SessionID: q.client.SessionID(), Do: curatortest.Fail(framework.ErrNoAuth), Times: 2})
			giveBack(q.t, q.lease)
		}, true}, // the record cannot be deleted
		"release whose answer is lost": {func(s *curatortest.Server, q *queued) {
			s.Inject(curatortest.Rule{Op: "multi", Do: curatortest.CutAfter()})
			giveBack(q.t, q.lease)
		}, false},
		"release that is lost": {func(s *curatortest.Server, q *queued) {
			s.Inject(curatortest.Rule{Op: "multi", Do: curatortest.CutBefore()})
			giveBack(q.t, q.lease)
		}, false},
		"session expired": {func(s *curatortest.Server, q *queued) { s.ExpireSession(q.client.SessionID()) }, true},
		"closed":          {func(_ *curatortest.Server, q *queued) { _ = q.client.Close(context.Background()) }, true},
		"node deleted": {func(s *curatortest.Server, q *queued) {
			suite.OK(q.t, q.client.Delete().ForPath(context.Background(), q.lease.Path()))
		}, true},
		"released after a suspension": {func(s *curatortest.Server, q *queued) {
			s.DisconnectSession(q.client.SessionID())
			<-q.lease.Context().Done()
			giveBack(q.t, q.lease)
		}, true},
	} {
		runVirtual(t, name, func(t *testing.T, s *curatortest.Server) {
			holder, next := enqueue(t, s, delayed(t)), enqueue(t, s, delayed(t))
			if !holder.in() {
				t.Fatal("the first has to wait")
			}
			wantRecord(t, s, true)
			begin := time.Now()
			c.lose(s, holder)
			time.Sleep(10 * time.Second)
			if !c.delayed {
				next.release()
				wantRecord(t, s, false)
				return
			}
			if next.in() {
				t.Fatal("let in during the delay")
			}
			suite.Got(delayed(t)(s.Client(t)).TryAcquire(t.Context())).Fails(t, locks.ErrNotAcquired)
			<-next.done
			if took := time.Since(begin); took < delay || took > delay+20*time.Second {
				t.Errorf("the delay took %v", took)
			}
			_ = holder.lease.Release(t.Context())
			wantRecord(t, s, true)
			next.release()
			wantRecord(t, s, false)
		})
	}
}

// A wait for the delay ends with its context and leaves no node; the record stays for others.
// TryAcquire does not wait.
func TestLockDelayGivenUp(t *testing.T) {
	onVirtual(t, func(t *testing.T, s *curatortest.Server) {
		holder := enqueue(t, s, delayed(t))
		suite.OK(t, holder.client.Close(t.Context()))
		suite.Got(delayed(t)(s.Client(t)).TryAcquire(t.Context())).Fails(t, locks.ErrNotAcquired)
		quitter := enqueue(t, s, delayed(t))
		quitter.cancel()
		<-quitter.done
		suite.WantErr(t, quitter.err, locks.ErrNotAcquired, context.Canceled)
		wantQueue(t, s, 0)
		wantRecord(t, s, true)
		next := enqueue(t, s, delayed(t))
		if next.in() {
			t.Fatal("no delay for the next")
		}
		time.Sleep(delay)
		synctest.Wait()
		next.release()
		suite.WantErr(t, holder.lease.Release(t.Context()), locks.ErrLockLost)
	})
}

// A record of which the contender does not know whether it has written it is not that of another.
func TestLockDelayAnswerLost(t *testing.T) {
	onVirtual(t, func(t *testing.T, s *curatortest.Server) {
		s.Inject(curatortest.Rule{Op: "multi", Path: "/lock.holder", Do: curatortest.CutAfter()})
		first := enqueue(t, s, delayed(t))
		time.Sleep(delay / 2)
		first.release()
		wantRecord(t, s, false)
	})
}

// A contender whose session ends during the delay begins again, and waits for the delay of who
// was lost then.
func TestLockDelayOfAnother(t *testing.T) {
	onVirtual(t, func(t *testing.T, s *curatortest.Server) {
		first, second, third := enqueue(t, s, delayed(t)), enqueue(t, s, delayed(t)), enqueue(t, s, delayed(t))
		s.ExpireSession(first.client.SessionID())
		time.Sleep(10 * time.Second)
		s.ExpireSession(second.client.SessionID())
		time.Sleep(2 * delay)
		if !third.in() {
			t.Fatal("the next after the delay is not let in")
		}
		wantDelay(t, s, third, second)
		suite.WantErr(t, first.lease.Release(t.Context()), locks.ErrLockLost)
	})
}

// Each lost holder has a delay of its own, also for one who has waited for another's already: its
// node went meanwhile, and it stands behind somebody else, who is lost, too.
func TestLockDelayForEveryHolder(t *testing.T) {
	onVirtual(t, func(t *testing.T, s *curatortest.Server) {
		first := enqueue(t, s, delayed(t))
		next := enqueue(t, s, delayed(t))
		second := enqueue(t, s, delayed(t))
		nodes := s.Children("/lock")
		slices.SortFunc(nodes, func(a, b string) int { return strings.Compare(number(a), number(b)) })
		s.ExpireSession(first.client.SessionID())
		time.Sleep(delay / 2) // next waits for the delay
		suite.OK(t, second.client.Delete().ForPath(t.Context(), "/lock/"+nodes[1]))
		<-second.done
		s.ExpireSession(second.client.SessionID())
		begin := time.Now()
		<-next.done
		if took := time.Since(begin); took < delay {
			t.Errorf("the second delay took %v", took)
		}
		next.release()
		for _, lost := range []*queued{first, second} {
			suite.WantErr(t, lost.lease.Release(t.Context()), locks.ErrLockLost)
		}
	})
}

// wantDelay fails unless next is let in after the delay, and not before, when the holder is lost.
func wantDelay(t *testing.T, s *curatortest.Server, holder, next *queued) {
	t.Helper()
	s.ExpireSession(holder.client.SessionID())
	time.Sleep(delay - time.Second)
	if next.in() {
		t.Error("let in during the delay")
	}
	time.Sleep(2 * time.Second)
	next.release()
	suite.WantErr(t, holder.lease.Release(t.Context()), locks.ErrLockLost)
	wantRecord(t, s, false)
}

// A contender was let in and its session has ended when it writes its record, or looks for that
// of another: what it finds then is that of who has the lock.
func TestLockDelayOfTheLiving(t *testing.T) {
	for _, op := range []string{"getData", "multi"} {
		runVirtual(t, op, func(t *testing.T, s *curatortest.Server) {
			first, second, third := enqueue(t, s, delayed(t)), enqueue(t, s, delayed(t)), enqueue(t, s, delayed(t))
			s.Inject(curatortest.Rule{
				Op: op, Path: "/lock.holder", SessionID: second.client.SessionID(), Do: curatortest.CutBefore(),
			})
			accept := s.Refuse()
			first.release()
			s.ExpireSession(second.client.SessionID())
			if !third.in() {
				t.Fatal("the third is not let in")
			}
			accept()
			time.Sleep(2 * delay)
			wantDelay(t, s, third, second)
		})
	}
}

// A contender whose session has ended does not write its record late, for nobody to delete.
func TestLockDelayLateTrace(t *testing.T) {
	onVirtual(t, func(t *testing.T, s *curatortest.Server) {
		first, second, third := enqueue(t, s, delayed(t)), enqueue(t, s, delayed(t)), enqueue(t, s, delayed(t))
		hit := s.Inject(curatortest.Rule{
			Op: "multi", Path: "/lock.holder", SessionID: second.client.SessionID(), Do: curatortest.Fail(throttled{}),
		})
		first.release()
		s.ExpireSession(second.client.SessionID())
		third.release()
		wantRecord(t, s, false)
		time.Sleep(10 * time.Second) // by now the second has tried again
		if !hit() {
			t.Fatal("the second was not let in")
		}
		second.release()
		wantRecord(t, s, false)
	})
}

// Close ends the wait for the delay.
func TestLockDelayClosed(t *testing.T) {
	onVirtual(t, func(t *testing.T, s *curatortest.Server) {
		holder, waiter := enqueue(t, s, delayed(t)), enqueue(t, s, delayed(t))
		s.ExpireSession(holder.client.SessionID())
		time.Sleep(10 * time.Second)
		begin := time.Now()
		suite.OK(t, waiter.client.Close(t.Context()))
		<-waiter.done
		suite.WantErr(t, waiter.err, framework.ErrClosed)
		if took := time.Since(begin); took > time.Second {
			t.Errorf("Acquire returned %v after Close", took)
		}
		suite.WantErr(t, holder.lease.Release(t.Context()), locks.ErrLockLost)
	})
}

// Who does not wait, or not for so long, is let in when it has tried for as long as the delay.
func TestLockDelayOfTries(t *testing.T) {
	for name, acquire := range map[string]func(ctx context.Context, lock locks.InterProcessLock) (*locks.Lease, error){
		"no wait": func(ctx context.Context, lock locks.InterProcessLock) (*locks.Lease, error) {
			return lock.TryAcquire(ctx)
		},
		"short wait": func(ctx context.Context, lock locks.InterProcessLock) (*locks.Lease, error) {
			ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
			defer cancel()
			return lock.Acquire(ctx)
		},
	} {
		runVirtual(t, name, func(t *testing.T, s *curatortest.Server) {
			holder := enqueue(t, s, delayed(t))
			s.ExpireSession(holder.client.SessionID())
			lock := delayed(t)(s.Client(t))
			begin := time.Now()
			lease, err := acquire(t.Context(), lock)
			for err != nil && time.Since(begin) < 2*delay {
				suite.WantErr(t, err, locks.ErrNotAcquired)
				time.Sleep(time.Second)
				lease, err = acquire(t.Context(), lock)
			}
			if took := time.Since(begin); err != nil || took < delay || took > delay+10*time.Second {
				t.Errorf("after %v: %v", took, err)
			}
			giveBack(t, lease)
			suite.WantErr(t, holder.lease.Release(t.Context()), locks.ErrLockLost)
		})
	}
}

func TestLockDelayOnBackends(t *testing.T) {
	onBackends(t, withRealServer, func(t *testing.T, e *env) {
		const delay = 200 * time.Millisecond
		opt := locks.WithLockDelay(delay)
		lost := e.acquire(e.lock(e.client, opt))
		waiter := e.queue(t.Context(), e.other(opt), 2)
		begin := time.Now()
		e.delete(lost.Path())
		next := e.granted(waiter)
		if took := time.Since(begin); took < delay {
			t.Errorf("the delay took %v", took)
		}
		suite.WantErr(t, lost.Release(t.Context()), locks.ErrLockLost)
		e.release(next)
		if left, err := e.observer.CheckExists().ForPath(t.Context(), e.path+".holder"); err != nil || left {
			t.Errorf("the record is left: %v, %v", left, err)
		}
		e.wantNodes(0)
	})
}
