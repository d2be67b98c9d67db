package locks_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/recipes/locks"
	"github.com/go-curator/curator/tools/curatortest"
)

func (e *env) revoke(path string) {
	e.t.Helper()
	suite.OK(e.t, locks.AttemptRevoke(e.t.Context(), e.observer, path))
}

// TestRevokeNested asks for a lock of which the outermost lease was released before the others.
func TestRevokeNested(t *testing.T) {
	virtually(t, func(t *testing.T, e *env) {
		asked := make(chan *locks.Lease, 1)
		polite := locks.WithRevocable(func(_ context.Context, lease *locks.Lease) { asked <- lease })
		mutex, rw := e.lock(e.client, polite), e.rw(e.client, polite)
		for name, lock := range map[string]locks.InterProcessLock{"mutex": mutex, "shared": rw.ReadLock()} {
			outer := e.acquire(lock)
			middle := e.acquireFrom(outer.Context(), lock)
			inner := e.acquireFrom(middle.Context(), lock)
			e.release(outer)
			want := middle
			if name == "mutex" {
				e.release(middle)
				want = inner
			} else {
				e.release(inner)
			}
			e.revoke(outer.Path())
			if lease := <-asked; lease != want {
				t.Errorf("%s: told of a lease of which is to be said: %v", name, lease.Err())
			}
			e.release(middle)
			e.release(inner)
			e.wantNodes(0)
			suite.WantErr(t, locks.AttemptRevoke(t.Context(), e.observer, outer.Path()), framework.ErrNoNode)
		}
	})
}

// TestMaxHold has one holder release in time, one late and one never.
func TestMaxHold(t *testing.T) {
	virtually(t, func(t *testing.T, e *env) {
		const most = 200 * time.Millisecond
		lock := e.lock(e.client, locks.WithMaxHold(most))
		e.release(e.acquire(lock))

		late := e.acquire(lock)
		soon, cancel := context.WithTimeout(t.Context(), most/100)
		defer cancel()
		for name, c := range map[string]struct {
			ctx  context.Context
			most time.Duration
		}{
			"the lease's": {late.Context(), most}, "bound": {late.Bind(t.Context()), most}, "bound, ends before": {late.Bind(soon), most / 100},
		} {
			if deadline, ok := c.ctx.Deadline(); !ok || time.Until(deadline) > c.most {
				t.Errorf("%s context has the deadline %v, %v", name, deadline, ok)
			}
		}
		e.lost(late, locks.LossMaxHold)
		e.release(late) // before the margin has passed: nobody was let in

		never := e.acquire(lock)
		waiting := e.queue(t.Context(), e.other(), 2)
		e.lost(never, locks.LossMaxHold)
		next := e.granted(waiting)
		if next.Token() <= never.Token() {
			t.Errorf("tokens %d and %d", never.Token(), next.Token())
		}
		suite.WantErr(t, never.Release(t.Context()), locks.ErrLockLost)
		e.release(next)
		e.untilNodes(0)
	})
}

// TestMaxHoldIsNotOfTheWait has somebody wait for much longer than he may hold: he keeps his
// place, and what he has of several leases, and the time begins when he has all.
func TestMaxHoldIsNotOfTheWait(t *testing.T) {
	const most = time.Second
	for _, n := range []int{1, 2} {
		runVirtual(t, fmt.Sprintf("%d of 2", n), func(t *testing.T, s *curatortest.Server) {
			open := func(opts ...locks.SemaphoreOption) *locks.InterProcessSemaphoreV2 {
				return suite.Got(locks.NewInterProcessSemaphoreV2(s.Client(t), "/lock", 2, opts...)).OK(t)
			}
			var held []*locks.Lease
			for range 3 - n {
				held = append(held, take(t, open()))
			}
			done := make(chan *locks.Lease)
			go func() {
				lease, err := open(locks.WithMaxHold(most)).AcquireN(t.Context(), n)
				if err != nil {
					t.Error(err)
				}
				done <- lease
			}()
			synctest.Wait()
			before := append(s.Children("/lock/locks"), s.Children("/lock/leases")...)
			time.Sleep(time.Minute)
			after := append(s.Children("/lock/locks"), s.Children("/lock/leases")...)
			if len(before) != 4 || !slices.Equal(before, after) {
				t.Errorf("nodes %q, and later %q", before, after)
			}
			for _, lease := range held {
				giveBack(t, lease)
			}
			lease := <-done
			granted := time.Now()
			<-lease.Context().Done()
			if d := time.Since(granted); d < most*9/10 || d > most {
				t.Errorf("held for %v, want %v", d, most)
			}
			var loss *locks.LossError
			if !errors.As(lease.Err(), &loss) || loss.Reason != locks.LossMaxHold {
				t.Errorf("ended with %v", lease.Err())
			}
			giveBack(t, lease)
		})
	}
}

// Close does not wait until the node of who has held for too long would be deleted.
func TestMaxHoldClosed(t *testing.T) {
	onVirtual(t, func(t *testing.T, s *curatortest.Server) {
		holder := enqueue(t, s, virtualMutex(t, locks.WithMaxHold(time.Second)))
		<-holder.lease.Context().Done()
		begin := time.Now()
		if err := holder.client.Close(context.Background()); err != nil {
			t.Error(err)
		}
		if took := time.Since(begin); took > 100*time.Millisecond {
			t.Errorf("Close took %v", took)
		}
		time.Sleep(time.Minute)
		if err := holder.lease.Release(t.Context()); !errors.Is(err, locks.ErrLockLost) || errors.Is(err, locks.ErrReleasePending) {
			t.Errorf("Release: %v; the node has gone with the session, and others may have been let in", err)
		}
	})
}

// TestInspect looks at a mutex; for the other kinds see inspect_test.go.
func TestInspect(t *testing.T) {
	onBackends(t, withRealServer, func(t *testing.T, e *env) {
		look := func(kind string, holders, waiters int) *locks.Inspection {
			t.Helper()
			i := suite.Got(locks.Inspect(t.Context(), e.observer, e.path)).OK(t)
			if i.Kind != kind || len(i.Holders) != holders || len(i.Waiters) != waiters {
				t.Fatalf("%q with %d holders and %d waiters, want %q with %d and %d", i.Kind, len(i.Holders), len(i.Waiters), kind, holders, waiters)
			}
			return i
		}
		look("", 0, 0)
		lease := e.acquire(e.lock(e.client, locks.WithNodeData([]byte("worker 7"))))
		waiting := e.queue(t.Context(), e.other(), 2)
		holder := look("mutex", 1, 1).Holders[0]
		if holder.Path != lease.Path() || holder.Token != lease.Token() || holder.SessionID != e.client.SessionID() || holder.Data != "worker 7" {
			t.Errorf("the holder is %+v", holder)
		}
		e.release(lease)
		e.release(e.granted(waiting))
		e.untilNodes(0)
	})
}
