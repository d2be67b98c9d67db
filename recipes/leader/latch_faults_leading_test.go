package leader_test

import (
	"context"
	"errors"
	"time"

	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/recipes/locks"
)

// The cells of a latch that leads, that has led until the connection broke, and that steps down.

var leadingCells = map[string]func(c *latchCell){
	"before send": func(c *latchCell) { c.rewatch(suite.CutBefore) },
	"reply lost":  func(c *latchCell) { c.rewatch(suite.CutAfter) },
	"suspended": func(c *latchCell) {
		lease := c.m.leads()
		c.m.network.Cut()
		lost(c.t, lease, locks.LossSuspended)
		c.wantSameNode(lease)
	},
	"session over": func(c *latchCell) {
		lease := c.m.leads()
		c.m.network.Expire(c.t)
		<-lease.Context().Done()
		c.wantNext(lease.Path())
	},
	"lagging": func(c *latchCell) {
		lease := c.m.leads()
		c.m.network.Lag()
		c.m.network.Cut()
		lost(c.t, lease, locks.LossSuspended)
		c.wantSameNode(lease)
	},
	"node deleted": func(c *latchCell) {
		lease := c.m.leads()
		c.remove(lease.Path())
		lost(c.t, lease, locks.LossNodeDeleted)
		c.wantNext(lease.Path())
	},
	"parent deleted": func(c *latchCell) {
		lease := c.m.leads()
		c.remove(c.path)
		lost(c.t, lease, locks.LossNodeDeleted)
	},
	"ctx ends": func(c *latchCell) {
		c.m.close()
		c.step(c.rival)
		c.rival.leads() // it stands again, ahead of m
		c.m = c.member("m")
		ctx, cancel := context.WithCancel(c.t.Context())
		suite.WantErr(c.t, c.m.Start(ctx), nil)
		c.rival.leads()
		c.step(c.rival)
		lease := c.m.leads()
		cancel()
		pass(time.Second)
		suite.WantErr(c.t, lease.Err(), nil)
	},
	"close": func(c *latchCell) {
		lease := c.m.leads()
		c.m.close()
		suite.WantErr(c.t, lease.Err(), locks.ErrReleased)
		c.closed = true
	},
	"close with ended ctx": func(c *latchCell) {
		lease := c.m.leads()
		if err := c.m.Close(ended(c.t)); err != nil { // the server answers in time
			c.t.Error(err)
		}
		suite.WantErr(c.t, lease.Err(), locks.ErrReleased)
		c.closed = true
	},
	"client closed": func(c *latchCell) {
		lease := c.m.leads()
		c.closeClient()
		lost(c.t, lease, locks.LossClosed)
	},
}

// rewatch lets the read meet its fate that sets the watch on the leader's node.
func (c *latchCell) rewatch(fate suite.Fate) {
	c.t.Helper()
	c.m.close()
	c.step(c.rival)
	c.rival.leads()
	c.rival.close()
	c.m, c.rival = c.member("m"), c.member("rival")
	hit := c.m.network.On(jute.OpGetData, fate, nil)
	c.m.start()
	<-hit
	c.m.leads()
	c.rival.start()
	lease := c.m.leads()
	c.remove(lease.Path())
	<-lease.Context().Done()
	c.wantNext(lease.Path())
}

// suspend isolates m, whose lease ends.
func (c *latchCell) suspend() (lease *locks.Lease, heal func()) {
	c.t.Helper()
	lease = c.m.leads()
	heal = c.m.network.Isolate()
	c.m.network.Cut()
	lost(c.t, lease, locks.LossSuspended)
	return lease, heal
}

var suspendedCells = map[string]func(c *latchCell){
	"before send": func(c *latchCell) { c.relist(suite.CutBefore) },
	"reply lost":  func(c *latchCell) { c.relist(suite.CutAfter) },
	"same session": func(c *latchCell) {
		lease, heal := c.suspend()
		pass(time.Second)
		heal()
		c.wantSameNode(lease)
	},
	"session over": func(c *latchCell) {
		lease, heal := c.suspend()
		c.rival.leads()
		heal()
		c.wantNext(lease.Path())
	},
	"lagging": func(c *latchCell) {
		lease, heal := c.suspend()
		c.m.network.Lag()
		heal()
		c.wantSameNode(lease)
	},
	"node deleted": func(c *latchCell) {
		lease, heal := c.suspend()
		c.remove(lease.Path())
		c.rival.leads()
		heal()
		c.wantNext(lease.Path())
	},
	"parent deleted": func(c *latchCell) {
		lease, heal := c.suspend()
		c.remove(c.path)
		c.rival.leads()
		heal()
		c.wantNext(lease.Path())
	},
	"released": func(c *latchCell) { // a lease that has ended already leaves the node
		lease, heal := c.suspend()
		suite.WantErr(c.t, lease.Release(c.t.Context()), locks.ErrLockLost)
		heal()
		c.wantSameNode(lease)
	},
	"close": func(c *latchCell) {
		_, heal := c.suspend()
		c.closeWith(c.soon())
		heal()
	},
	"close with ended ctx": func(c *latchCell) {
		_, heal := c.suspend()
		c.closeWith(ended(c.t))
		heal()
	},
	"client closed": func(c *latchCell) {
		c.suspend()
		c.closeClient()
	},
}

// relist lets the list meet its fate that follows a reconnect.
func (c *latchCell) relist(fate suite.Fate) {
	c.t.Helper()
	lease := c.m.leads()
	hit := c.m.network.On(jute.OpGetChildren2, fate, nil)
	c.m.network.Cut()
	lost(c.t, lease, locks.LossSuspended)
	<-hit
	c.wantSameNode(lease)
}

var leavingCells = map[string]func(c *latchCell){
	"before send":  func(c *latchCell) { c.release(suite.CutBefore, nil) },
	"reply lost":   func(c *latchCell) { c.release(suite.CutAfter, nil) },
	"lagging":      func(c *latchCell) { c.release(suite.CutAfter, c.m.network.Lag) },
	"session over": func(c *latchCell) { c.release(suite.CutBefore, func() { c.m.network.Expire(c.t) }) },
	"suspended": func(c *latchCell) {
		c.release(suite.CutBefore, func() {
			heal := c.m.network.Isolate()
			time.AfterFunc(time.Second, heal)
		})
	},
	"node deleted": func(c *latchCell) {
		node := c.m.leads().Path()
		c.release(suite.Late, func() { c.removeMeanwhile(node) })
	},
	"parent deleted": func(c *latchCell) {
		hit := c.m.network.On(jute.OpDelete, suite.Late, func() { c.removeMeanwhile(c.path) })
		suite.WantErr(c.t, c.m.leads().Release(c.t.Context()), locks.ErrLockLost)
		<-hit
	},
	"ctx ends": func(c *latchCell) {
		lease := c.m.leads()
		heal := c.m.network.Isolate()
		suite.WantErr(c.t, lease.Release(ended(c.t)), locks.ErrReleasePending)
		heal()
		c.wantNext(lease.Path())
	},
	"close": func(c *latchCell) {
		lease := c.m.leads()
		heal := c.m.network.Isolate()
		suite.WantErr(c.t, lease.Release(c.soon()), locks.ErrReleasePending)
		c.closeWith(c.soon())
		heal()
	},
	"close with ended ctx": func(c *latchCell) {
		lease := c.m.leads()
		heal := c.m.network.Isolate()
		suite.WantErr(c.t, lease.Release(c.soon()), locks.ErrReleasePending)
		c.closeWith(ended(c.t))
		heal()
	},
	"client closed": func(c *latchCell) {
		lease := c.m.leads()
		c.m.network.Isolate()
		suite.WantErr(c.t, lease.Release(c.soon()), locks.ErrReleasePending)
		c.closeClient()
	},
}

// release has m step down while its delete meets a fate: the rival leads, and m is behind.
func (c *latchCell) release(fate suite.Fate, then func()) {
	c.t.Helper()
	lease := c.m.leads()
	hit := c.m.network.On(jute.OpDelete, fate, then)
	if err := lease.Release(c.t.Context()); err != nil && !errors.Is(err, locks.ErrLockLost) {
		c.t.Error(err)
	}
	<-hit
	c.wantNext(lease.Path())
}
