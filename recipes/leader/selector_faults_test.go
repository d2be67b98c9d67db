package leader_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/recipes/leader"
	"github.com/go-curator/curator/recipes/locks"
	"github.com/go-curator/curator/state"
)

// selectorCell is a selector, r, that leads when a fault happens, and a rival behind it. The
// faults of one that waits are those of its mutex: see package locks. In the end r must be able
// to lead again, unless it is over.
type selectorCell struct {
	*env
	r, rival *runner
	term     *term
	over     bool // Run has returned
}

// selectorCells has the faults of a selector that leads, and of one that gives its leadership up.
var selectorCells = map[string]func(c *selectorCell){
	"leading/suspended": func(c *selectorCell) {
		c.r.network.Cut()
		c.wantLoss(locks.LossSuspended)
		c.term.end <- errors.New("explained by the loss")
		c.wantNext()
	},
	"leading/session over": func(c *selectorCell) {
		c.r.network.Expire(c.t)
		<-c.term.ctx.Done()
		c.rival.leads().end <- nil // before the function of r returns
		c.term.end <- nil
	},
	"leading/node deleted": func(c *selectorCell) {
		c.remove(c.term.lease.Path())
		c.wantLoss(locks.LossNodeDeleted)
		c.term.end <- nil
		c.wantNext()
	},
	"leading/parent deleted": func(c *selectorCell) {
		c.remove(c.path)
		c.wantLoss(locks.LossNodeDeleted)
		c.rival.leads().end <- nil
		c.term.end <- nil
	},
	"leading/lagging": func(c *selectorCell) {
		c.r.network.Lag()
		c.r.network.Cut()
		c.wantLoss(locks.LossSuspended)
		c.term.end <- nil
		c.wantNext()
	},
	"leading/partition": func(c *selectorCell) {
		heal := c.r.network.Isolate()
		<-c.term.ctx.Done()
		c.rival.leads().end <- nil
		c.term.end <- nil
		heal()
	},
	"leading/client closed": func(c *selectorCell) {
		go c.r.client.Close(c.t.Context())
		c.wantLoss(locks.LossClosed)
		c.term.end <- nil
		c.r.wantEnd(framework.ErrClosed)
		c.over = true
	},
	"leaving/before send": func(c *selectorCell) { c.leave(suite.CutBefore, nil) },
	"leaving/reply lost":  func(c *selectorCell) { c.leave(suite.CutAfter, nil) },
	"leaving/session over": func(c *selectorCell) {
		c.leave(suite.CutBefore, func() { c.r.network.Expire(c.t) })
	},
	"leaving/node deleted": func(c *selectorCell) {
		c.leave(suite.Late, func() { c.removeMeanwhile(c.term.lease.Path()) })
	},
	"leaving/ctx ends": func(c *selectorCell) {
		heal := c.r.network.Isolate()
		c.r.stop()
		c.term.end <- nil
		c.r.wantEnd()
		heal()
		c.over = true
	},
}

func TestSelectorFaults(t *testing.T) {
	for name, cell := range selectorCells {
		t.Run(name, func(t *testing.T) {
			on := suite.InVirtualTime
			switch name {
			case "leading/suspended", "leading/node deleted", "leaving/reply lost":
				on = suite.InVirtualTime | suite.OnRealServer
				t.Parallel()
			}
			suite.EachOf(t, on, func(t *testing.T, b *suite.Backend) {
				c := &selectorCell{env: newEnv(t, b)}
				c.r = c.selector("r").queued(0)
				c.term = c.r.leads()
				c.rival = c.selector("rival").queued(1)
				cell(c)
				c.finish()
			})
		})
	}
}

func (c *selectorCell) wantLoss(want locks.LossReason) {
	c.t.Helper()
	lost(c.t, c.term.lease, want)
	c.term.wantCause(c.t, locks.ErrLockLost)
	if c.r.Leadership().Err() == nil {
		c.t.Error("it leads")
	}
}

// wantNext wants the rival to lead next, with r behind it, and the rival to step down.
func (c *selectorCell) wantNext() {
	c.t.Helper()
	term := c.rival.leads()
	c.wantIDs("rival", "r")
	if term.lease.Token() <= c.term.lease.Token() {
		c.t.Errorf("token %d after %d", term.lease.Token(), c.term.lease.Token())
	}
	term.end <- nil
}

// leave has the function return, while the delete of the node meets a fate.
func (c *selectorCell) leave(fate suite.Fate, then func()) {
	c.t.Helper()
	hit := c.r.network.On(jute.OpDelete, fate, then)
	c.term.end <- nil
	<-hit
	c.wantNext()
}

// finish ends both.
func (c *selectorCell) finish() {
	c.t.Helper()
	for done := range 2 {
		if c.over && done == 0 {
			continue
		}
		select {
		case term := <-c.r.terms:
			term.end <- leader.ErrStop
			c.r.wantEnd()
		case term := <-c.rival.terms:
			term.end <- leader.ErrStop
			c.rival.wantEnd()
		case <-time.After(20 * time.Second):
			c.t.Fatalf("nobody leads; the nodes are %q", c.nodes())
		}
	}
	c.untilNodes(0)
}

// Under the session policy a term outlives a short disconnect.
func TestSelectorSessionPolicy(t *testing.T) {
	suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
		e := newEnv(t, b)
		r := e.selector("r", sessionPolicy).run()
		term := r.leads()
		r.network.Cut()
		pass(10 * time.Second)
		if err := errors.Join(term.ctx.Err(), term.lease.Err(), term.lease.Verify(term.ctx)); err != nil {
			t.Error(err)
		}
		term.end <- leader.ErrStop
		r.wantEnd()
	})
}

// The function of a lost term works on: this selector does not stand until it returns.
func TestSelectorWaitsForItsFunction(t *testing.T) {
	suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
		e := newEnv(t, b)
		r := e.selector("r").run()
		term := r.leads()
		e.remove(term.lease.Path())
		<-term.ctx.Done()
		pass(5 * time.Minute)
		if nodes := e.nodes(); len(nodes) > 0 {
			t.Errorf("it stands: %q", nodes)
		}
		if _, err := term.lease.Guard(context.WithoutCancel(term.ctx)); !errors.Is(err, locks.ErrLockLost) {
			t.Errorf("Guard of a lost term: %v", err)
		}
		term.end <- nil
		r.leads().end <- leader.ErrStop
		r.wantEnd()
	})
}

// Run goes on without a connection for as long as it takes.
func TestSelectorNeverGivesUp(t *testing.T) {
	suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
		e := newEnv(t, b)
		r := e.selector("r", framework.WithConnectionTimeout(time.Second))
		heal := r.network.Isolate()
		r.network.Cut()
		r.run()
		for range 3 {
			pass(5 * time.Minute)
			heal()
			term := r.leads()
			heal = r.network.Isolate()
			<-term.ctx.Done()
			term.end <- term.ctx.Err()
		}
		r.close()
		heal()
		e.untilNodes(0)
	})
}

// The error of an operation that fails with its connection does not end Run, whether the loss of the term is
// told before it or later, with either policy. ErrClosed does.
func TestSelectorKeepsStanding(t *testing.T) {
	for name, policy := range map[string]state.ErrorPolicy{"standard": state.StandardErrorPolicy(), "session": state.SessionErrorPolicy()} {
		t.Run(name, func(t *testing.T) {
			suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
				e := newEnv(t, b)
				client, network := b.Client(t, framework.WithErrorPolicy(policy))
				selector, err := leader.NewLeaderSelector(client, e.path)
				if err != nil {
					t.Fatal(err)
				}
				terms, errs := make(chan struct{}, 10), []error{
					&framework.OpError{Op: "setData", Err: framework.ErrConnectionLoss}, framework.ErrSessionExpired, nil, framework.ErrClosed,
				}
				ran := make(chan error, 1)
				go func() {
					ran <- selector.Run(t.Context(), func(context.Context, *locks.Lease) error {
						terms <- struct{}{}
						if len(terms) == 1 {
							network.Cut()
						}
						return errs[len(terms)-1]
					})
				}()
				if err := <-ran; !errors.Is(err, framework.ErrClosed) || len(terms) != len(errs) {
					t.Errorf("Run ended after %d terms: %v", len(terms), err)
				}
			})
		})
	}
}
