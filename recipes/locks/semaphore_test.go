package locks_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/recipes/locks"
	"github.com/go-curator/curator/tools/curatortest"
)

// A waiter gets in when any of the leases ahead goes, whichever it is.
func TestSemaphoreAnyLeaseGoes(t *testing.T) {
	const n = 3
	for goes := range n {
		t.Run([]string{"first", "second", "third"}[goes], func(t *testing.T) {
			onBackends(t, withRealServer, func(t *testing.T, e *env) {
				var leases []*locks.Lease
				for range n {
					leases = append(leases, e.acquire(e.semaphore(e.otherClient(), n)))
				}
				semaphore := e.semaphore(e.client, n)
				waiter := e.queue(t.Context(), semaphore, n+1)
				next := e.queue(t.Context(), e.semaphore(e.otherClient(), n), n+2)
				order, err := semaphore.ParticipantNodes(t.Context())
				if err != nil || len(order) != n+2 || order[0] != leases[0].Path() {
					t.Fatalf("participants %q, %v", order, err)
				}
				e.release(leases[goes])
				lease := e.granted(waiter)
				if lease.Path() != order[n] {
					t.Errorf("let in %q, want %q", lease.Path(), order[n])
				}
				e.waiting(next)
				suite.Got(semaphore.TryAcquire(t.Context())).Fails(t, locks.ErrNotAcquired)
				e.release(lease)
				e.release(e.granted(next))
				for _, lease := range slices.Delete(leases, goes, goes+1) {
					e.release(lease)
				}
				e.wantNodes(0)
			})
		})
	}
}

// Waiters get in in the order in which they came, also when those ahead go in another.
func TestSemaphoreOrder(t *testing.T) {
	virtually(t, func(t *testing.T, e *env) {
		semaphore := e.semaphore(e.client, 2)
		leases := []*locks.Lease{e.acquire(semaphore), e.acquire(semaphore)}
		var waiters []*acquisition
		for i := range 4 {
			waiters = append(waiters, e.queue(t.Context(), e.semaphore(e.otherClient(), 2), i+3))
		}
		for i, w := range waiters {
			e.waiting(waiters[i:]...)
			goes := i % 2
			e.release(leases[goes])
			leases[goes] = e.granted(w)
		}
		e.release(leases[0])
		e.release(leases[1])
		e.wantNodes(0)
	})
}

// Leases do not nest: the same context takes one after the other.
func TestSemaphoreIsFlat(t *testing.T) {
	virtually(t, func(t *testing.T, e *env) {
		semaphore := e.semaphore(e.client, 2)
		first := e.acquire(semaphore)
		second := e.acquireFrom(first.Context(), semaphore)
		if first.Path() == second.Path() || second.Token() <= first.Token() {
			t.Errorf("leases on %q and %q, tokens %d and %d", first.Path(), second.Path(), first.Token(), second.Token())
		}
		e.wantNodes(2)
		suite.Got(semaphore.TryAcquire(second.Context())).Fails(t, locks.ErrNotAcquired)
		suite.Got(e.semaphore(e.client, 2, locks.WithMaxWait(20*time.Millisecond)).Acquire(second.Context())).Fails(t, locks.ErrNotAcquired)
		e.wantNodes(2)
		// A lease is anybody's to give back, in any order and from any goroutine.
		done := make(chan error)
		go func() { done <- first.Release(context.WithoutCancel(t.Context())) }()
		suite.OK(t, <-done)
		if second.Err() != nil {
			t.Error(second.Err())
		}
		e.release(second)
		e.wantNodes(0)
	})
}

// Kinds of locks that would not exclude each other do not share a path.
func TestKindMismatch(t *testing.T) {
	virtually(t, func(t *testing.T, e *env) {
		other := e.rw(e.otherClient())
		refused := func(lock locks.InterProcessLock, held int) {
			t.Helper()
			for _, acquire := range []func(context.Context) (*locks.Lease, error){lock.Acquire, lock.TryAcquire} {
				suite.Got(acquire(t.Context())).Fails(t, locks.ErrKindMismatch)
				e.wantNodes(held)
			}
		}
		for _, holder := range []locks.InterProcessLock{other.ReadLock(), other.WriteLock()} {
			lease := e.acquire(holder)
			refused(e.mutex, 1)
			refused(e.semaphore(e.client, 2), 1)
			e.release(lease)
		}
		for _, holder := range []locks.InterProcessLock{e.lock(e.otherClient()), e.semaphore(e.otherClient(), 2)} {
			lease := e.acquire(holder)
			refused(e.rw(e.client).ReadLock(), 1)
			refused(e.rw(e.client).WriteLock(), 1)
			e.release(lease)
		}
		for _, child := range []string{"leases", "locks"} { // those of Java's second semaphore
			suite.Got(e.observer.Create().CreatingParentsIfNeeded().ForPath(t.Context(), e.path+"/"+child)).OK(t)
			for _, m := range []maker{aMutex, aReadLock, aWriteLock, aSemaphore} {
				refused(m(e, e.client), 1)
			}
			e.delete(e.path + "/" + child)
		}
		suite.Got(e.observer.Create().CreatingParentsIfNeeded().ForPath(t.Context(), e.path+"/notes")).OK(t)
		for _, m := range []maker{aMutex, aReadLock, aWriteLock, aSemaphore} { // other children do not matter
			e.release(e.acquire(m(e, e.client)))
		}
		e.wantNodes(1)
	})
}

// A path that changes its kind under a waiter ends the wait when it looks at the queue again,
// as it does when somebody writes to its node. The kinds in Java's layout do not see it: their
// nodes are further down.
func TestKindMismatchWhileWaiting(t *testing.T) {
	plain := slices.DeleteFunc(slices.Clone(waiters), func(k kind) bool { return k.v2 })
	eachKindVirtually(t, plain, func(t *testing.T, f *fixture) {
		a := f.wait(t.Context())
		dir := f.kind.dirs()[f.kind.contended]
		nodes := f.below(dir)
		suite.Got(f.observer.Create().ForPath(t.Context(), f.path+dir+"/leases")).OK(t)
		suite.Eventually(t, "the end of the wait", func() bool {
			_, err := f.observer.SetData().ForPath(t.Context(), nodes[len(nodes)-1], nil)
			if err != nil && !errors.Is(err, framework.ErrNoNode) {
				t.Fatal(err)
			}
			return a.over()
		})
		f.releaseHolders()
		suite.WantErr(t, a.err, locks.ErrKindMismatch)
		if left := f.below(dir); len(left) != 1 {
			t.Errorf("%q are left", left)
		}
		f.delete(f.path + dir + "/leases")
		f.wantNone()
	})
}

// semaphores are the kinds of them, with n leases each.
var semaphores = map[string]func(e *env, n int) counted{
	"plain": func(e *env, n int) counted { return e.semaphore(e.otherClient(), n) },
	"v2": func(e *env, n int) counted {
		return e.v2(locks.NewInterProcessSemaphoreV2(e.otherClient(), e.path, n))
	},
}

// counted is what the semaphores have in common.
type counted interface {
	locks.InterProcessLock
	AcquireN(ctx context.Context, n int) (*locks.Lease, error)
}

func onSemaphores(t *testing.T, test func(e *env, semaphore func(n int) counted)) {
	for name, open := range semaphores {
		t.Run(name, func(t *testing.T) {
			onBackends(t, withRealServer, func(t *testing.T, e *env) {
				test(e, func(n int) counted { return open(e, n) })
			})
		})
	}
}

// TestSemaphoreLimit has as many holders as leases, and then more workers, each with a client of its own.
func TestSemaphoreLimit(t *testing.T) {
	onSemaphores(t, func(e *env, semaphore func(n int) counted) {
		const most = 3
		var leases []*locks.Lease
		for range most { // all at once
			leases = append(leases, e.acquire(semaphore(most)))
		}
		suite.Got(semaphore(most).TryAcquire(e.t.Context())).Fails(e.t, locks.ErrNotAcquired)
		for _, lease := range leases {
			suite.OK(e.t, lease.Err())
			e.release(lease)
		}

		var mu sync.Mutex
		in := 0
		var running sync.WaitGroup
		for i := range 6 {
			s := semaphore(most)
			running.Go(func() {
				for round := range 4 {
					n := 1 + (i+round)%most
					lease, err := s.AcquireN(e.t.Context(), n)
					if err != nil {
						e.t.Error(err)
						return
					}
					mu.Lock()
					in += n
					if in > most {
						e.t.Errorf("%d leases are held", in)
					}
					mu.Unlock()
					<-time.After(time.Millisecond)
					mu.Lock()
					in -= n
					mu.Unlock()
					if len(lease.Parts()) != n || lease.Token() != -1 {
						e.t.Errorf("%d parts, token %d", len(lease.Parts()), lease.Token())
					}
					if err := lease.Release(e.t.Context()); err != nil {
						e.t.Error(err)
					}
				}
			})
		}
		running.Wait()
	})
}

// TestAcquireN takes several leases, all or none.
func TestAcquireN(t *testing.T) {
	t.Parallel()
	onSemaphores(t, func(e *env, semaphore func(n int) counted) {
		s, other := semaphore(3), semaphore(3)
		if _, err := s.AcquireN(e.t.Context(), 4); !errors.Is(err, locks.ErrTooManyLeases) {
			e.t.Errorf("4 of 3: %v", err)
		}
		if _, err := s.AcquireN(e.t.Context(), 0); err == nil {
			e.t.Error("0 leases were acquired")
		}
		two := suite.Got(s.AcquireN(e.t.Context(), 2)).OK(e.t)
		wait := 3 * time.Second // within which it sees the queue
		if e.b.Virtual {
			wait = 300 * time.Millisecond
		}
		ctx := bounded(e.t, wait)
		if _, err := other.AcquireN(ctx, 2); !errors.Is(err, locks.ErrNotAcquired) || !errors.Is(err, context.DeadlineExceeded) {
			e.t.Errorf("2 more of 3: %v", err)
		}
		one, err := other.TryAcquire(e.t.Context())
		suite.Eventually(e.t, "the place to be given up", func() bool {
			if err != nil {
				one, err = other.TryAcquire(e.t.Context())
			}
			return err == nil
		})
		if _, err := other.TryAcquire(e.t.Context()); !errors.Is(err, locks.ErrNotAcquired) {
			e.t.Errorf("a fourth: %v", err)
		}
		waiting := e.start(e.t.Context(), other)
		suite.OK(e.t, two.Parts()[0].Release(e.t.Context())) // one of them alone
		third := e.granted(waiting)
		for _, lease := range []*locks.Lease{third, one, two} {
			e.release(lease)
		}
		if two.Err() == nil || two.Context().Err() == nil {
			e.t.Error("a released lease is believed in")
		}
	})
}

// requests sums up the requests of a text of traffic.take; writes and events are none.
func requests(traffic string) (n int) {
	for text := range strings.FieldsSeq(traffic) {
		name, count, _ := strings.Cut(text, "=")
		var times int
		if _, err := fmt.Sscan(count, &times); err == nil && name != "writes" && name != "events" {
			n += times
		}
	}
	return n
}

// javaSemaphores are those in Java's layout, with two leases but for the mutex.
var javaSemaphores = map[string]opener{"semaphore": openV2(2), "two of a semaphore": openTwo(openV2(2)), "mutex": openSemaphoreMutex}

// A semaphore in Java's layout lets in with the plain protocol, too, be it free at once or after
// others have released it, and does not ask the server over and over.
func TestSemaphoreV2WithPlainProtocol(t *testing.T) {
	for name, open := range javaSemaphores {
		for _, busy := range []bool{false, true} {
			runVirtual(t, fmt.Sprintf("%s, busy: %t", name, busy), func(t *testing.T, s *curatortest.Server) {
				// Each request takes its time: else the requests of one who does not wait
				// would keep time from passing.
				s.Inject(curatortest.Rule{Do: curatortest.Delay(time.Millisecond), Times: 1 << 20})
				var others []*locks.Lease
				for busy && (len(others) == 0 || name == "semaphore" && len(others) < 2) {
					others = append(others, take(t, open(t, s.Client(t))))
				}
				client, traffic := suite.Tapped(t, s)
				ctx := bounded(t, 4*time.Second)
				q := acquiring(ctx, open(t, client, locks.WithPlainProtocol()))
				time.Sleep(2 * time.Second)
				for _, lease := range others {
					giveBack(t, lease)
				}
				<-q.done
				if q.err != nil {
					t.Errorf("the semaphore is free, but: %v", q.err)
				}
				if n := requests(traffic.Take()); n > 50 {
					t.Errorf("%d requests for one acquisition", n)
				}
				giveBack(t, q.lease)
			})
		}
	}
}

// One lease of many is released: no more contenders than there are leases wake up for that, list
// the queue, and one of them is let in.
func TestSemaphoreHasNoHerd(t *testing.T) {
	t.Parallel() // beside tests that wait in real time
	const waiters = 12
	for _, maxLeases := range []int{1, 2, 5, 10} {
		runVirtual(t, fmt.Sprint(maxLeases), func(t *testing.T, s *curatortest.Server) {
			var queue []*queued
			for range maxLeases + waiters {
				queue = append(queue, enqueue(t, s, opened(t, openSemaphore(maxLeases))))
			}
			most := 0
			for i := range waiters {
				if last := i + maxLeases - 1; i%2 == 1 { // the last of those who hold, not the first
					queue[i], queue[last] = queue[last], queue[i]
				}
				queue[i].release()
				time.Sleep(time.Second)
				lists, woken := listed(queue)
				most = max(most, lists)
				if woken > maxLeases || lists > maxLeases {
					t.Errorf("release %d of a semaphore with %d leases: %d of the others woke up and made %d lists", i, maxLeases, woken, lists)
				}
				if !queue[i+maxLeases].in() {
					t.Fatalf("release %d: the next one is not in", i)
				}
			}
			t.Logf("%d leases: at most %d lists for one release", maxLeases, most)
			for _, q := range queue[waiters:] {
				q.release()
			}
			synctest.Wait()
			wantNothingLeft(t, s)
		})
	}
}

// listed counts the lists that all made since the last call, and who made any.
func listed(queue []*queued) (lists, woken int) {
	for _, q := range queue {
		for text := range strings.FieldsSeq(q.traffic.Take()) {
			var n int
			if _, err := fmt.Sscanf(text, "getChildren2=%d", &n); err == nil {
				lists += n
				woken++
			}
		}
	}
	return lists, woken
}
