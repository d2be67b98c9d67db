package locks_test

import (
	"context"
	"encoding/binary"
	"errors"
	"testing"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/framework/listen"
	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/internal/zkclient"
	"github.com/go-curator/curator/recipes/locks"
	"github.com/go-curator/curator/recipes/shared"
)

// leasedEnv is what a test of a semaphore in Java's layout needs.
type leasedEnv struct {
	*env
	most      int
	semaphore *locks.InterProcessSemaphoreV2 // of client
}

func newLeasedEnv(t *testing.T, b *suite.Backend, most int, opts ...framework.Option) *leasedEnv {
	t.Helper()
	e := &leasedEnv{env: newEnv(t, b, opts...), most: most}
	e.semaphore = e.open(e.client)
	e.release(e.acquire(e.semaphore)) // the parents are there
	return e
}

func (e *leasedEnv) open(client *framework.Client, opts ...locks.SemaphoreOption) *locks.InterProcessSemaphoreV2 {
	e.t.Helper()
	return suite.Got(locks.NewInterProcessSemaphoreV2(client, e.path, e.most, opts...)).OK(e.t)
}

// another returns the semaphore on a client of its own.
func (e *leasedEnv) another() *locks.InterProcessSemaphoreV2 {
	e.t.Helper()
	client, _ := e.b.Client(e.t)
	return e.open(client)
}

// full returns all leases, taken by a client of their own.
func (e *leasedEnv) full() *locks.Lease {
	e.t.Helper()
	return suite.Got(e.another().AcquireN(e.t.Context(), e.most)).OK(e.t)
}

// soon is a context for what must succeed, so that it fails rather than hang.
func (e *leasedEnv) soon() context.Context { return bounded(e.t, 20*time.Second) }

// below returns the names of the children of "locks" or of "leases", in order.
func (e *leasedEnv) below(dir string) []string {
	e.t.Helper()
	return e.names("/" + dir)
}

// have fails if there are other than so many nodes, now.
func (e *leasedEnv) have(gates, leases int) {
	e.t.Helper()
	if g, l := e.below("locks"), e.below("leases"); len(g) != gates || len(l) != leases {
		e.t.Fatalf("nodes %q and %q, want %d and %d", g, l, gates, leases)
	}
}

// until waits until there are so many nodes.
func (e *leasedEnv) until(gates, leases int) {
	e.t.Helper()
	suite.Eventually(e.t, "the number of nodes", func() bool {
		return len(e.below("locks")) == gates && len(e.below("leases")) == leases
	})
}

// await is wait for the semaphore of client, and returns when that has seen that it must
// wait: it has looked at the mutex, at the leases with its own, and at them once more, with a watch.
func (e *leasedEnv) await(ctx context.Context) *acquisition {
	e.t.Helper()
	looks := e.network.Requests(jute.OpGetChildren2) + 3
	a := e.wait(ctx, e.semaphore)
	suite.Eventually(e.t, "the last look", func() bool { return e.network.Requests(jute.OpGetChildren2) >= looks })
	suite.Answered(e.t, e.client)
	return a
}

// wait starts an Acquire and waits until its lease is one too many.
func (e *leasedEnv) wait(ctx context.Context, s locks.InterProcessLock) *acquisition {
	e.t.Helper()
	a := e.start(ctx, s)
	e.until(1, e.most+1)
	return a
}

// remove deletes a node as an operator would.
func (e *leasedEnv) remove(dir, name string) {
	e.t.Helper()
	e.delete(e.path + "/" + dir + "/" + name)
}

// other waits until the last of the leases is another than old.
func (e *leasedEnv) other(old string) {
	e.t.Helper()
	suite.Eventually(e.t, "another node", func() bool {
		names := e.below("leases")
		return len(names) == e.most+1 && names[e.most] != old
	})
}

// intact fails if something is left when nobody wants a lease any more: a node, a watch, or
// fewer leases than there were.
func (e *leasedEnv) intact() {
	e.t.Helper()
	e.until(0, 0)
	if conn, err := zkclient.Of(e.client).Conn(); err == nil {
		suite.Eventually(e.t, "no watch to be left", func() bool { return conn.Watches() == 0 })
	}
	s := e.another()
	var leases []*locks.Lease
	for range e.most {
		lease, err := s.TryAcquire(e.t.Context())
		if err != nil {
			e.t.Fatalf("lease %d of %d: %v", len(leases)+1, e.most, err)
		}
		leases = append(leases, lease)
	}
	suite.Got(s.TryAcquire(e.t.Context())).Fails(e.t, locks.ErrNotAcquired)
	e.have(0, e.most)
	for _, lease := range leases {
		e.release(lease)
	}
	e.have(0, 0)
}

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
		if waiting.over() {
			c.t.Error("let in as the third of two")
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
