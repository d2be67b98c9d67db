package locks_test

import (
	"context"
	"encoding/binary"
	"errors"
	"testing"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/framework/listen"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/recipes/locks"
	"github.com/go-curator/curator/recipes/shared"
)

func onLeased(t *testing.T, most int, test func(e *leasedEnv)) {
	suite.EachOf(t, withRealServer, func(t *testing.T, b *suite.Backend) { test(newLeasedEnv(t, b, most)) })
}

// The nodes are where Java looks for them, and the mutex is not held by who has a lease.
func TestSemaphoreV2Layout(t *testing.T) {
	onLeased(t, 3, func(e *leasedEnv) {
		s := e.open(e.client, locks.WithNodeData([]byte("mine")))
		var leases []*locks.Lease
		for range e.most {
			lease := suite.Got(s.TryAcquire(e.t.Context())).OK(e.t) // one after the other, at once
			leases = append(leases, lease)
		}
		e.have(0, 3)
		for i, name := range e.below("leases") {
			path := e.path + "/leases/" + name
			data, err := e.observer.GetData().ForPath(e.t.Context(), path)
			if err != nil || string(data) != "mine" || leases[i].Path() != path || name[39:len(name)-10] != "-lease-" {
				e.t.Errorf("lease on %q: node %q, data %q, %v", leases[i].Path(), name, data, err)
			}
			if i > 0 && leases[i].Token() <= leases[i-1].Token() {
				e.t.Errorf("token %d after %d", leases[i].Token(), leases[i-1].Token())
			}
		}
		waiting := e.wait(e.soon(), s)
		nodes, err := s.ParticipantNodes(e.t.Context())
		if err != nil || len(nodes) != 4 || nodes[0] != leases[0].Path() {
			e.t.Errorf("participants %q, %v", nodes, err)
		}
		e.release(leases[1])
		e.release(e.granted(waiting))
		e.release(leases[0])
		e.release(leases[2])
		e.intact()
	})
}

// Every child below the leases counts, whatever its name; those below the mutex do not,
// unless they are contenders.
func TestForeignChildren(t *testing.T) {
	onLeased(t, 1, func(e *leasedEnv) {
		for _, path := range []string{"/locks/notes", "/leases/notes"} {
			suite.Got(e.observer.Create().ForPath(e.t.Context(), e.path+path)).OK(e.t)
		}
		suite.Got(e.semaphore.TryAcquire(e.t.Context())).Fails(e.t, locks.ErrNotAcquired)
		e.have(1, 1)
		waiting := e.start(e.soon(), e.semaphore)
		e.until(2, 2)
		e.remove("leases", "notes")
		e.release(e.granted(waiting))
		e.have(1, 0)
		e.remove("locks", "notes")
		e.intact()
	})
}

// A path is that of one kind of lock.
func TestSemaphoreV2KindMismatch(t *testing.T) {
	suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
		e := &leasedEnv{env: newEnv(t, b), most: 1}
		rw := suite.Got(locks.NewInterProcessReadWriteLock(e.client, e.path)).OK(t)
		plain := suite.Got(locks.NewInterProcessSemaphore(e.client, e.path, 1)).OK(t)
		mutex := suite.Got(locks.NewInterProcessSemaphoreMutex(e.client, e.path)).OK(t)
		v2 := e.open(e.client)
		others := map[string]locks.InterProcessLock{"mutex": e.mutex, "semaphore": plain, "reader": rw.ReadLock(), "writer": rw.WriteLock()}
		for name, other := range others {
			lease := e.acquire(other)
			for _, lock := range []locks.InterProcessLock{v2, mutex} {
				for _, acquire := range []func(context.Context) (*locks.Lease, error){lock.Acquire, lock.TryAcquire} {
					if _, err := acquire(t.Context()); !errors.Is(err, locks.ErrKindMismatch) {
						t.Errorf("with a %s: %v", name, err)
					}
				}
			}
			e.wantNodes(1)
			e.release(lease)
		}
		for _, lock := range []locks.InterProcessLock{v2, mutex} {
			lease := e.acquire(lock)
			for name, other := range others {
				if _, err := other.Acquire(t.Context()); !errors.Is(err, locks.ErrKindMismatch) {
					t.Errorf("the %s beside leases: %v", name, err)
				}
			}
			e.release(lease)
		}
		e.intact()
	})
}

// counting is the semaphore with a maximum that is a node.
type counting struct {
	*leasedEnv
	limit string
	count *shared.Count
}

func onCounting(t *testing.T, most int, test func(e *counting)) {
	onLeased(t, most, func(e *leasedEnv) {
		c := &counting{leasedEnv: e, limit: e.b.Path("limit")}
		c.set(most)
		client, _ := e.b.Client(e.t)
		var err error
		if c.count, err = shared.NewCount(client, c.limit, 0, shared.WithoutCreate()); err == nil {
			err = c.count.Start(e.t.Context())
		}
		if err != nil {
			e.t.Fatal(err)
		}
		defer c.count.Close(e.t.Context())
		if c.semaphore, err = locks.NewInterProcessSemaphoreV2WithCount(e.client, e.path, c.count); err != nil {
			e.t.Fatal(err)
		}
		test(c)
		e.intact()
	})
}

func (c *counting) set(most int) {
	c.t.Helper()
	data := binary.BigEndian.AppendUint32(nil, uint32(most))
	suite.Got(c.observer.Create().OrSetData().CreatingParentsIfNeeded().WithData(data).ForPath(c.t.Context(), c.limit)).OK(c.t)
}

// Raising the maximum lets in who waits; lowering it takes nothing back.
func TestLeaseCount(t *testing.T) {
	onCounting(t, 1, func(c *counting) {
		leases := []*locks.Lease{c.acquire(c.semaphore)}
		for most := 2; most <= 4; most++ {
			waiting := c.start(c.soon(), c.semaphore)
			c.until(1, most)
			c.set(most)
			leases = append(leases, c.granted(waiting))
		}
		c.set(2)
		suite.Eventually(c.t, "the maximum", func() bool { return c.count.Count() == 2 })
		waiting := c.start(c.soon(), c.semaphore)
		c.until(1, 5)
		for i, lease := range leases {
			if err := lease.Err(); err != nil {
				c.t.Errorf("lease %d: %v", i, err)
			}
		}
		for left := 3; left >= 2; left-- {
			c.release(leases[left])
			c.until(1, left+1)
		}
		select {
		case <-waiting.done:
			c.t.Error("let in as the third of two")
		default:
		}
		c.release(leases[1])
		c.release(c.granted(waiting))
		c.release(leases[0])
	})
}

// Who waits for more than there can be any more does not keep everybody waiting.
func TestLeaseCountTooLow(t *testing.T) {
	onCounting(t, 3, func(c *counting) {
		one := c.acquire(c.semaphore)
		failed := c.start(c.soon(), several{c.semaphore, 3})
		c.until(1, 4)
		c.set(2)
		<-failed.done
		suite.WantErr(c.t, failed.err, locks.ErrTooManyLeases)
		c.have(0, 1)
		suite.Got(c.semaphore.AcquireN(c.t.Context(), 3)).Fails(c.t, locks.ErrTooManyLeases)
		c.set(0)
		suite.Eventually(c.t, "the maximum", func() bool { return c.count.Count() == 0 })
		c.release(one)
		suite.Got(c.semaphore.TryAcquire(c.t.Context())).Fails(c.t, locks.ErrNotAcquired)
		waiting := c.start(c.soon(), c.semaphore)
		c.until(1, 1)
		c.set(1)
		c.release(c.granted(waiting))
	})
}

// panickingCount is a user's maximum that panics the second time.
type panickingCount struct{ calls int }

func (a *panickingCount) Count() int {
	if a.calls++; a.calls > 1 {
		panic("no count")
	}
	return 1
}

func (*panickingCount) CountListenable() listen.Listenable[int] { return listen.Listenable[int]{} }

// A panic of the user's leaves no node behind.
func TestLeaseCountPanics(t *testing.T) {
	onLeased(t, 1, func(e *leasedEnv) {
		s := suite.Got(locks.NewInterProcessSemaphoreV2WithCount(e.client, e.path, &panickingCount{})).OK(e.t)
		func() {
			defer func() {
				if recover() == nil {
					e.t.Error("the panic was swallowed")
				}
			}()
			_, _ = s.Acquire(e.t.Context())
		}()
		e.intact()
	})
}

// A semaphore with one lease is a mutex that does not nest.
func TestSemaphoreMutex(t *testing.T) {
	onLeased(t, 1, func(e *leasedEnv) {
		open := func(client *framework.Client) *locks.InterProcessSemaphoreMutex {
			return suite.Got(locks.NewInterProcessSemaphoreMutex(client, e.path)).OK(e.t)
		}
		client, _ := e.b.Client(e.t)
		mine, same, other := open(e.client), open(e.client), open(client)
		holds := func(m *locks.InterProcessSemaphoreMutex, want bool) {
			e.t.Helper()
			if got := m.IsAcquiredInThisProcess(); got != want {
				e.t.Errorf("acquired: %t, want %t", got, want)
			}
		}
		holds(mine, false)
		lease := e.acquire(mine)
		holds(mine, true)
		holds(same, true)
		holds(other, false) // another client
		for name, ctx := range map[string]context.Context{"its context": lease.Context(), "a bound one": lease.Bind(e.t.Context())} {
			for _, m := range []*locks.InterProcessSemaphoreMutex{mine, same} {
				_, err := m.Acquire(ctx)
				_, tryErr := m.TryAcquire(ctx)
				if !errors.Is(err, locks.ErrDeadlock) || !errors.Is(tryErr, locks.ErrDeadlock) {
					e.t.Errorf("with %s: %v, %v", name, err, tryErr)
				}
			}
		}
		suite.Got(mine.TryAcquire(e.t.Context())).Fails(e.t, locks.ErrNotAcquired)
		suite.Got(other.TryAcquire(lease.Context())).Fails(e.t, locks.ErrNotAcquired) // of another client: no deadlock, but busy
		e.have(0, 1)
		waiting := e.wait(e.soon(), other)
		e.release(lease)
		holds(mine, false)
		next := e.granted(waiting)
		holds(other, true)
		e.remove("leases", e.below("leases")[0])
		e.lost(next, locks.LossNodeDeleted)
		holds(other, false)
		suite.WantErr(e.t, next.Release(e.t.Context()), locks.ErrLockLost)
		e.release(e.acquire(mine))
		e.intact()
	})
}
