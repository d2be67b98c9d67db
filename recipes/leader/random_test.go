package leader_test

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/recipes/leader"
	"github.com/go-curator/curator/recipes/locks"
	"github.com/go-curator/curator/tools/curatortest"
)

var (
	rounds = flag.Int("rounds", 50, "how many rounds of random faults TestRandomFaults has")
	seed   = flag.Uint64("seed", 1, "what the faults of TestRandomFaults are drawn from")
)

// campaign is an election among ten latches, while their sessions end, their connections break or
// are cut off, and an operator deletes their nodes and the parent.
type campaign struct {
	t          *testing.T
	server     *curatortest.Server
	operator   *framework.Client
	random     *rand.Rand
	candidates []*candidate
	begun      chan *locks.Lease // terms that begin
	asked      chan chan struct{}
	terms      int
	token      int64 // the highest
}

type candidate struct {
	latch   *leader.LeaderLatch
	client  *framework.Client
	session bool   // a term outlives a short disconnect
	heal    func() // ends the partition; nil without one
}

// TestRandomFaults wants at each instant at most one candidate to believe that it leads, tokens to
// rise, and somebody to lead within the session timeout and a second after the faults stop.
//
// A session is ended before its time, and a node deleted, only while the client can hear of it
// at once. Else its candidate would believe in its term until the deadline, as it must.
func TestRandomFaults(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := curatortest.Start(t, curatortest.Virtual(), curatortest.WithTickTime(suite.Tick))
		c := &campaign{
			t: t, server: server, operator: server.Client(t), random: rand.New(rand.NewPCG(*seed, 0)),
			begun: make(chan *locks.Lease), asked: make(chan chan struct{}),
		}
		for i := range 10 {
			c.add(i)
		}
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() { defer close(ended); c.observe(ctx) }()
		for round := range *rounds {
			c.round()
			if t.Failed() {
				t.Fatalf("in round %d of seed %d", round, *seed)
			}
		}
		for _, candidate := range c.candidates {
			if err := candidate.latch.Close(t.Context()); err != nil {
				t.Error(err)
			}
		}
		stop()
		<-ended
		t.Logf("seed %d: %d terms in %d rounds", *seed, c.terms, *rounds)
		if c.terms < *rounds {
			t.Error("less than one term in a round")
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if left, n := server.Children("/leader"), server.Watches(); len(left) > 0 || n > 0 {
			t.Errorf("%d watches are left, and the nodes %q", n, left)
		}
	})
}

func (c *campaign) add(i int) {
	c.t.Helper()
	candidate := &candidate{session: i%2 == 0}
	opts := []framework.Option{framework.WithSessionTimeout(suite.SessionTimeout)}
	if candidate.session {
		opts = append(opts, sessionPolicy)
	}
	candidate.client = c.server.Client(c.t, opts...)
	latch, err := leader.NewLeaderLatch(candidate.client, "/leader", leader.WithID(fmt.Sprint(i)))
	if err == nil {
		latch.LeadershipListenable().Add(func(_ context.Context, change leader.Change) {
			if change.Leading {
				c.begun <- change.Lease
			}
		})
		err = latch.Start(c.t.Context())
	}
	if err != nil {
		c.t.Fatal(err)
	}
	candidate.latch = latch
	c.candidates = append(c.candidates, candidate)
}

// observe looks at the candidates when a term begins, once everything that happens at that instant
// has happened. Only then can one believe who did not before.
func (c *campaign) observe(ctx context.Context) {
	for {
		select {
		case lease := <-c.begun:
			synctest.Wait()
			c.terms++
			// Of terms that begin and end at one instant the listeners tell in any order.
			if lease.Err() == nil && lease.Token() < c.token {
				c.t.Errorf("token %d after %d", lease.Token(), c.token)
			}
			c.token = max(c.token, lease.Token())
			if believers := c.believers(); len(believers) > 1 {
				c.t.Errorf("%d believe that they lead: %v", len(believers), believers)
			}
		case settled := <-c.asked:
			synctest.Wait()
			close(settled)
		case <-ctx.Done():
			return
		}
	}
}

// settle waits until everything that happens at this instant has happened.
func (c *campaign) settle() {
	settled := make(chan struct{})
	c.asked <- settled
	<-settled
}

func (c *campaign) believers() (which []int) {
	for i, candidate := range c.candidates {
		if candidate.latch.Leadership().Err() == nil {
			which = append(which, i)
		}
	}
	return which
}

// round makes some faults, ends them, and waits for a leader.
func (c *campaign) round() {
	c.t.Helper()
	for range 1 + c.random.IntN(6) {
		c.pause(1500)
		victim := c.candidates[c.random.IntN(len(c.candidates))]
		if leading := c.believers(); len(leading) > 0 && c.random.IntN(2) == 0 {
			victim = c.candidates[leading[0]]
		}
		c.disturb(victim)
	}
	for _, candidate := range c.candidates {
		candidate.healed()
	}
	healed := time.Now()
	for len(c.believers()) == 0 {
		<-time.After(10 * time.Millisecond)
		if since := time.Since(healed); since > suite.SessionTimeout+time.Second {
			c.t.Errorf("nobody leads %v after the faults", since)
			return
		}
	}
}

func (c *campaign) disturb(victim *candidate) {
	id := victim.client.SessionID()
	switch n := c.random.IntN(10); {
	case n < 2:
		c.server.DisconnectSession(id)
	case n < 5:
		victim.healed()
		victim.heal = c.server.PartitionSession(id, curatortest.Direction(c.random.IntN(3)))
	case n < 6:
		victim.healed()
	case n < 7:
		if lease := victim.latch.Leadership(); lease.Err() == nil {
			ctx, cancel := context.WithTimeout(c.t.Context(), 100*time.Millisecond)
			_ = lease.Release(ctx) // may be lost just now
			cancel()
		}
	default:
		c.attack(n, victim)
	}
}

// attack does what the victims must hear of at once.
func (c *campaign) attack(n int, victim *candidate) {
	c.settle()
	switch {
	case n < 8 && victim.heal == nil && !victim.session:
		c.server.ExpireSession(victim.client.SessionID())
	case n < 9 && c.hears(victim):
		for _, name := range c.nodesOf(victim) {
			_ = c.operator.Delete().Quietly().ForPath(c.t.Context(), name)
		}
	case !slices.ContainsFunc(c.candidates, func(other *candidate) bool { return !c.hears(other) }):
		_ = c.operator.Delete().DeletingChildrenIfNeeded().ForPath(c.t.Context(), "/leader") // others come back meanwhile
	}
	c.settle()
}

// hears reports whether the candidate hears at once of what happens to its node.
func (c *campaign) hears(candidate *candidate) bool {
	return candidate.heal == nil && candidate.client.ConnectionState().IsConnected()
}

func (c *campaign) nodesOf(candidate *candidate) (paths []string) {
	all, err := candidate.latch.Participants(c.t.Context())
	if err != nil {
		return nil
	}
	for _, p := range all {
		if p.SessionID == candidate.client.SessionID() {
			paths = append(paths, p.Path)
		}
	}
	return paths
}

func (c *candidate) healed() {
	if c.heal != nil {
		c.heal()
		c.heal = nil
	}
}

func (c *campaign) pause(most int) {
	<-time.After(time.Duration(c.random.IntN(most*1000)) * time.Microsecond)
}
