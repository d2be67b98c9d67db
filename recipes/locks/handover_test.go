package locks_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/recipes/locks"
	"github.com/go-curator/curator/tools/curatortest"
)

// crew is several goroutines of one client that take the same lock, each once, in order.
type crew struct {
	t       *testing.T
	traffic *traffic
	client  *framework.Client
	lock    locks.InterProcessLock
	members []*queued
}

func newCrew(t *testing.T, s *curatortest.Server, opts ...locks.MutexOption) *crew {
	t.Helper()
	c := &crew{t: t}
	c.client, c.traffic = tapped(t, s)
	c.lock = virtualMutex(t, opts...)(c.client)
	return c
}

// join has another goroutine acquire the lock.
func (c *crew) join() *queued {
	c.t.Helper()
	q := &queued{t: c.t, client: c.client, traffic: c.traffic, done: make(chan struct{})}
	ctx, cancel := context.WithCancel(c.t.Context())
	q.cancel = cancel
	go func() {
		defer close(q.done)
		q.lease, q.err = c.lock.Acquire(ctx)
	}()
	synctest.Wait()
	c.members = append(c.members, q)
	return q
}

// Goroutines of one client hand the node over without the server, at most so often in a row; then
// another process has its turn.
func TestLocalHandover(t *testing.T) {
	onVirtual(t, func(t *testing.T, s *curatortest.Server) {
		c := newCrew(t, s, locks.WithLocalHandover(2))
		a, b := c.join(), c.join()
		rival := enqueue(t, s, virtualMutex(t))
		d, e := c.join(), c.join()
		if n := len(s.Children("/lock")); n != 2 {
			t.Fatalf("%d nodes, want one for the client and one for the rival", n)
		}
		_, err := c.lock.TryAcquire(t.Context())
		wantErr(t, err, locks.ErrNotAcquired)
		token := a.lease.Token()
		c.traffic.take()
		for _, next := range []*queued{b, d} {
			c.members[0].release()
			c.members = c.members[1:]
			if !next.in() || next.lease.Token() != token {
				t.Fatal("the node was not handed over")
			}
			if got := c.traffic.take(); got != "" {
				t.Errorf("%q for a hand-over", got)
			}
		}
		if e.in() || rival.in() {
			t.Fatal("two are in")
		}
		d.release()
		if e.in() || !rival.in() {
			t.Fatal("the rival did not get its turn")
		}
		rival.release()
		if !e.in() || e.lease.Token() <= token {
			t.Fatal("the last did not get the lock with a token of its own")
		}
		e.release()
		if names := s.Children("/lock"); len(names) != 0 {
			t.Errorf("%q are left", names)
		}
		giveBack(t, take(t, c.lock.(*locks.InterProcessMutex)))
	})
}

// Who gives up in the line is passed over, whenever that is.
func TestLocalHandoverGivenUp(t *testing.T) {
	onVirtual(t, func(t *testing.T, s *curatortest.Server) {
		c := newCrew(t, s, locks.WithLocalHandover(100))
		quits := 0
		for i := range 100 {
			holder, quitter := c.join(), c.join()
			var last *queued
			if i%2 == 0 {
				last = c.join()
			}
			quitter.cancel() // at the time at which the lock is handed to it
			giveBack(t, holder.lease)
			<-quitter.done
			if quitter.err == nil {
				giveBack(t, quitter.lease)
			} else {
				wantErr(t, quitter.err, locks.ErrNotAcquired, context.Canceled)
				quits++
			}
			if last != nil {
				last.release()
			}
			if n := locks.InLine(c.lock.(*locks.InterProcessMutex)); n != -1 {
				t.Fatalf("%d are left in the line", n)
			}
			if names := s.Children("/lock"); len(names) != 0 {
				t.Fatalf("%q are left", names)
			}
		}
		if quits == 0 {
			t.Error("nobody gave up")
		}
	})
}

// What may befall somebody in the line, who has no node: for losses of the one who holds the lock
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
		t.Run(name, func(t *testing.T) {
			onVirtual(t, func(t *testing.T, s *curatortest.Server) {
				crew := newCrew(t, s, append(c.opts, locks.WithLocalHandover(10))...)
				holder, waiter, other := crew.join(), crew.join(), enqueue(t, s, virtualMutex(t))
				c.end(s, holder, waiter)
				<-waiter.done
				wantErr(t, waiter.err, c.wants...)
				if errors.Is(waiter.err, context.DeadlineExceeded) {
					t.Errorf("%v matches context.DeadlineExceeded", waiter.err)
				}
				if err := holder.lease.Release(t.Context()); name != "closed" && err != nil {
					t.Error(err)
				}
				other.release()
				if n := locks.InLine(crew.lock.(*locks.InterProcessMutex)); n != -1 {
					t.Errorf("%d are left in the line", n)
				}
				if names, n := s.Children("/lock"), s.Watches(); len(names) > 0 || n > 0 {
					t.Errorf("nodes %q and %d watches are left", names, n)
				}
			})
		})
	}
}

// Without a connection nobody knows whether the lock is busy, neither who asks for it nor who
// stands in the line behind.
func TestLocalHandoverBlind(t *testing.T) {
	suite.Each(t, func(t *testing.T, b *suite.Backend) {
		e := newEnv(t, b)
		mutex := e.lock(e.client, locks.WithLocalHandover(10))
		limited := e.lock(e.client, locks.WithLocalHandover(10), locks.WithMaxWait(200*time.Millisecond))
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		defer cancel()
		heal := e.network.Isolate()
		first, second, third := e.start(ctx, mutex), e.start(ctx, mutex), e.start(ctx, limited)
		for a, want := range map[*acquisition]error{first: context.DeadlineExceeded, second: context.DeadlineExceeded, third: framework.ErrConnectionLoss} {
			<-a.done
			wantErr(t, a.err, want)
			if errors.Is(a.err, locks.ErrNotAcquired) {
				t.Errorf("%v says that the lock is busy", a.err)
			}
		}
		heal()
		// Behind one who waits for somebody else's it is known to be.
		holder := e.acquire(e.other())
		waiter := e.queue(t.Context(), mutex, 2)
		_, err := limited.Acquire(t.Context())
		wantErr(t, err, locks.ErrNotAcquired)
		e.release(holder)
		e.release(e.granted(waiter))
		e.untilNodes(0)
	})
}

// The plain protocol has none of it.
func TestLocalHandoverPlain(t *testing.T) {
	onVirtual(t, func(t *testing.T, s *curatortest.Server) {
		c := newCrew(t, s, locks.WithLocalHandover(10), locks.WithPlainProtocol())
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

// What is lost is not handed over: the next one contends, without waiting for the release.
func TestLocalHandoverAfterLoss(t *testing.T) {
	for name, lose := range map[string]func(s *curatortest.Server, c *crew, path string) error{
		"session expired": func(s *curatortest.Server, c *crew, _ string) error {
			s.ExpireSession(c.client.SessionID())
			return nil
		},
		"node deleted": func(s *curatortest.Server, c *crew, path string) error {
			return c.client.Delete().ForPath(context.Background(), path)
		},
		"suspended": func(s *curatortest.Server, c *crew, _ string) error {
			s.Disconnect()
			return nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			onVirtual(t, func(t *testing.T, s *curatortest.Server) {
				c := newCrew(t, s, locks.WithLocalHandover(10))
				holder, next := c.join(), c.join()
				time.Sleep(time.Second) // its node is watched
				if err := lose(s, c, holder.lease.Path()); err != nil {
					t.Fatal(err)
				}
				<-holder.lease.Context().Done()
				time.Sleep(time.Minute)
				if name != "suspended" && !next.in() {
					t.Fatal("the next waits for a lease that is lost")
				}
				_ = holder.lease.Release(t.Context()) // says what happened; that is tested elsewhere
				time.Sleep(time.Minute)
				if next.in(); next.lease.Token() <= holder.lease.Token() {
					t.Error("a lost node was handed over")
				}
				next.release()
				if names := s.Children("/lock"); len(names) != 0 {
					t.Errorf("%q are left", names)
				}
			})
		})
	}
}

// Who was asked to let go does not hand over, and who holds when the client is closed loses.
func TestLocalHandoverRevoked(t *testing.T) {
	onVirtual(t, func(t *testing.T, s *curatortest.Server) {
		asked := make(chan struct{})
		c := newCrew(t, s, locks.WithLocalHandover(10), locks.WithRevocable(func(context.Context, *locks.Lease) { close(asked) }))
		holder, next := c.join(), c.join()
		rival := enqueue(t, s, virtualMutex(t))
		if err := locks.AttemptRevoke(t.Context(), rival.client, holder.lease.Path()); err != nil {
			t.Fatal(err)
		}
		<-asked
		holder.release()
		if next.in() || !rival.in() {
			t.Fatal("handed over although another asked for it")
		}
		rival.release()
		next.release()
	})
}

// Many goroutines of a few clients: never two in, everybody's turn comes.
func TestLocalHandoverExclusion(t *testing.T) {
	suite.Each(t, func(t *testing.T, b *suite.Backend) {
		e := newEnv(t, b)
		var inside atomic.Int32
		var wg sync.WaitGroup
		var tokens []int64
		for range 2 {
			mutex := e.other(locks.WithLocalHandover(3))
			for range 8 {
				wg.Go(func() {
					for range 5 {
						err := locks.Do(t.Context(), mutex, func(ctx context.Context, lease *locks.Lease) error {
							if inside.Add(1) > 1 {
								t.Error("two are in")
							}
							defer inside.Add(-1)
							tokens = append(tokens, lease.Token())
							_, err := mutex.ParticipantNodes(ctx)
							return err
						})
						if err != nil {
							t.Error(err)
						}
					}
				})
			}
		}
		wg.Wait()
		if len(tokens) != 80 || !slices.IsSorted(tokens) {
			t.Errorf("tokens %v", tokens)
		}
		for i := 4; i < len(tokens); i++ {
			if tokens[i-4] == tokens[i] {
				t.Errorf("more than three hand-overs of %d", tokens[i])
			}
		}
		e.wantNodes(0)
	})
}
