package lockqueue

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/go-curator/curator/internal/layout"
	"github.com/go-curator/curator/internal/zkconn"
	"github.com/go-curator/curator/recipes/internal/ephemeral"
	"github.com/go-curator/curator/recipes/internal/watchset"
)

// maxTogether bounds how many watches one request sets.
const maxTogether = 100

// wants returns the watches of the wait. The own node comes first, and a marker before its node. In
// this order no event is missed of those that prove something only together (rule 2).
func (c *Contender) wants() []watchset.Want {
	if c.ahead.children {
		return []watchset.Want{
			{Path: c.spec.FullDir, Kind: watchset.Children, Tag: children},
			{Path: c.spec.Guard.Path(), Tag: guardNode},
		}
	}
	wants := make([]watchset.Want, 1, 1+2*len(c.ahead.nodes))
	wants[0] = watchset.Want{Path: c.last().Path, Tag: ownNode}
	for _, path := range c.ahead.nodes {
		if !c.ahead.isNext && c.spec.Rules.Marks(Name(path)) {
			wants = append(wants, watchset.Want{Path: layout.ReleaseMarker(path), Kind: watchset.Exists, Tag: marker})
		}
		wants = append(wants, watchset.Want{Path: path, Tag: nodeAhead})
	}
	return wants
}

// arm sets the watches of the wait: by one request, or by reading each node.
func (c *Contender) arm(ctx context.Context) (phase, error) {
	if len(c.ahead.nodes) == 0 && !c.ahead.children {
		return restart, ErrNothingToWatch
	}
	conn, err := c.spec.Client.Conn()
	if err != nil {
		return restart, err
	}
	c.place.waited = true
	wants := c.wants()
	if c.mayArmTogether(len(wants)) {
		next, err := c.armTogether(ctx, conn, wants)
		if !notTogether(err) {
			return next, err
		}
	}
	return c.armByReading(ctx, conn, wants)
}

// mayArmTogether reports whether n watches may be set without reading the nodes. A silent watch
// on the own node must prove that the node exists, so the server must not keep its events from
// us: the node must be open to everybody. A node whose watch has fired has to be read.
func (c *Contender) mayArmTogether(n int) bool {
	return !c.ahead.children && c.last().Open && !c.spec.Plain && c.watches.OnlyReset() && n <= maxTogether && !c.spec.Owned.Span.Recording()
}

// armTogether sets the watches by one request, at one moment. When all nodes ahead are watched,
// one of their holders may be releasing just now. So the queue is listed in the same write, and
// need not be listed later if that has happened. A contender that is next needs no list.
func (c *Contender) armTogether(ctx context.Context, conn *zkconn.Conn, wants []watchset.Want) (phase, error) {
	calls := []*zkconn.Call{c.watches.ArmTogether(wants, c.last().Czxid)}
	if c.ahead.all && !c.ahead.isNext {
		calls = append(calls, zkconn.List(c.spec.FullDir, nil))
	}
	if err := c.send(ctx, conn, calls...); err != nil {
		c.watches.Forget()
		if notTogether(err) {
			return look, err
		}
		return c.afterNoAnswer(ctx, err)
	}
	if err := calls[0].Err; err != nil {
		c.watches.Forget()
		return c.afterRefusal(ctx, err)
	}
	if !c.watches.AnyFired() {
		return c.sleep(true)
	}
	if c.ahead.isNext {
		return c.classify()
	}
	// A watch that has fired by now may never have been set, so even a marker proves nothing.
	if c.ahead.all && calls[1].Err == nil {
		c.place.names = calls[1].Names()
	}
	return look, nil
}

// notTogether tells whether several watches cannot be set by one request: because one would take the place of a persistent
// watch, or because the servers are ClickHouse Keepers.
func notTogether(err error) bool {
	return errors.Is(err, zkconn.ErrPersistentWatch) || errors.Is(err, zkconn.ErrUnimplemented)
}

// armByReading sets the watches by reading the nodes, all in one write.
func (c *Contender) armByReading(ctx context.Context, conn *zkconn.Conn, wants []watchset.Want) (phase, error) {
	reads, idle := c.watches.ArmByReading(wants)
	unread := c.recheck.unread && len(reads) < len(wants) // some watches are kept that were set without a read
	for _, w := range idle {
		conn.Unwatch(&w.Watch)
	}
	if len(reads) == 0 {
		return c.sleep(unread)
	}
	calls := make([]*zkconn.Call, len(reads))
	for i, read := range reads {
		calls[i] = read.Call
	}
	if err := c.send(ctx, conn, calls...); err != nil {
		for _, read := range reads {
			c.watches.Keep(read, false)
		}
		return c.afterNoAnswer(ctx, err)
	}
	next, err := wait, error(nil)
	for _, read := range reads {
		next, err = c.answered(read, next, err)
	}
	switch {
	case next == restart, err == nil && next != wait:
		return next, nil
	case errors.Is(err, ErrGuardGone):
		return restart, err
	case err != nil:
		return c.afterRefusal(ctx, err)
	}
	c.reportWaiting(reads)
	return c.sleep(unread)
}

// answered handles the answer to one read that sets a watch. next and err are the result of the
// answers before it. A missing own node outweighs them all, and an error outweighs a node ahead
// that is missing.
func (c *Contender) answered(read watchset.Read, next phase, err error) (phase, error) {
	missing := errors.Is(read.Call.Err, zkconn.ErrNoNode)
	set := read.Call.Err == nil || missing && read.Tag == marker
	c.watches.Keep(read, set)
	switch {
	case set && read.Tag == ownNode:
		c.place.ownRead = ephemeral.ContentOf(read.Call)
	case set && read.Tag == children:
		names := read.Call.Names()
		if !slices.Equal(slices.Sorted(slices.Values(names)), c.ahead.decidedOn) {
			c.place.names = names
			return look, err
		}
	case set:
	case !missing:
		return next, cmp.Or(err, read.Call.Err)
	case read.Tag == ownNode, read.Tag == children:
		return restart, err
	case read.Tag == guardNode:
		return next, cmp.Or(err, ErrGuardGone)
	case next == wait:
		return look, err
	}
	return next, err
}

// reportWaiting tells telemetry whose nodes are ahead.
func (c *Contender) reportWaiting(reads []watchset.Read) {
	if !c.spec.Owned.Span.Recording() {
		return
	}
	var nodes [][]byte
	mine := false
	for _, read := range reads {
		if stat := read.Call.Stat(); stat != nil && read.Tag == nodeAhead {
			nodes = append(nodes, read.Call.Data())
			mine = mine || stat.EphemeralOwner == c.last().Session
		}
	}
	c.spec.Owned.Span.Waiting(mine, nodes...)
}
