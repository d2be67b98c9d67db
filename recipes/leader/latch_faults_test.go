package leader_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/recipes/locks"
)

// latchCell is a latch, m, in one of its states when a fault happens, and a rival. When the test
// of the cell returns, the faults are over.
type latchCell struct {
	*env
	m, rival *member
	closed   bool // m was closed by the test
}

// latchStates has what comes before the fault. A latch that is joining is started by the cell.
var latchStates = map[string]func(c *latchCell){
	"joining": func(c *latchCell) { c.rival.start(); c.rival.leads() },
	"waiting": func(c *latchCell) { c.rival.start(); c.rival.leads(); c.m.start() },
	"leading": func(c *latchCell) { c.m.start(); c.m.leads(); c.rival.start() },
	"leaving": func(c *latchCell) { c.m.start(); c.m.leads(); c.rival.start() },
	// Its lease has ended because the connection broke. The cell heals.
	"suspended": func(c *latchCell) { c.m.start(); c.m.leads(); c.rival.start() },
}

// TestLatchFaults has the faults of each state as subtests. The cells that take long are run in
// virtual time alone.
func TestLatchFaults(t *testing.T) {
	for state, cells := range map[string]map[string]func(c *latchCell){
		"joining": joiningCells, "waiting": waitingCells, "leading": leadingCells, "suspended": suspendedCells, "leaving": leavingCells,
	} {
		t.Run(state, func(t *testing.T) {
			for fault, cell := range cells {
				t.Run(fault, func(t *testing.T) {
					on := suite.InVirtualTime
					if onRealServer[fault] {
						on = suite.InVirtualTime | suite.OnRealServer
						t.Parallel()
					}
					suite.EachOf(t, on, func(t *testing.T, b *suite.Backend) {
						c := &latchCell{env: newEnv(t, b)}
						c.m, c.rival = c.member("m"), c.member("rival")
						latchStates[state](c)
						cell(c)
						c.finish()
					})
				})
			}
		})
	}
}

// onRealServer has the faults whose cells run on a real server, too.
var onRealServer = map[string]bool{"before send": true, "reply lost": true, "lagging": true, "node deleted": true, "parent deleted": true}

// finish wants exactly one leader, succession, and nothing left.
func (c *latchCell) finish() {
	c.t.Helper()
	members := []*member{c.m, c.rival}
	if c.closed {
		members = members[1:]
		c.wantIDs("rival")
	}
	for len(members) > 0 {
		var first, other *member
		suite.Eventually(c.t, "one leader", func() bool {
			first, other = nil, nil
			for _, m := range members {
				if m.Leadership().Verify(c.t.Context()) == nil {
					first = m
				} else {
					other = m
				}
			}
			return first != nil && len(c.nodes()) == len(members) && (other == nil || other.Leadership().Err() != nil)
		})
		members = slices.DeleteFunc(members, func(m *member) bool { return m == first })
		first.close()
	}
	c.untilNodes(0)
	if c.b.Virtual {
		pass(time.Second)
		if n := c.b.WatchesLeft(); n > 0 {
			c.t.Errorf("%d watches are left", n)
		}
	}
}

// wantNext wants the rival to lead, and m to be behind it with another node than before.
func (c *latchCell) wantNext(before string) {
	c.t.Helper()
	c.rival.leads()
	c.wantIDs("rival", "m")
	c.m.wantNoLead()
	if node := c.m.node(); node == before {
		c.t.Errorf("m has its node %s still", node)
	}
}

// wantSameNode wants m to lead again on the node of a lease that has ended.
func (c *latchCell) wantSameNode(before *locks.Lease) {
	c.t.Helper()
	again := c.m.leads()
	if again == before || again.Path() != before.Path() || again.Token() != before.Token() {
		c.t.Errorf("%s with token %d, want a new lease on %s with %d", again.Path(), again.Token(), before.Path(), before.Token())
	}
	c.rival.wantNoLead()
}

// ours returns the nodes that are not the rival's.
func (c *latchCell) ours() (paths []string) {
	c.t.Helper()
	for _, p := range c.participants() {
		if p.ID == "m" {
			paths = append(paths, p.Path)
		}
	}
	return paths
}

func ended(t *testing.T) context.Context {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	return ctx
}

// soon is a context for what cannot be confirmed.
func (c *latchCell) soon() context.Context {
	ctx, cancel := context.WithTimeout(c.t.Context(), 100*time.Millisecond)
	c.t.Cleanup(cancel)
	return ctx
}

// closeWith closes m, whose node cannot be confirmed to be deleted.
func (c *latchCell) closeWith(ctx context.Context) {
	c.t.Helper()
	start := time.Now()
	err := c.m.Close(ctx)
	suite.WantErr(c.t, err, locks.ErrReleasePending)
	if took := time.Since(start); took > 2*time.Second && c.b.Virtual || took > 15*time.Second {
		c.t.Errorf("Close returned after %v", took)
	}
	c.m.wantNoLead()
	c.closed = true
}

// closeClient closes the client of m, and then m.
func (c *latchCell) closeClient() {
	c.t.Helper()
	nodes := c.nodes()
	if err := c.m.client.Close(c.soon()); err != nil && !errors.Is(err, framework.ErrConnectionLoss) && !errors.Is(err, context.DeadlineExceeded) {
		c.t.Error(err)
	}
	_, err := c.m.Await(c.t.Context())
	suite.WantErr(c.t, err, framework.ErrClosed)
	if err := c.m.Close(c.t.Context()); err != nil {
		suite.WantErr(c.t, err, framework.ErrClosed)
	} else if left := c.nodes(); len(left) >= len(nodes) {
		c.t.Errorf("Close has confirmed that the node is removed; the nodes were %q, and are %q", nodes, left)
	}
	c.closed = true
}

// start starts m in the background.
func (c *latchCell) start(ctx context.Context) (started chan error) {
	started = make(chan error, 1)
	go func() { started <- c.m.Start(ctx) }()
	return started
}

var joiningCells = map[string]func(c *latchCell){
	"before send": func(c *latchCell) {
		hit := c.m.network.On(jute.OpCreate2, suite.CutBefore, nil)
		c.m.start()
		<-hit
		c.wantIDs("rival", "m")
	},
	"reply lost": func(c *latchCell) { // the node is found again
		hit := c.m.network.On(jute.OpCreate2, suite.CutAfter, nil)
		c.m.start()
		<-hit
		c.wantIDs("rival", "m")
		if n := number(c.m.node()); n != "0000000001" {
			c.t.Errorf("the node of m has the number %s", n)
		}
	},
	"suspended": func(c *latchCell) {
		healed := make(chan func(), 1)
		c.m.network.On(jute.OpCreate2, suite.CutAfter, func() { healed <- c.m.network.Isolate() })
		started := c.start(c.t.Context())
		heal := <-healed
		pass(time.Second)
		heal()
		suite.WantErr(c.t, <-started, nil)
		c.wantIDs("rival", "m")
	},
	"session over": func(c *latchCell) {
		hit := c.m.network.On(jute.OpCreate2, suite.CutAfter, func() { c.m.network.Expire(c.t) })
		c.m.start()
		<-hit
		c.wantIDs("rival", "m")
	},
	"lagging": func(c *latchCell) {
		hit := c.m.network.On(jute.OpCreate2, suite.CutAfter, c.m.network.Lag)
		c.m.start()
		<-hit
		c.wantIDs("rival", "m")
	},
	"node deleted": func(c *latchCell) { // between the create and the list of one write
		hit := c.m.network.On(jute.OpGetChildren2, suite.Late, func() { c.removeMeanwhile(c.ours()...) })
		c.m.start()
		<-hit
		c.wantIDs("rival", "m")
	},
	"parent deleted": func(c *latchCell) {
		hit := c.m.network.On(jute.OpGetChildren2, suite.Late, func() { c.removeMeanwhile(c.path) })
		c.m.start()
		<-hit
	},
	"ctx ends": func(c *latchCell) {
		ctx, cancel := context.WithCancel(c.t.Context())
		defer cancel()
		hit := c.m.network.On(jute.OpCreate2, suite.CutAfter, cancel)
		err := c.m.Start(ctx)
		<-hit
		suite.WantErr(c.t, err, context.Canceled)
		c.wantIDs("rival")
		c.m.start() // again
	},
	"close": func(c *latchCell) { c.closeWhileJoining(c.t.Context()) },
	"close with ended ctx": func(c *latchCell) {
		c.closeWhileJoining(ended(c.t))
	},
	"client closed": func(c *latchCell) {
		c.m.network.Isolate()
		started := c.start(c.t.Context())
		pass(100 * time.Millisecond)
		c.m.client.Close(c.soon())
		suite.WantErr(c.t, <-started, framework.ErrClosed)
		c.m.close()
		c.closed = true
	},
}

func (c *latchCell) closeWhileJoining(ctx context.Context) {
	c.t.Helper()
	closed := make(chan error, 1)
	c.m.network.On(jute.OpCreate2, suite.CutAfter, func() {
		go func() { closed <- c.m.Close(ctx) }()
	})
	suite.WantErr(c.t, <-c.start(c.t.Context()), framework.ErrClosed)
	suite.WantErr(c.t, <-closed, nil)
	c.closed = true
}

var waitingCells = map[string]func(c *latchCell){
	"before send": func(c *latchCell) { c.rearm(suite.CutBefore) },
	"reply lost":  func(c *latchCell) { c.rearm(suite.CutAfter) },
	"suspended": func(c *latchCell) {
		node := c.m.node()
		heal := c.m.network.Isolate()
		pass(time.Second)
		c.step(c.rival)
		heal()
		if lease := c.m.leads(); lease.Path() != node {
			c.t.Errorf("m leads with %s, want %s", lease.Path(), node)
		}
	},
	"session over": func(c *latchCell) {
		node := c.m.node()
		c.m.network.Expire(c.t)
		c.wantNext(node)
	},
	"lagging": func(c *latchCell) {
		c.m.network.Lag()
		c.m.network.Cut()
		c.step(c.rival)
		c.m.leads()
	},
	"node deleted": func(c *latchCell) {
		node := c.m.node()
		c.remove(node)
		c.wantNext(node)
	},
	"parent deleted": func(c *latchCell) { c.remove(c.path) },
	"ctx ends": func(c *latchCell) {
		c.m.close()
		c.m = c.member("m")
		ctx, cancel := context.WithCancel(c.t.Context())
		suite.WantErr(c.t, c.m.Start(ctx), nil)
		cancel()
		pass(time.Second)
		c.wantIDs("rival", "m")
	},
	"close": func(c *latchCell) { c.m.close(); c.closed = true },
	"close with ended ctx": func(c *latchCell) {
		heal := c.m.network.Isolate()
		c.closeWith(ended(c.t))
		heal()
	},
	"client closed": func(c *latchCell) { c.closeClient() },
}

// rearm lets the request meet its fate that sets the watches of m, which waits.
func (c *latchCell) rearm(fate suite.Fate) {
	c.t.Helper()
	c.m.close()
	c.m = c.member("m")
	hit := c.m.network.On(jute.OpSetWatches, fate, nil)
	c.m.start()
	<-hit
	c.wantIDs("rival", "m")
	c.step(c.rival)
	c.m.leads()
}

// step has a leader step down.
func (c *latchCell) step(m *member) {
	c.t.Helper()
	if err := m.leads().Release(c.t.Context()); err != nil {
		c.t.Fatal(err)
	}
}
