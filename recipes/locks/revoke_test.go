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
			var held []*locks.Lease
			for range 3 - n {
				held = append(held, take(t, openV2(2)(t, s.Client(t))))
			}
			mine := openV2(2)(t, s.Client(t), locks.WithMaxHold(most)).(counted)
			done := taking(t, several{mine, n})
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
			wantLoss(t, lease.Err(), locks.LossMaxHold)
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
		suite.OK(t, holder.client.Close(context.Background()))
		if took := time.Since(begin); took > 100*time.Millisecond {
			t.Errorf("Close took %v", took)
		}
		time.Sleep(time.Minute)
		if err := holder.lease.Release(t.Context()); !errors.Is(err, locks.ErrLockLost) || errors.Is(err, locks.ErrReleasePending) {
			t.Errorf("Release: %v; the node has gone with the session, and others may have been let in", err)
		}
	})
}

// A lease that has ended out of caution keeps the lock until its release, and WithMaxHold
// takes that from a holder that never does.
func TestMaxHoldAfterAnotherLoss(t *testing.T) {
	const most = time.Minute
	for name, c := range map[string]struct {
		lose func(s *curatortest.Server, holder *queued)
		want locks.LossReason
	}{
		"suspended": {func(s *curatortest.Server, holder *queued) {
			s.DisconnectSession(holder.client.SessionID())
		}, locks.LossSuspended},
		"revoked": {func(_ *curatortest.Server, holder *queued) {
			suite.OK(holder.t, locks.AttemptRevoke(holder.t.Context(), holder.client, holder.lease.Path()))
		}, locks.LossRevoked},
	} {
		runVirtual(t, name, func(t *testing.T, s *curatortest.Server) {
			holder := enqueue(t, s, virtualMutex(t, locks.WithMaxHold(most), locks.WithRevocable(nil)))
			next := enqueue(t, s, virtualMutex(t))
			c.lose(s, holder)
			<-holder.lease.Context().Done()
			wantLoss(t, holder.lease.Err(), c.want)
			time.Sleep(most / 2)
			if next.in() {
				t.Fatal("let in beside who may release still")
			}
			time.Sleep(most)
			if !next.in() {
				t.Fatal("the lock is kept by who never releases it")
			}
			suite.WantErr(t, holder.lease.Release(t.Context()), locks.ErrLockLost)
			next.release()
			synctest.Wait()
			if n := s.Watches(); n != 0 {
				t.Errorf("%d watches are left", n)
			}
		})
	}
}

// FuzzNodeData writes something into the node of a holder, as anybody may. It is a request for the lock
// if it is Java's, and nothing else.
func FuzzNodeData(f *testing.F) {
	const revoke = "__REVOKE__"
	f.Add([]byte(revoke))
	f.Add([]byte(revoke + "\n"))
	f.Add([]byte("__REVOKE_"))
	f.Add([]byte("10.1.2.3\nowner=a\nhost=b\npid=3"))
	f.Add([]byte(nil))
	f.Fuzz(func(t *testing.T, data []byte) {
		onVirtual(t, func(t *testing.T, s *curatortest.Server) {
			client := s.Client(t)
			lease := suite.Got(virtualMutex(t, locks.WithRevocable(nil))(client).Acquire(t.Context())).OK(t)
			defer giveBack(t, lease)
			time.Sleep(time.Second) // now it is watched
			if _, err := client.SetData().ForPath(t.Context(), lease.Path(), data); errors.Is(err, framework.ErrTooLarge) {
				return
			} else if err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
			var loss *locks.LossError
			asked := errors.As(lease.Err(), &loss) && loss.Reason == locks.LossRevoked
			if asked != (string(data) == revoke) || !asked && lease.Err() != nil {
				t.Errorf("after %q: %v", data, lease.Err())
			}
		})
	})
}
