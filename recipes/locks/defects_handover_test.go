package locks_test

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/recipes/locks"
	"github.com/go-curator/curator/tools/curatortest"
)

// shortHold is shorter than the time after which a holder's node is watched.
const shortHold = 10 * time.Millisecond

// chain has many goroutines of a client take the lock over from each other, each for a short time.
type chain struct {
	*goroutines
	later int // grants of the first token, after the fault, that were believed
	lost  []error
}

// runChain has fault called while the eleventh of thirty holders holds the lock.
func runChain(t *testing.T, s *curatortest.Server, fault func(path string) error, opts ...locks.MutexOption) *chain {
	t.Helper()
	c := &chain{goroutines: startGoroutines(t, s, append(opts, locks.WithLocalHandover(1000))...)}
	for range 30 {
		c.join()
	}
	if !c.members[0].in() {
		t.Fatal("the first is not in")
	}
	token, path := c.members[0].lease.Token(), c.members[0].lease.Path()
	for i, q := range c.members {
		<-q.done
		if q.in() && i > 10 && q.lease.Token() == token {
			c.later++
		}
		time.Sleep(shortHold)
		if i == 10 {
			suite.OK(t, fault(path))
		}
		synctest.Wait()
		if err := q.lease.Err(); err != nil {
			c.lost = append(c.lost, err)
		}
		_ = q.lease.Release(t.Context())
	}
	return c
}

// The node is watched although no holder of the chain holds the lock for long: a few more may
// take it over until the event has come, and then nobody does.
func TestLocalHandoverOfShortHolds(t *testing.T) {
	const few = 3
	for name, c := range operatorFaults {
		runVirtual(t, name, func(t *testing.T, s *curatortest.Server) {
			operator := s.Client(t)
			got := runChain(t, s, func(path string) error { return c.fault(operator, path) }, locks.WithRevocable(nil))
			if got.later > few {
				t.Errorf("%d holders believed in the lock after its node was %s, want at most %d", got.later, name, few)
			}
			if len(got.lost) == 0 || slices.ContainsFunc(got.lost, func(err error) bool { return !lostFor(err, c.want) }) {
				t.Errorf("leases were lost with %v, want one with %v", got.lost, c.want)
			}
			wantNothingLeft(t, s)
		})
	}
}

// A chain of short holds hands the lock over until somebody asks for it; then another process
// has its turn.
func TestLocalHandoverOfShortHoldsRevoked(t *testing.T) {
	onVirtual(t, func(t *testing.T, s *curatortest.Server) {
		asked := make(chan struct{}, 100)
		nextWaiter := (*queued)(nil)
		c := runChain(t, s, func(path string) error {
			nextWaiter = enqueue(t, s, virtualMutex(t))
			go func() {
				<-nextWaiter.done
				giveBack(t, nextWaiter.lease)
			}()
			return locks.AttemptRevoke(context.Background(), nextWaiter.client, path)
		}, locks.WithRevocable(func(context.Context, *locks.Lease) { asked <- struct{}{} }))
		if c.later > 3 {
			t.Errorf("%d holders took the lock over after another client asked for it", c.later)
		}
		if len(asked) == 0 {
			t.Error("no holder was told that another client asked for the lock")
		}
		wantNothingLeft(t, s)
	})
}

// wantNothingLeft fails if a node of the lock, its holder record or a watch is left.
func wantNothingLeft(t *testing.T, s *curatortest.Server) {
	t.Helper()
	synctest.Wait()
	if names, n := s.Children("/lock"), s.Watches(); len(names) > 0 || n > 0 {
		t.Errorf("nodes %q and %d watches are left", names, n)
	}
	wantRecord(t, s, false)
}
