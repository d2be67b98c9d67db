package locks_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/recipes/locks"
	"github.com/go-curator/curator/tools/curatortest"
)

// What may happen to somebody in the line, who has no node: for losses of the one who holds the lock
// see TestLocalHandoverAfterLoss.
func TestLocalHandoverInLine(t *testing.T) {
	for name, c := range map[string]struct {
		opts  []locks.MutexOption
		end   func(s *curatortest.Server, holder, waiter *queued)
		wants []error
	}{
		"context ends": {nil, func(_ *curatortest.Server, _, waiter *queued) { waiter.cancel() }, []error{locks.ErrNotAcquired, context.Canceled}},
		"longest wait": {
			[]locks.MutexOption{locks.WithMaxWait(time.Second)}, func(*curatortest.Server, *queued, *queued) {}, []error{locks.ErrNotAcquired},
		},
		"closed": {nil, func(_ *curatortest.Server, holder, _ *queued) {
			suite.OK(holder.t, holder.client.Close(holder.t.Context()))
		}, []error{framework.ErrClosed}},
	} {
		runVirtual(t, name, func(t *testing.T, s *curatortest.Server) {
			goroutines := startGoroutines(t, s, append(c.opts, locks.WithLocalHandover(10))...)
			holder, waiter, other := goroutines.join(), goroutines.join(), enqueue(t, s, virtualMutex(t))
			c.end(s, holder, waiter)
			<-waiter.done
			suite.WantErr(t, waiter.err, c.wants...)
			if errors.Is(waiter.err, context.DeadlineExceeded) {
				t.Errorf("%v matches context.DeadlineExceeded", waiter.err)
			}
			if err := holder.lease.Release(t.Context()); name != "closed" && err != nil {
				t.Error(err)
			}
			other.release()
			if n := locks.InLine(goroutines.lock.(*locks.InterProcessMutex)); n != -1 {
				t.Errorf("%d are left in the line", n)
			}
			wantNothingLeft(t, s)
		})
	}
}

// Without a connection nobody knows whether the lock is busy, neither who asks for it nor who
// stands in the line behind.
func TestLocalHandoverBlind(t *testing.T) {
	virtually(t, func(t *testing.T, e *env) {
		mutex := e.lock(e.client, locks.WithLocalHandover(10))
		limited := e.lock(e.client, locks.WithLocalHandover(10), locks.WithMaxWait(200*time.Millisecond))
		ctx := bounded(t, 300*time.Millisecond)
		heal := e.network.Isolate()
		first, second, third := e.start(ctx, mutex), e.start(ctx, mutex), e.start(ctx, limited)
		for a, want := range map[*acquisition]error{first: context.DeadlineExceeded, second: context.DeadlineExceeded, third: framework.ErrConnectionLoss} {
			<-a.done
			suite.WantErr(t, a.err, want)
			if errors.Is(a.err, locks.ErrNotAcquired) {
				t.Errorf("%v says that the lock is busy", a.err)
			}
		}
		heal()
		// Behind one who waits for somebody else's it is known to be.
		holder := e.acquire(e.other())
		waiter := e.queue(t.Context(), mutex, 2)
		suite.Got(limited.Acquire(t.Context())).Fails(t, locks.ErrNotAcquired)
		e.release(holder)
		e.release(e.granted(waiter))
		e.untilNodes(0)
	})
}

// Nor does anybody know it any more behind one who contends since the holder was lost.
func TestLocalHandoverBlindAfterLoss(t *testing.T) {
	virtually(t, func(t *testing.T, e *env) {
		mutex := e.lock(e.client, locks.WithLocalHandover(10))
		lease := e.acquire(mutex)
		ctx := bounded(t, time.Second)
		next, last := e.start(ctx, mutex), e.start(ctx, mutex)
		synctest.Wait()
		heal := e.network.Isolate()
		e.network.Cut()
		e.lost(lease, locks.LossSuspended)
		for _, a := range []*acquisition{next, last} {
			<-a.done
			suite.WantErr(t, a.err, context.DeadlineExceeded)
			if errors.Is(a.err, locks.ErrNotAcquired) {
				t.Errorf("%v says that the lock is busy", a.err)
			}
		}
		heal()
		e.release(lease)
	})
}

// The plain protocol has none of it.
func TestLocalHandoverPlain(t *testing.T) {
	onVirtual(t, func(t *testing.T, s *curatortest.Server) {
		c := startGoroutines(t, s, locks.WithLocalHandover(10), locks.WithPlainProtocol())
		first, second := c.join(), c.join()
		if n := len(s.Children("/lock")); n != 2 {
			t.Errorf("%d nodes for two who want the lock", n)
		}
		token := first.lease.Token()
		first.release()
		if !second.in() || second.lease.Token() == token {
			t.Error("the node was handed over")
		}
		second.release()
	})
}

// shortHold is shorter than the time after which a holder's node is watched.
const shortHold = 10 * time.Millisecond

// chain has many goroutines of a client take the lock over from each other, each for a short time.
type chain struct {
	*goroutines
	later int // grants of the first token, after the fault, that were believed
	lost  []error
}

// runChain has fault called while the eleventh of thirty holders holds the lock.
func runChain(t *testing.T, s *curatortest.Server, fault func(path string) error, opts ...locks.MutexOption) *chain {
	t.Helper()
	c := &chain{goroutines: startGoroutines(t, s, append(opts, locks.WithLocalHandover(1000))...)}
	for range 30 {
		c.join()
	}
	if !c.members[0].in() {
		t.Fatal("the first is not in")
	}
	token, path := c.members[0].lease.Token(), c.members[0].lease.Path()
	for i, q := range c.members {
		<-q.done
		if q.in() && i > 10 && q.lease.Token() == token {
			c.later++
		}
		time.Sleep(shortHold)
		if i == 10 {
			suite.OK(t, fault(path))
		}
		synctest.Wait()
		if err := q.lease.Err(); err != nil {
			c.lost = append(c.lost, err)
		}
		_ = q.lease.Release(t.Context())
	}
	return c
}

// The node is watched although no holder of the chain holds the lock for long: a few more may
// take it over until the event has come, and then nobody does.
func TestLocalHandoverOfShortHolds(t *testing.T) {
	const few = 3
	for name, c := range operatorFaults {
		runVirtual(t, name, func(t *testing.T, s *curatortest.Server) {
			operator := s.Client(t)
			got := runChain(t, s, func(path string) error { return c.fault(operator, path) }, locks.WithRevocable(nil))
			if got.later > few {
				t.Errorf("%d holders believed in the lock after its node was %s, want at most %d", got.later, name, few)
			}
			if len(got.lost) == 0 || slices.ContainsFunc(got.lost, func(err error) bool { return !lostFor(err, c.want) }) {
				t.Errorf("leases were lost with %v, want one with %v", got.lost, c.want)
			}
			wantNothingLeft(t, s)
		})
	}
}

// A chain of short holds hands the lock over until somebody asks for it; then another process
// has its turn.
func TestLocalHandoverOfShortHoldsRevoked(t *testing.T) {
	onVirtual(t, func(t *testing.T, s *curatortest.Server) {
		asked := make(chan struct{}, 100)
		nextWaiter := (*queued)(nil)
		c := runChain(t, s, func(path string) error {
			nextWaiter = enqueue(t, s, virtualMutex(t))
			go func() {
				<-nextWaiter.done
				giveBack(t, nextWaiter.lease)
			}()
			return locks.AttemptRevoke(context.Background(), nextWaiter.client, path)
		}, locks.WithRevocable(func(context.Context, *locks.Lease) { asked <- struct{}{} }))
		if c.later > 3 {
			t.Errorf("%d holders took the lock over after another client asked for it", c.later)
		}
		if len(asked) == 0 {
			t.Error("no holder was told that another client asked for the lock")
		}
		wantNothingLeft(t, s)
	})
}
