package locks_test

import (
	"context"
	"slices"
	"strings"
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

// Goroutines of one client hand the node over without the server, at most so often in a row; then
// another process has its turn.
func TestLocalHandover(t *testing.T) {
	onVirtual(t, func(t *testing.T, s *curatortest.Server) {
		c := startGoroutines(t, s, locks.WithLocalHandover(2))
		a, b := c.join(), c.join()
		nextWaiter := enqueue(t, s, virtualMutex(t))
		d, e := c.join(), c.join()
		if n := len(s.Children("/lock")); n != 2 {
			t.Fatalf("%d nodes, want one for the client and one for the next waiter", n)
		}
		suite.Got(c.lock.TryAcquire(t.Context())).Fails(t, locks.ErrNotAcquired)
		token := a.lease.Token()
		c.traffic.Take()
		for _, next := range []*queued{b, d} {
			c.members[0].release()
			c.members = c.members[1:]
			if !next.in() || next.lease.Token() != token {
				t.Fatal("the node was not handed over")
			}
			if got := c.traffic.Take(); got != "" {
				t.Errorf("%q for a hand-over", got)
			}
		}
		if e.in() || nextWaiter.in() {
			t.Fatal("two are in")
		}
		d.release()
		if e.in() || !nextWaiter.in() {
			t.Fatal("the next waiter did not get its turn")
		}
		nextWaiter.release()
		if !e.in() || e.lease.Token() <= token {
			t.Fatal("the last did not get the lock with a token of its own")
		}
		e.release()
		wantQueue(t, s, 0)
		giveBack(t, take(t, c.lock.(*locks.InterProcessMutex)))
	})
}

// operatorFaults are what an operator can do to the node of a lease.
var operatorFaults = map[string]struct {
	fault func(operator *framework.Client, path string) error
	want  locks.LossReason
}{
	"deleted": {func(operator *framework.Client, path string) error {
		return operator.Delete().ForPath(context.Background(), path)
	}, locks.LossNodeDeleted},
	"asked": {func(operator *framework.Client, path string) error {
		return locks.AttemptRevoke(context.Background(), operator, path)
	}, locks.LossRevoked},
}

// The watch on the node goes along, and tells the one who has the node now; with many hand-overs
// there would be many else.
func TestLocalHandoverOfTheWatch(t *testing.T) {
	for name, c := range operatorFaults {
		runVirtual(t, name, func(t *testing.T, s *curatortest.Server) {
			operator := s.Client(t)
			goroutines := startGoroutines(t, s, locks.WithLocalHandover(10), locks.WithRevocable(nil))
			holder := goroutines.join()
			for i := range 4 {
				time.Sleep(time.Second)
				synctest.Wait()
				if got := goroutines.traffic.Take(); i > 0 && got != "" {
					t.Fatalf("%q while the lock is held that was handed over", got)
				}
				next := goroutines.join()
				holder.release()
				holder = next
			}
			suite.OK(t, c.fault(operator, holder.lease.Path()))
			<-holder.lease.Context().Done()
			wantLoss(t, holder.lease.Err(), c.want)
			_ = holder.lease.Release(t.Context())
			wantNothingLeft(t, s)
		})
	}
}

// Who gives up in the line is passed over, whenever that is.
func TestLocalHandoverGivenUp(t *testing.T) {
	onVirtual(t, func(t *testing.T, s *curatortest.Server) {
		c := startGoroutines(t, s, locks.WithLocalHandover(100))
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
				suite.WantErr(t, quitter.err, locks.ErrNotAcquired, context.Canceled)
				quits++
			}
			if last != nil {
				last.release()
			}
			if n := locks.InLine(c.lock.(*locks.InterProcessMutex)); n != -1 {
				t.Fatalf("%d are left in the line", n)
			}
			wantQueue(t, s, 0)
		}
		if quits == 0 {
			t.Error("nobody gave up")
		}
	})
}

// What is lost is not handed over: the next one contends, without waiting for the release.
func TestLocalHandoverAfterLoss(t *testing.T) {
	for name, lose := range map[string]func(s *curatortest.Server, c *goroutines, path string) error{
		"session expired": func(s *curatortest.Server, c *goroutines, _ string) error {
			s.ExpireSession(c.client.SessionID())
			return nil
		},
		"node deleted": func(s *curatortest.Server, c *goroutines, path string) error {
			return c.client.Delete().ForPath(context.Background(), path)
		},
		"suspended": func(s *curatortest.Server, c *goroutines, _ string) error {
			s.Disconnect()
			return nil
		},
	} {
		runVirtual(t, name, func(t *testing.T, s *curatortest.Server) {
			c := startGoroutines(t, s, locks.WithLocalHandover(10))
			holder, next := c.join(), c.join()
			time.Sleep(time.Second) // its node is watched
			suite.OK(t, lose(s, c, holder.lease.Path()))
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
			wantQueue(t, s, 0)
		})
	}
}

// Who was asked to let go does not hand over, and who holds when the client is closed loses.
func TestLocalHandoverRevoked(t *testing.T) {
	onVirtual(t, func(t *testing.T, s *curatortest.Server) {
		asked := make(chan struct{})
		c := startGoroutines(t, s, locks.WithLocalHandover(10), locks.WithRevocable(func(context.Context, *locks.Lease) { close(asked) }))
		holder, next := c.join(), c.join()
		nextWaiter := enqueue(t, s, virtualMutex(t))
		suite.OK(t, locks.AttemptRevoke(t.Context(), nextWaiter.client, holder.lease.Path()))
		<-asked
		holder.release()
		if next.in() || !nextWaiter.in() {
			t.Fatal("handed over although another asked for it")
		}
		nextWaiter.release()
		next.release()
	})
}

// Many goroutines of a few clients: never two in, everybody's turn comes.
func TestLocalHandoverExclusion(t *testing.T) {
	onBackends(t, withRealServer, func(t *testing.T, e *env) {
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

// Rule H3: the context of a lease ends before its node is handed over. Here the line is locked, so that the
// Release stands still between the two.
func TestRuleH3(t *testing.T) {
	server := curatortest.Start(t)
	mutex := mutexOf(t, server.Client(t), locks.WithLocalHandover(1))
	lease := take(t, mutex)
	next := taking(t, mutex)
	suite.Eventually(t, "one in the line", func() bool { return locks.InLine(mutex) == 1 })
	let := locks.HoldLines(mutex)
	released := make(chan error, 1)
	go func() { released <- lease.Release(t.Context()) }()
	select {
	case <-lease.Context().Done():
	case <-next:
		t.Error("handed over although the line is locked")
	case <-time.After(10 * time.Second):
		t.Error("the context waits for the hand-over")
	}
	let()
	suite.OK(t, <-released)
	second := <-next
	if second.Token() != lease.Token() {
		t.Error("the node was not handed over")
	}
	giveBack(t, second)
}

// Rule H7: the last holder releases with the marker if the node has waited, also if a former holder has. A node
// that has not waited is released without.
func TestRuleH7(t *testing.T) {
	for name, waits := range map[string]bool{"waited": true, "did not wait": false} {
		runVirtual(t, name, func(t *testing.T, s *curatortest.Server) {
			var other *queued
			if waits {
				other = enqueue(t, s, virtualMutex(t))
			}
			c := startGoroutines(t, s, locks.WithLocalHandover(10))
			first, second := c.join(), c.join()
			if waits {
				other.release()
			}
			first.release()
			if !second.in() || second.lease.Token() != first.lease.Token() {
				t.Fatal("the node was not handed over")
			}
			c.traffic.Take()
			second.release()
			if got := c.traffic.Take(); strings.Contains(got, "multi=1") != waits {
				t.Errorf("%q for the last release", got)
			}
		})
	}
}
