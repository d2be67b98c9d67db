package locks_test

import (
	"context"
	"errors"
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
			if err := holder.client.Close(holder.t.Context()); err != nil {
				holder.t.Error(err)
			}
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
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		defer cancel()
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
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
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
