package locks_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/recipes/locks"
	"github.com/go-curator/curator/tools/curatortest"
)

// wantHolder fails unless err names one of holders, and gives why as the reason.
func wantHolder(t *testing.T, err, why error, holders []string) {
	t.Helper()
	suite.WantErr(t, err, locks.ErrNotAcquired)
	var busy *locks.NotAcquiredError
	if !errors.As(err, &busy) || !slices.Contains(holders, busy.Holder) || !strings.Contains(err.Error(), busy.Holder) {
		t.Fatalf("%v does not name one of %v", err, holders)
	}
	if why == nil && busy.Err != nil || why != nil && !errors.Is(busy.Err, why) {
		t.Fatalf("%v: the reason is %v, want %v", err, busy.Err, why)
	}
}

// Who does not get a lock learns the node of a holder, without another request.
func TestNotAcquiredNamesTheHolder(t *testing.T) {
	eachKindVirtually(t, waiters, func(t *testing.T, f *fixture) {
		ctx, cancel := context.WithCancel(t.Context())
		waiter := f.wait(ctx)
		cancel()
		<-waiter.done
		held := func() []string {
			_, leases := f.all()
			return leases
		}
		wantHolder(t, waiter.err, context.Canceled, held())
		if f.kind.leases > 1 && !f.kind.multi { // TryAcquire takes one, which is free
			f.releaseHolders()
			return
		}
		reads := f.network.Requests(jute.OpGetData)
		_, err := f.lock.TryAcquire(t.Context())
		wantHolder(t, err, nil, held())
		if n := f.network.Requests(jute.OpGetData) - reads; n != 0 {
			t.Errorf("%d reads", n)
		}
		f.releaseHolders()
	})
}

// Of another goroutine of the same client it is known, too, and of a wait that was bounded.
func TestNotAcquiredInOneClient(t *testing.T) {
	virtually(t, func(t *testing.T, e *env) {
		mutex := e.lock(e.client, locks.WithLocalHandover(3), locks.WithMaxWait(50*time.Millisecond))
		lease := e.acquire(mutex)
		ours := []string{e.path + "/" + e.wantNodes(1)[0]}
		for _, m := range []*locks.InterProcessMutex{mutex, e.lock(e.client)} {
			_, err := m.TryAcquire(t.Context())
			wantHolder(t, err, nil, ours)
		}
		_, err := mutex.Acquire(t.Context())
		suite.WantErr(t, err, locks.ErrNotAcquired)
		if !strings.Contains(err.Error(), ours[0]) || !strings.Contains(err.Error(), "WithMaxWait(50ms)") || errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v", err)
		}
		nested := suite.Got(mutex.Acquire(lease.Context())).OK(t)
		_, err = mutex.TryAcquire(lease.Context())
		suite.WantErr(t, err, locks.ErrNotAcquired)
		if !strings.Contains(err.Error(), ours[0]+": a lease is nested already") {
			t.Errorf("%v", err)
		}
		e.release(nested)
		e.release(lease)
	})
}

// A TryAcquire that has seen others says so, also if its context ends while it deletes its node.
func TestTryAcquireEndsWhileItCleansUp(t *testing.T) {
	onVirtual(t, func(t *testing.T, s *curatortest.Server) {
		holder := enqueue(t, s, virtualMutex(t))
		client := s.Client(t)
		mutex := mutexOf(t, client)
		ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
		defer cancel()
		s.Inject(curatortest.Rule{Op: "delete", SessionID: client.SessionID(), Do: curatortest.Delay(500 * time.Millisecond)})
		_, err := mutex.TryAcquire(ctx)
		suite.WantErr(t, err, locks.ErrNotAcquired)
		if ctx.Err() == nil || errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v, and the context %v", err, ctx.Err())
		}
		holder.release()
	})
}

// wantAhead fails unless err says how many are ahead, also in its text.
func wantAhead(t *testing.T, err error, ahead int) {
	t.Helper()
	suite.WantErr(t, err, locks.ErrNotAcquired)
	var busy *locks.NotAcquiredError
	if !errors.As(err, &busy) || busy.Ahead != ahead || strings.Contains(err.Error(), fmt.Sprintf("%d ahead", ahead)) != (ahead > 0) {
		t.Errorf("%v, want %d ahead", err, ahead)
	}
}

// How many are ahead is what the last list has shown.
func TestNotAcquiredSaysHowManyAreAhead(t *testing.T) {
	onQueue(t, 3, func(t *testing.T, s *curatortest.Server, q []*queued) {
		client := s.Client(t)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := mutexOf(t, client).Acquire(ctx)
		if wantAhead(t, err, 3); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
		_, err = mutexOf(t, client, locks.WithMaxWait(time.Second)).Acquire(t.Context())
		wantAhead(t, err, 3)
		time.AfterFunc(time.Second, q[2].cancel)
		_, err = mutexOf(t, client, locks.WithMaxWait(3*time.Second)).Acquire(t.Context())
		wantAhead(t, err, 2)
		<-q[2].done
		wantAhead(t, q[2].err, 2)
		q[0].release()
		q[1].release()
	})
	for want, err := range map[string]*locks.NotAcquiredError{
		"lock not acquired":                                   {},
		"lock not acquired: 2 ahead":                          {Ahead: 2},
		"lock not acquired: seen held by /l/a":                {Holder: "/l/a"},
		"lock not acquired: 1 ahead, seen held by /l/a: late": {Ahead: 1, Holder: "/l/a", Err: errors.New("late")},
	} {
		if err.Error() != want {
			t.Errorf("%q, want %q", err, want)
		}
	}
}
