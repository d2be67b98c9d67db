package locks_test

import (
	"context"
	"errors"
	"flag"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/internal/zkclient"
	"github.com/go-curator/curator/recipes/locks"
	"github.com/go-curator/curator/tools/curatortest"
)

// contest is a lock that several clients want at random, while their sessions end, and their
// connections break or are cut off.
type contest struct {
	t       *testing.T
	server  *curatortest.Server
	seed    uint64
	end     time.Time
	most    int  // so many may believe in their leases at a time
	violent bool // sessions end before their time, and nodes are deleted: then more may
	clients []*framework.Client

	operator *framework.Client
	mu       sync.Mutex
	held     map[*locks.Lease]int // what each counts for
	granted  int
}

// TestRandomFaults has no more believe in their leases than may, and nothing left in the end.
func TestRandomFaults(t *testing.T) { contests(t, false) }

// TestRandomViolence has nothing left in the end, nobody sleep for ever, and no odd errors.
func TestRandomViolence(t *testing.T) { contests(t, true) }

// In the default time each contest has more than 40 grants.
var (
	contestSeeds = flag.Uint64("contests", 1, "how many contests of each kind of lock there are")
	contestTime  = flag.Duration("contest", 30*time.Second, "how long each lasts, in virtual time")
)

func contests(t *testing.T, violent bool) {
	t.Parallel() // beside tests that wait in real time
	for _, c := range []struct {
		name  string
		locks []maker
		costs []int // of each, of most
		most  int
		each  int // workers of a client; 0 is 1
	}{
		{"mutex", []maker{aMutex}, []int{1}, 1, 0},
		{"handed over", []maker{aBoundedHandoverMutex}, []int{1}, 1, 3},
		{"lock delay", []maker{aBoundedDelayMutex}, []int{1}, 1, 3},
		{"semaphore mutex", []maker{aSemaphoreMutex}, []int{1}, 1, 0},
		{"read-write", []maker{aWriteLock, aReadLock, aDowngrade}, []int{10, 1, 1}, 10, 0},
		{"semaphore", []maker{aSemaphore3, two(aSemaphore3)}, []int{1, 2}, 3, 0},
		{"semaphore v2", []maker{aV2of3, two(aV2of3)}, []int{1, 2}, 3, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			for seed := range *contestSeeds {
				onVirtual(t, func(t *testing.T, s *curatortest.Server) {
					run := &contest{
						t: t, server: s, seed: seed, end: time.Now().Add(*contestTime),
						most: c.most, violent: violent, held: map[*locks.Lease]int{}, operator: s.Client(t),
					}
					e := &env{t: t, path: "/lock"}
					var workers sync.WaitGroup
					for i := range 5 {
						client := s.Client(t, framework.WithSessionTimeout(suite.SessionTimeout))
						if i%2 == 0 {
							client = s.Client(t, framework.WithSessionTimeout(suite.SessionTimeout), sessionPolicy)
						}
						run.clients = append(run.clients, client)
						which := i % len(c.locks)
						lock := c.locks[which](e, client)
						for j := range max(1, c.each) {
							random := rand.New(rand.NewPCG(seed, uint64(i+10*j)))
							workers.Go(func() { run.work(lock, c.costs[which], random) })
						}
					}
					run.disturb(rand.New(rand.NewPCG(seed, 99)))
					workers.Wait()
					run.check(c.locks[0](e, s.Client(t)))
				})
			}
		})
	}
}

// work acquires, holds and releases.
func (c *contest) work(lock locks.InterProcessLock, cost int, random *rand.Rand) {
	for time.Now().Before(c.end) {
		ctx, cancel := context.WithTimeout(c.t.Context(), time.Duration(10+random.IntN(8000))*time.Millisecond)
		acquire := lock.Acquire
		if _, composed := lock.(several); !composed && random.IntN(4) == 0 {
			acquire = lock.TryAcquire
		}
		lease, err := acquire(ctx)
		cancel()
		if err != nil {
			c.allow(err, locks.ErrNotAcquired, context.DeadlineExceeded, framework.ErrConnectionLoss, locks.ErrLockLost)
			pauseFor(random, 100)
			continue
		}
		c.enter(lease, cost)
		if pauseFor(random, 400); random.IntN(4) == 0 {
			pauseFor(random, 4000) // so that it may outlast the session
		}
		c.leave(lease)
		ctx, cancel = context.WithTimeout(c.t.Context(), time.Duration(random.IntN(3000))*time.Millisecond)
		if err := lease.Release(ctx); err != nil {
			c.allow(err, locks.ErrLockLost, locks.ErrReleasePending)
		}
		cancel()
	}
}

func pauseFor(random *rand.Rand, most int) {
	<-time.After(time.Duration(random.IntN(most*1000)) * time.Microsecond)
}

func (c *contest) allow(err error, allowed ...error) {
	for _, a := range allowed {
		if errors.Is(err, a) {
			return
		}
	}
	c.t.Errorf("unexpected: %v", err)
}

// enter counts the leases that are believed in.
func (c *contest) enter(lease *locks.Lease, cost int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.granted++
	c.held[lease] = cost
	sum := 0
	for other, n := range c.held {
		if other.Context().Err() == nil {
			sum += n
		}
	}
	if sum > c.most && !c.violent {
		c.t.Errorf("%d are believed in, of %d, at %v before the end", sum, c.most, time.Until(c.end))
	}
}

func (c *contest) leave(lease *locks.Lease) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.held, lease)
}

// disturb makes faults until shortly before the end.
func (c *contest) disturb(random *rand.Rand) {
	for time.Until(c.end) > 5*time.Second {
		pauseFor(random, 500)
		id := c.clients[random.IntN(len(c.clients))].SessionID()
		switch n := random.IntN(4); {
		case n < 2 && c.violent:
			c.attack(id, random)
		case n < 2:
			c.server.DisconnectSession(id)
		default:
			heal := c.server.PartitionSession(id, curatortest.Direction(random.IntN(3)))
			pauseFor(random, 4000)
			heal()
		}
	}
}

// attack ends a session before its time, or deletes one or all of the nodes.
func (c *contest) attack(id int64, random *rand.Rand) {
	var nodes []string
	for _, dir := range []string{"/lock", "/lock/locks", "/lock/leases"} {
		for _, name := range c.server.Children(dir) {
			if name != "locks" && name != "leases" {
				nodes = append(nodes, dir+"/"+name)
			}
		}
	}
	switch n := random.IntN(8); {
	case n == 0:
		_ = c.operator.Delete().DeletingChildrenIfNeeded().ForPath(c.t.Context(), "/lock") // others come back meanwhile
	case n < 4 && len(nodes) > 0:
		_ = c.operator.Delete().Quietly().ForPath(c.t.Context(), nodes[random.IntN(len(nodes))])
	default:
		c.server.ExpireSession(id)
	}
}

// check wants the lock to be free, and nothing to be left of anybody.
func (c *contest) check(lock locks.InterProcessLock) {
	c.t.Logf("seed %d: %d grants", c.seed, c.granted)
	if c.granted < 15 {
		c.t.Errorf("%d grants in all", c.granted)
	}
	ctx := bounded(c.t, 10*time.Second)
	lease, err := lock.Acquire(ctx)
	if err != nil {
		c.t.Fatalf("nobody holds the lock: %v", err)
	}
	giveBack(c.t, lease)
	time.Sleep(time.Minute) // what is done in the background is done
	synctest.Wait()
	left := append(c.server.Children("/lock"), c.server.Children("/lock/leases")...)
	for _, name := range append(left, c.server.Children("/lock/locks")...) {
		if name != "leases" && name != "locks" {
			c.t.Errorf("node %q is left", name)
		}
	}
	if n := c.server.Watches(); n != 0 {
		c.t.Errorf("%d watches are left", n)
	}
	for _, client := range c.clients {
		if n := len(zkclient.Of(client).Held()); n != 0 {
			c.t.Errorf("%d hooks are left", n)
		}
	}
}
