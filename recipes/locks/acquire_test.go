package locks_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-curator/curator/framework"
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
		if !f.kind.tries() {
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
		ctx := bounded(t, 200*time.Millisecond)
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

// What an acquisition meets of its own client's.

// The nodes of AcquireN are made and the reply is lost, and the server puts off their removal:
// nobody else is there, and that is not to be taken for a semaphore that is busy.
func TestAcquireNBehindItself(t *testing.T) {
	onVirtual(t, func(t *testing.T, s *curatortest.Server) {
		semaphore := suite.Got(locks.NewInterProcessSemaphore(s.Client(t), "/lock", 2)).OK(t)
		giveBack(t, take(t, semaphore)) // the parents are there
		for _, throttle := range []int{0, 3, 1 << 20} {
			lost := s.Inject(curatortest.Rule{Op: "multi", Do: curatortest.CutAfter()})
			if throttle > 0 {
				s.Inject(curatortest.Rule{Op: "delete", Times: throttle, Do: curatortest.Fail(throttled{})})
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			lease, err := semaphore.AcquireN(ctx, 2)
			cancel()
			if !lost() {
				t.Fatal("the reply was not lost")
			}
			if throttle < 1<<20 {
				if names := s.Children("/lock"); err != nil || len(names) != 2 {
					t.Fatalf("%d throttled: nodes %q, %v", throttle, names, err)
				}
				giveBack(t, lease)
				continue
			}
			if err == nil || errors.Is(err, locks.ErrNotAcquired) {
				t.Errorf("%v does not say why the nodes were not made", err)
			}
		}
	})
}

// The node of a TryAcquire is made, and the server puts off the look at the queue, and the removal
// of nodes: the lock is free all the same.
func TestTryAcquireBehindItself(t *testing.T) {
	onVirtual(t, func(t *testing.T, s *curatortest.Server) {
		mutex := mutexOf(t, s.Client(t))
		giveBack(t, take(t, mutex)) // the parents are there
		hit := s.Inject(curatortest.Rule{Op: "getChildren", Do: curatortest.Fail(throttled{})})
		s.Inject(curatortest.Rule{Op: "delete", Times: 8, Do: curatortest.Fail(throttled{})})
		lease, err := mutex.TryAcquire(t.Context())
		if err != nil || !hit() {
			t.Fatalf("%v, put off: %t", err, hit())
		}
		wantQueue(t, s, 1)
		giveBack(t, lease)
	})
}

// An operator deletes one of the nodes of AcquireN while it waits, and the server puts off the
// removal of the other one: that is not somebody ahead of those that replace them.
func TestAcquireNStartsOverBehindItself(t *testing.T) {
	onVirtual(t, func(t *testing.T, s *curatortest.Server) {
		open := func() *locks.InterProcessSemaphore {
			return suite.Got(locks.NewInterProcessSemaphore(s.Client(t), "/lock", 2)).OK(t)
		}
		other := take(t, open())
		mine := open()
		done := taking(t, several{mine, 2})
		synctest.Wait()
		nodes, err := mine.ParticipantNodes(t.Context())
		if err != nil || len(nodes) != 3 {
			t.Fatalf("participants %q, %v", nodes, err)
		}
		operator := s.Client(t)
		s.Inject(curatortest.Rule{Op: "delete", Path: nodes[2], Times: 5, Do: curatortest.Fail(throttled{})})
		suite.OK(t, operator.Delete().ForPath(t.Context(), nodes[1]))
		for _, name := range untilOthers(t, s, nodes) {
			if "/lock/"+name == nodes[2] {
				t.Error("the new nodes are made before the old one has gone")
			}
		}
		giveBack(t, other)
		giveBack(t, <-done)
	})
}

// untilOthers waits until there are other nodes than these, and returns all.
func untilOthers(t *testing.T, s *curatortest.Server, nodes []string) (names []string) {
	t.Helper()
	suite.Eventually(t, "other nodes", func() bool {
		names = s.Children("/lock")
		for _, name := range names {
			if !strings.Contains(strings.Join(nodes, " "), name) {
				return true
			}
		}
		return false
	})
	return names
}

// interruptedContext is a context in which something happens just when a lease is looked for.
type interruptedContext struct {
	context.Context
	lease *locks.Lease
	left  int // how many looks before
	then  func()
}

func (c *interruptedContext) Value(key any) any {
	value := c.Context.Value(key)
	if value == any(c.lease) {
		if c.left--; c.left == 0 {
			c.then()
		}
	}
	return value
}

// A lease that a context carries ends while another one is looked for: a holder of the other side
// does not queue behind itself.
func TestSideIsReleasedMeanwhile(t *testing.T) {
	virtually(t, func(t *testing.T, e *env) {
		rw := e.rw(e.client, locks.WithMaxWait(time.Second))
		for look := 1; look <= 3; look++ {
			both := func() (write, read *locks.Lease, ctx context.Context) {
				write = e.acquire(rw.WriteLock())
				read = e.acquireFrom(write.Context(), rw.ReadLock())
				return write, read, context.WithoutCancel(read.Bind(write.Context()))
			}
			write, read, ctx := both()
			again, err := rw.ReadLock().Acquire(&interruptedContext{ctx, read, look, func() { e.release(read) }})
			if err != nil {
				t.Fatalf("a reader beside its own writer, at look %d: %v", look, err)
			}
			e.release(again)
			e.release(write)
			suite.OK(t, read.Release(t.Context()))
			e.wantNodes(0)

			write, read, ctx = both()
			if again, err = rw.WriteLock().Acquire(&interruptedContext{ctx, write, look, func() { e.release(write) }}); err == nil {
				e.release(again) // nested before that
			} else {
				suite.WantErr(t, err, locks.ErrDeadlock)
			}
			_ = write.Release(t.Context())
			e.release(read)
			e.wantNodes(0)
		}
	})
}

// A write lease that is lost while a read lease is asked for with its context is the reason
// for which there is none.
func TestWriterIsLostMeanwhile(t *testing.T) {
	virtually(t, func(t *testing.T, e *env) {
		rw := e.rw(e.client)
		for look := 1; look <= 2; look++ {
			write := e.acquire(rw.WriteLock())
			lost := false
			ctx := &interruptedContext{write.Context(), write, look, func() {
				lost = true
				e.network.Cut()
				<-write.Context().Done()
			}}
			read, err := rw.ReadLock().Acquire(ctx)
			switch {
			case lost:
				suite.WantErr(t, err, locks.ErrLockLost)
			case err != nil:
				t.Fatal(err)
			default:
				e.release(read)
			}
			e.release(write)
			e.wantNodes(0)
		}
	})
}

// The session ends while a lease is waited for: nobody has lost a lock, and nothing says so.
func TestNothingIsLostWhileWaiting(t *testing.T) {
	for name, open := range map[string]opener{"one": openV2(2), "two": openTwo(openV2(2))} {
		runVirtual(t, name, func(t *testing.T, s *curatortest.Server) {
			var log suite.Log
			client := s.Client(t, framework.WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
			other := openV2(2)(t, s.Client(t))
			held := []*locks.Lease{take(t, other)}
			if name == "one" {
				held = append(held, take(t, other))
			}
			done := taking(t, open(t, client))
			synctest.Wait()
			s.ExpireSession(client.SessionID())
			time.Sleep(10 * time.Second)
			for _, lease := range held {
				giveBack(t, lease)
			}
			lease := <-done
			synctest.Wait()
			if strings.Contains(log.String(), "lock lost") {
				t.Errorf("a lock is lost that nobody had:\n%s", &log)
			}
			s.ExpireSession(client.SessionID())
			<-lease.Context().Done()
			synctest.Wait()
			if !strings.Contains(log.String(), "lock lost") {
				t.Errorf("the loss of a lease is not told:\n%s", &log)
			}
			suite.WantErr(t, lease.Release(t.Context()), locks.ErrLockLost)
		})
	}
}
