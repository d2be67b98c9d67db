package locks_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/recipes/locks"
	"github.com/go-curator/curator/tools/curatortest"
)

// queued is a contender of a lock in virtual time, on a client of its own.
type queued struct {
	t       *testing.T
	client  *framework.Client
	traffic *suite.Traffic
	lease   *locks.Lease
	err     error
	cancel  context.CancelFunc
	done    chan struct{}
}

// enqueue acquires the lock that make returns, and returns when it holds it or waits.
func enqueue(t *testing.T, s *curatortest.Server, lockOf func(c *framework.Client) locks.InterProcessLock) *queued {
	t.Helper()
	q := &queued{t: t, done: make(chan struct{})}
	q.client, q.traffic = suite.Tapped(t, s)
	lock := lockOf(q.client)
	ctx, cancel := context.WithCancel(t.Context())
	q.cancel = cancel
	go func() {
		defer close(q.done)
		q.lease, q.err = lock.Acquire(ctx)
	}()
	synctest.Wait()
	q.traffic.Take()
	return q
}

// in tells whether the contender was let in.
func (q *queued) in() bool {
	q.t.Helper()
	synctest.Wait()
	select {
	case <-q.done:
		if q.err != nil {
			q.t.Fatal(q.err)
		}
		return q.lease.Err() == nil
	default:
		return false
	}
}

func (q *queued) release() {
	q.t.Helper()
	if !q.in() {
		q.t.Fatal("not let in")
	}
	giveBack(q.t, q.lease)
	synctest.Wait()
}

func virtualMutex(t *testing.T, opts ...locks.MutexOption) func(c *framework.Client) locks.InterProcessLock {
	return func(c *framework.Client) locks.InterProcessLock {
		m, err := locks.NewInterProcessMutex(c, "/lock", opts...)
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
}

// What a cycle and a hand-over cost on the wire. The lock's path is there already.
func TestTraffic(t *testing.T) {
	onVirtual(t, func(t *testing.T, s *curatortest.Server) {
		want := func(q *queued, want, when string) {
			t.Helper()
			synctest.Wait()
			if got := q.traffic.Take(); got != want {
				t.Errorf("%s: %q, want %q", when, got, want)
			}
		}
		giveBack(t, take(t, mutexOf(t, s.Client(t))))

		alone := enqueue(t, s, virtualMutex(t))
		alone.release()
		alone.traffic.Take()
		giveBack(t, take(t, mutexOf(t, alone.client)))
		want(alone, "create2=1 delete=1 getChildren2=1 writes=2", "a cycle without contention")

		first, second, third, fourth := enqueue(t, s, virtualMutex(t)), enqueue(t, s, virtualMutex(t)), enqueue(t, s, virtualMutex(t)), enqueue(t, s, virtualMutex(t))
		first.traffic.Take()
		first.release() // it has not waited: its node just goes
		want(first, "delete=1 writes=1", "the first's release")
		want(second, "events=1", "the second, which is next and need not look again")
		want(third, "", "the third, meanwhile")
		second.release()
		want(second, "events=1 multi=1 writes=1", "the second's release") // the event is of its own node
		want(third, "events=2", "the third, which sees the marker")
		want(fourth, "", "the fourth, meanwhile")
		third.release()
		want(fourth, "events=2", "the fourth, which sees the marker")
		fourth.release()
		if n := s.Watches(); n != 0 {
			t.Errorf("%d watches are left", n)
		}
	})
}

// A waiter that gives up is not a holder that lets go: who is behind it is not let in. Nor is
// it by a change of the node ahead, which is how somebody asks for a lock.
func TestNoBatonFromWaiters(t *testing.T) {
	onVirtual(t, func(t *testing.T, s *curatortest.Server) {
		holder, quitter, last := enqueue(t, s, virtualMutex(t)), enqueue(t, s, virtualMutex(t)), enqueue(t, s, virtualMutex(t))
		names := s.Children("/lock")
		for _, name := range names {
			if err := locks.AttemptRevoke(t.Context(), s.Client(t), "/lock/"+name); err != nil {
				t.Fatal(err)
			}
			if last.in() || quitter.in() {
				t.Fatalf("let in after a change of %s", name)
			}
		}
		quitter.cancel()
		<-quitter.done
		if last.in() {
			t.Fatal("let in behind one that gave up")
		}
		holder.release()
		last.release()
	})
}

// A waiter whose own node is gone is not let in with it: not even when its watch has told of
// something else before, all at once.
func TestNoGrantWithoutOwnNode(t *testing.T) {
	for range 20 {
		onVirtual(t, func(t *testing.T, s *curatortest.Server) {
			first, holder, waiter := enqueue(t, s, virtualMutex(t)), enqueue(t, s, virtualMutex(t)), enqueue(t, s, virtualMutex(t))
			first.release()
			own := ""
			for _, name := range s.Children("/lock") {
				if path := "/lock/" + name; !holder.in() || path != holder.lease.Path() {
					own = path
				}
			}
			operator := s.Client(t)
			heal := s.PartitionSession(waiter.client.SessionID(), curatortest.ToClient)
			if _, err := operator.SetData().ForPath(t.Context(), own, nil); err != nil {
				t.Fatal(err)
			}
			if err := operator.Delete().ForPath(t.Context(), own); err != nil {
				t.Fatal(err)
			}
			holder.release() // marks its release
			heal()
			time.Sleep(time.Minute)
			if !waiter.in() || waiter.lease.Path() == own {
				t.Fatal("let in without a node")
			}
			waiter.release()
		})
	}
}

// One transaction deletes the holder's node and the waiter's, as zkCli's deleteall does. The
// waiter begins again, or it is let in between the two events and loses the lock at once.
func TestNoGrantWithinTransaction(t *testing.T) {
	for range 20 {
		onVirtual(t, func(t *testing.T, s *curatortest.Server) {
			holder, waiter := enqueue(t, s, virtualMutex(t)), enqueue(t, s, virtualMutex(t))
			operator := s.Client(t)
			ops := []framework.Op{operator.TransactionOp().Delete().ForPath(holder.lease.Path())}
			for _, name := range s.Children("/lock") {
				if path := "/lock/" + name; path != holder.lease.Path() {
					ops = append(ops, operator.TransactionOp().Delete().ForPath(path))
				}
			}
			if _, err := operator.Transaction().ForOperations(t.Context(), ops...); err != nil {
				t.Fatal(err)
			}
			wantErr(t, holder.lease.Release(t.Context()), locks.ErrLockLost)
			synctest.Wait()
			<-waiter.done
			if err := waiter.lease.Err(); err != nil && !lostFor(err, locks.LossNodeDeleted) {
				t.Error(err)
			}
			if err := waiter.lease.Release(t.Context()); err != nil && !errors.Is(err, locks.ErrLockLost) {
				t.Error(err)
			}
			wantNothingLeft(t, s)
		})
	}
}

// The marker is refused, or nobody knows whether it was made: the node goes, and the next is
// let in.
func TestBatonRefused(t *testing.T) {
	for name, c := range map[string]struct {
		fate curatortest.Fate
		want string // of the traffic; the watch on the node ahead ends with the connection
	}{
		"refused":              {curatortest.Fail(framework.ErrNoAuth), "delete=1 events=1 multi=1 writes=2"},
		"lost before":          {curatortest.CutBefore(), ""},
		"applied, answer lost": {curatortest.CutAfter(), ""},
	} {
		t.Run(name, func(t *testing.T) {
			onVirtual(t, func(t *testing.T, s *curatortest.Server) {
				first, holder, waiter := enqueue(t, s, virtualMutex(t)), enqueue(t, s, virtualMutex(t)), enqueue(t, s, virtualMutex(t))
				first.release()
				if !holder.in() {
					t.Fatal("the second is not let in")
				}
				holder.traffic.Take()
				hit := s.Inject(curatortest.Rule{Op: "multi", Do: c.fate})
				giveBack(t, holder.lease)
				time.Sleep(time.Minute)
				if !hit() {
					t.Fatal("no release was marked")
				}
				if got := holder.traffic.Take(); c.want != "" && got != c.want {
					t.Errorf("%q, want %q", got, c.want)
				}
				waiter.release()
				if names := s.Children("/lock"); len(names) != 0 {
					t.Errorf("%q are left", names)
				}
			})
		})
	}
}

// A write lease that a reader was made from does not mark its release, and its going is not
// counted: the writer behind waits for the reader.
func TestDowngradeKeepsWritersOut(t *testing.T) {
	for name, waited := range map[string]bool{"holder that had waited": true, "holder that had not": false} {
		t.Run(name, func(t *testing.T) {
			onVirtual(t, func(t *testing.T, s *curatortest.Server) {
				rwOf := func(c *framework.Client) *locks.InterProcessReadWriteLock {
					rw, err := locks.NewInterProcessReadWriteLock(c, "/lock")
					if err != nil {
						t.Fatal(err)
					}
					return rw
				}
				writeLock := func(c *framework.Client) locks.InterProcessLock { return rwOf(c).WriteLock() }
				holder, waiter := enqueue(t, s, writeLock), enqueue(t, s, writeLock)
				if waited {
					first := holder
					holder, waiter = waiter, enqueue(t, s, writeLock)
					first.release()
				}
				if !holder.in() {
					t.Fatal("the holder is not let in")
				}
				read, err := rwOf(holder.client).Downgrade(t.Context(), holder.lease)
				if err != nil {
					t.Fatal(err)
				}
				if waiter.in() {
					t.Fatal("a writer is let in beside a reader")
				}
				giveBack(t, read)
				waiter.release()
			})
		})
	}
}

// The node ahead is of the waiter's own session, whose end would take both: the waiter is not let
// in by the end of that node alone, but lists the queue.
func TestNextOfTheSameClient(t *testing.T) {
	onVirtual(t, func(t *testing.T, s *curatortest.Server) {
		client, traffic := suite.Tapped(t, s)
		holder := take(t, mutexOf(t, client))
		waiter := make(chan *locks.Lease)
		go func() { waiter <- take(t, mutexOf(t, client)) }()
		synctest.Wait()
		traffic.Take()
		giveBack(t, holder)
		next := <-waiter
		synctest.Wait()
		if got := traffic.Take(); !strings.Contains(got, "getChildren2=1") {
			t.Errorf("%q: the waiter has not listed the queue", got)
		}
		giveBack(t, next)
	})
}

// A writer that waits for one writer is not let in by the end of that node alone: a reader may
// have taken its place.
func TestNextBehindADowngrade(t *testing.T) {
	onVirtual(t, func(t *testing.T, s *curatortest.Server) {
		rwLock := func(c *framework.Client) *locks.InterProcessReadWriteLock {
			rw, err := locks.NewInterProcessReadWriteLock(c, "/lock")
			if err != nil {
				t.Fatal(err)
			}
			return rw
		}
		holder := rwLock(s.Client(t))
		write, err := holder.WriteLock().Acquire(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		waiter := enqueue(t, s, func(c *framework.Client) locks.InterProcessLock { return rwLock(c).WriteLock() })
		read, err := holder.Downgrade(t.Context(), write)
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		if waiter.in() {
			t.Error("a writer is in beside a reader")
		}
		giveBack(t, read)
		time.Sleep(time.Second)
		waiter.release()
	})
}
