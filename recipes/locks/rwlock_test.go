package locks_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/recipes/locks"
	"github.com/go-curator/curator/tools/curatortest"
)

// onRW runs test on some backends, with the lock on the client that has faults.
func onRW(t *testing.T, on suite.Backends, test func(t *testing.T, e *env, rw *locks.InterProcessReadWriteLock), opts ...framework.Option) {
	onBackends(t, on, func(t *testing.T, e *env) {
		test(t, e, e.rw(e.client))
	}, opts...)
}

func (e *env) otherRW() *locks.InterProcessReadWriteLock {
	e.t.Helper()
	return e.rw(e.otherClient())
}

// Readers are in together, a writer alone.
func TestReadersShareWritersExclude(t *testing.T) {
	onRW(t, withRealServer, func(t *testing.T, e *env, rw *locks.InterProcessReadWriteLock) {
		var readers []*locks.Lease
		for range 3 {
			readers = append(readers, e.acquire(e.otherRW().ReadLock()))
		}
		readers = append(readers, e.acquire(rw.ReadLock()), e.acquire(rw.ReadLock())) // one client, two leases
		suite.Got(rw.WriteLock().TryAcquire(t.Context())).Fails(t, locks.ErrNotAcquired)
		e.wantNodes(5)
		for _, reader := range readers {
			e.release(reader)
		}
		write := suite.Got(rw.WriteLock().TryAcquire(t.Context())).OK(t)
		for _, other := range []locks.InterProcessLock{rw.WriteLock(), rw.ReadLock(), e.otherRW().ReadLock()} {
			suite.Got(other.TryAcquire(t.Context())).Fails(t, locks.ErrNotAcquired)
		}
		e.wantNodes(1)
		e.release(write)
		e.wantNodes(0)
	})
}

// Readers and writers stand in one line: a reader behind a writer waits, although only
// readers are in.
func TestReadersAndWritersQueue(t *testing.T) {
	onRW(t, withRealServer, func(t *testing.T, e *env, rw *locks.InterProcessReadWriteLock) {
		first := e.acquire(rw.ReadLock())
		w1 := e.queue(t.Context(), e.otherRW().WriteLock(), 2)
		r1 := e.queue(t.Context(), e.otherRW().ReadLock(), 3)
		r2 := e.queue(t.Context(), e.otherRW().ReadLock(), 4)
		w2 := e.queue(t.Context(), e.otherRW().WriteLock(), 5)
		r3 := e.queue(t.Context(), e.otherRW().ReadLock(), 6)
		e.waiting(w1, r1, r2, w2, r3)
		suite.Got(rw.ReadLock().TryAcquire(t.Context())).Fails(t, locks.ErrNotAcquired)

		e.release(first)
		write := e.granted(w1)
		e.waiting(r1, r2, w2, r3)
		e.release(write)
		a, b := e.granted(r1), e.granted(r2)
		e.waiting(w2, r3)
		e.release(a)
		e.waiting(w2, r3)
		e.release(b)
		write = e.granted(w2)
		e.waiting(r3)
		e.release(write)
		e.release(e.granted(r3))
		e.wantNodes(0)
	})
}

// A reader waits for the nearest writer: one further ahead may go without its looking
// again.
func TestReaderWatchesTheNearestWriter(t *testing.T) {
	onRW(t, suite.InVirtualTime, func(t *testing.T, e *env, rw *locks.InterProcessReadWriteLock) {
		first := e.acquire(e.otherRW().WriteLock())
		second := e.queue(t.Context(), e.otherRW().WriteLock(), 2)
		reader := e.queue(t.Context(), rw.ReadLock(), 3)
		suite.Eventually(t, "the reader's watches", func() bool { return e.network.Requests(jute.OpSetWatches) == 1 })
		looks := e.network.Requests(jute.OpGetChildren2)
		e.release(first)
		write := e.granted(second)
		if n := e.network.Requests(jute.OpGetChildren2); n != looks {
			t.Errorf("the reader has looked %d times again", n-looks)
		}
		e.waiting(reader)
		e.release(write)
		e.release(e.granted(reader))
	})
}

// When the nearest writer gives up, the reader waits for the next one ahead.
func TestNearestWriterGivesUp(t *testing.T) {
	onRW(t, suite.InVirtualTime, func(t *testing.T, e *env, rw *locks.InterProcessReadWriteLock) {
		first := e.acquire(e.otherRW().WriteLock())
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		second := e.queue(ctx, e.otherRW().WriteLock(), 2)
		reader := e.queue(t.Context(), rw.ReadLock(), 3)
		suite.Eventually(t, "the reader's watches", func() bool { return e.network.Requests(jute.OpSetWatches) == 1 })
		cancel()
		<-second.done
		suite.Eventually(t, "a watch on the first writer", func() bool { return e.network.Requests(jute.OpGetData) == 1 })
		e.waiting(reader)
		e.release(first)
		e.release(e.granted(reader))
	})
}

// A reader cannot become a writer: it would wait for itself. It is told at once.
func TestUpgradeIsRefused(t *testing.T) {
	onRW(t, suite.InVirtualTime, func(t *testing.T, e *env, rw *locks.InterProcessReadWriteLock) {
		read := e.acquire(rw.ReadLock())
		creates := e.network.Requests(jute.OpCreate2)
		for _, acquire := range []func(context.Context) (*locks.Lease, error){rw.WriteLock().Acquire, rw.WriteLock().TryAcquire, e.rw(e.client).WriteLock().Acquire} {
			_, err := acquire(read.Context())
			suite.WantErr(t, err, locks.ErrDeadlock)
			if errors.Is(err, locks.ErrNotAcquired) {
				t.Errorf("%v says that the lock is busy", err)
			}
		}
		if n := e.network.Requests(jute.OpCreate2); n != creates {
			t.Errorf("%d creates for what is refused", n-creates)
		}
		if read.Err() != nil {
			t.Error(read.Err())
		}
		// Of another client it is an ordinary contender.
		suite.Got(e.otherRW().WriteLock().TryAcquire(read.Context())).Fails(t, locks.ErrNotAcquired)
		e.release(read)
		e.wantNodes(0)
	})
}

// Nested readers are shared, as all readers are; nested writers exclude each other.
func TestNestedReadersAndWriters(t *testing.T) {
	onRW(t, suite.InVirtualTime, func(t *testing.T, e *env, rw *locks.InterProcessReadWriteLock) {
		read := e.acquire(rw.ReadLock())
		a, b := e.acquireFrom(read.Context(), rw.ReadLock()), e.acquireFrom(read.Context(), rw.ReadLock())
		if a.Token() != read.Token() || b.Token() != read.Token() || a.Path() != read.Path() {
			t.Error("a nested reader has another node")
		}
		e.wantNodes(1)
		e.release(read)
		e.release(b)
		e.wantNodes(1)
		e.release(e.acquireFrom(a.Context(), rw.ReadLock()))
		e.release(a)
		e.wantNodes(0)

		write := e.acquire(rw.WriteLock())
		inner := e.acquireFrom(write.Context(), rw.WriteLock())
		suite.Got(rw.WriteLock().TryAcquire(write.Context())).Fails(t, locks.ErrNotAcquired)
		e.release(inner)
		e.release(write)
		e.wantNodes(0)
	})
}

func TestReadWriteOwnership(t *testing.T) {
	onRW(t, suite.InVirtualTime, func(t *testing.T, e *env, rw *locks.InterProcessReadWriteLock) {
		check := func(when string, read, write bool) {
			t.Helper()
			same, other := e.rw(e.client), e.otherRW()
			if same.ReadLock().IsAcquiredInThisProcess() != read || same.WriteLock().IsAcquiredInThisProcess() != write {
				t.Errorf("%s: acquired in this process for reading %t, for writing %t", when, !read, !write)
			}
			if other.ReadLock().IsAcquiredInThisProcess() || other.WriteLock().IsAcquiredInThisProcess() {
				t.Errorf("%s: acquired by another client", when)
			}
		}
		check("at first", false, false)
		write := e.acquire(rw.WriteLock())
		check("held by a writer", false, true)
		if !rw.WriteLock().IsOwnedBy(write.Context()) || rw.ReadLock().IsOwnedBy(write.Context()) {
			t.Error("a writer's context owns the write lock alone")
		}
		read := e.acquireFrom(write.Context(), rw.ReadLock())
		check("held by both", true, true)
		if !rw.ReadLock().IsOwnedBy(read.Context()) || !rw.WriteLock().IsOwnedBy(read.Bind(write.Context())) {
			t.Error("the reader's context owns the read lock, one bound to both owns both")
		}
		e.release(write)
		check("after a downgrade", true, false)
		e.release(read)
		check("at last", false, false)
	})
}

// A lock's path may look like the name of a node of it.
func TestReadWriteParticipantsOfAnOddPath(t *testing.T) {
	onVirtual(t, func(t *testing.T, s *curatortest.Server) {
		rw := suite.Got(locks.NewInterProcessReadWriteLock(s.Client(t), "/lock__WRIT____READ__")).OK(t)
		read := take(t, rw.ReadLock())
		if nodes, err := rw.WriteLock().ParticipantNodes(t.Context()); err != nil || len(nodes) > 0 {
			t.Errorf("writers %q, %v", nodes, err)
		}
		giveBack(t, read)
	})
}

// Each side lists its own nodes, in order; both find none where no lock was ever taken.
func TestReadWriteParticipants(t *testing.T) {
	onRW(t, suite.InVirtualTime, func(t *testing.T, e *env, rw *locks.InterProcessReadWriteLock) {
		want := func(read, write []string) {
			t.Helper()
			for want, list := range map[*[]string]func(context.Context) ([]string, error){&read: rw.ReadLock().ParticipantNodes, &write: rw.WriteLock().ParticipantNodes} {
				if nodes, err := list(t.Context()); err != nil || !slices.Equal(nodes, *want) {
					t.Errorf("participants %q, %v, want %q", nodes, err, *want)
				}
			}
		}
		want(nil, nil)
		first := e.acquire(rw.ReadLock())
		second := e.acquire(e.otherRW().ReadLock())
		writer := e.queue(t.Context(), e.otherRW().WriteLock(), 3)
		waiter := e.queue(t.Context(), e.otherRW().ReadLock(), 4)
		names := e.nodes()
		node := func(i int) string { return e.path + "/" + names[i] }
		want([]string{first.Path(), second.Path(), node(3)}, []string{node(2)})
		e.release(first)
		e.release(second)
		e.release(e.granted(writer))
		e.release(e.granted(waiter))
	})
}

// Clients read and write at random: never a reader beside a writer, nor two writers.
func TestReadWriteExclusion(t *testing.T) {
	const clients, rounds = 4, 15
	onRW(t, withRealServer, func(t *testing.T, e *env, rw *locks.InterProcessReadWriteLock) {
		var readers, writers, first atomic.Int32
		var wg sync.WaitGroup
		writer := e.acquire(rw.WriteLock()) // behind which all queue as readers
		together := make(chan struct{})
		ctx := bounded(t, time.Minute)
		for i := range clients {
			rw := e.otherRW()
			wg.Go(func() {
				for round := range rounds {
					lock, inside := locks.InterProcessLock(rw.ReadLock()), &readers
					if round%3 == 1+i%2 {
						lock, inside = rw.WriteLock(), &writers
					}
					err := locks.Do(ctx, lock, func(ctx context.Context, _ *locks.Lease) error {
						inside.Add(1)
						defer inside.Add(-1)
						r, w := readers.Load(), writers.Load()
						if w > 1 || w == 1 && r > 0 {
							t.Errorf("%d readers and %d writers are in", r, w)
						}
						if round == 0 && first.Add(1) == clients {
							close(together)
						}
						select {
						case <-together:
						case <-ctx.Done():
							t.Error("the readers did not all come in together")
						}
						_, err := rw.ReadLock().ParticipantNodes(ctx) // gives the others time
						return err
					})
					if err != nil {
						t.Error(err)
					}
				}
			})
		}
		e.untilNodes(1 + clients)
		e.release(writer)
		wg.Wait()
		e.wantNodes(0)
	})
}

// The data that was given is that of both sides' nodes, also after a downgrade.
func TestReadWriteNodeData(t *testing.T) {
	virtually(t, func(t *testing.T, e *env) {
		data := []byte("mine")
		rw := e.rw(e.client, locks.WithNodeData(data))
		data[0] = '?' // it was copied
		write := e.acquire(rw.WriteLock())
		read := e.acquireFrom(write.Context(), rw.ReadLock())
		for name, lease := range map[string]*locks.Lease{"writer": write, "reader": read} {
			if data, err := e.observer.GetData().ForPath(t.Context(), lease.Path()); err != nil || string(data) != "mine" {
				t.Errorf("data %q of the %s, %v", data, name, err)
			}
		}
		e.release(write)
		e.release(read)
	})
}
