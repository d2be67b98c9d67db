package locks

import (
	"context"
	"errors"
	"slices"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/zkconn"
)

// park waits until something has happened.
func (c *contender) park(ctx context.Context) {
	select {
	case <-c.vigil.told:
	case <-ctx.Done():
	}
}

// watch sets the watches of a wait. armed is false if it could not, as things are now.
func (c *contender) watch(ctx context.Context) (armed bool, err error) {
	conn, err := c.in.inside.Conn()
	if err != nil {
		return false, err
	}
	if c.vigil == nil {
		c.vigil = &vigil{told: make(chan struct{}, 1)}
	}
	wanted := c.wanted()
	if c.mayWatchTogether(len(wanted)) {
		armed, err := c.watchTogether(ctx, conn, wanted)
		if !errors.Is(err, zkconn.ErrCovered) {
			return armed, err
		}
	}
	return c.watchEach(ctx, conn, wanted)
}

// mayWatchTogether tells whether so many watches may be set together. That the own node's watch
// has not fired must prove that it is there; so its events must not be kept back.
func (c *contender) mayWatchTogether(n int) bool {
	return c.node.Open && !c.in.cfg.plain && !c.vigil.begun() && n <= mostTogether && !c.span.Recording()
}

// wanted is what a wait watches: the own node first and the marker before the node that it
// belongs to, so that, in this order, none of the events that prove something together is
// missed.
func (c *contender) wanted() []watched {
	wanted := []watched{{ownNode, c.node.Path}}
	for i, path := range c.ahead {
		if awaited := c.in.baton.awaited; awaited != nil && awaited(nameOf(path)) {
			beside := marker(path)
			c.ahead[i], path = beside[:len(path)], beside[:len(path)] // in the same memory
			wanted = append(wanted, watched{markerNode, beside})
		}
		wanted = append(wanted, watched{nodeAhead, path})
	}
	return wanted
}

// mostTogether bounds what is watched by one request.
const mostTogether = 100

// watchTogether sets the watches by one request, at one moment. If all who are ahead are
// watched, one of them may be letting go at this time: then the queue is looked at in the same
// write, so that it need not be asked for if he has.
func (c *contender) watchTogether(ctx context.Context, conn *zkconn.Conn, wanted []watched) (armed bool, err error) {
	calls := []*zkconn.Call{c.vigil.together(wanted, c.node.Czxid)}
	var queue jute.GetChildren2Response
	if c.near {
		calls = append(calls, listCall(c.in.full, &queue))
	}
	if err = c.arm(ctx, conn, calls...); err != nil {
		c.vigil.watches = nil
		if errors.Is(err, zkconn.ErrCovered) {
			return false, err
		}
		return false, c.interrupted(ctx, err)
	}
	if err := calls[0].Err; err != nil {
		c.vigil.watches = nil
		return false, c.putOff(ctx, err)
	}
	if !c.vigil.stirred() {
		c.vigil.unread = true
		return true, nil
	}
	// What has fired by now may never have been set: nothing follows from a marker, either.
	if c.near && calls[1].Err == nil {
		c.node.Siblings = queue.Children
	}
	return false, nil
}

// watchEach sets the watches by reading the nodes, all in one write. It learns who is ahead.
func (c *contender) watchEach(ctx context.Context, conn *zkconn.Conn, wanted []watched) (armed bool, err error) {
	reads, idle := c.vigil.set(wanted)
	for _, w := range idle {
		conn.Unwatch(&w.Watch)
	}
	if len(reads) == 0 {
		return true, nil
	}
	calls := make([]*zkconn.Call, len(reads))
	for i, read := range reads {
		calls[i] = read.call
	}
	err = c.arm(ctx, conn, calls...)
	switch settled := c.vigil.settle(reads, err); {
	case err != nil:
		return false, c.interrupted(ctx, err)
	case errors.Is(settled, framework.ErrNoNode):
		return false, nil
	case settled != nil:
		return false, c.putOff(ctx, settled)
	default:
		c.waiting(reads)
		return true, nil
	}
}

// check reads the nodes that are watched unread, when that has lasted for long. Those ahead may
// be somebody's who has forbidden it, and then nobody tells when they go.
func (c *contender) check(ctx context.Context) (again bool, err error) {
	conn, err := c.in.inside.Conn()
	if err != nil || !c.vigil.unread {
		return false, err
	}
	var calls []*zkconn.Call
	for _, w := range c.vigil.watches {
		if w.role != markerNode {
			calls = append(calls, readCall(w.Path()))
		}
	}
	if err := c.arm(ctx, conn, calls...); err != nil {
		return true, c.interrupted(ctx, err)
	}
	for _, call := range calls {
		if call.Err != nil && !errors.Is(call.Err, framework.ErrNoNode) {
			return true, c.putOff(ctx, call.Err)
		}
		again = again || call.Err != nil
	}
	c.vigil.unread = false
	return again, nil
}

// putOff says how to go on after the answer that a watch was not set. It returns nil if that may
// pass, after the pause that the client's retry policy wants: then the queue is looked at again.
func (c *contender) putOff(ctx context.Context, answer error) error {
	if !framework.Retryable(answer) {
		return answer
	}
	return c.in.inside.Retry(ctx, "getChildren", c.in.path, func(context.Context, *zkconn.Conn) error {
		err := answer
		answer = nil
		return err
	})
}

// interrupted says how to go on after a request that was not answered. A lost connection
// is waited for by the look at the queue that follows.
func (c *contender) interrupted(ctx context.Context, err error) error {
	switch {
	case ctx.Err() != nil:
		return ended(ctx)
	case errors.Is(err, framework.ErrSessionExpired):
		return errStartOver
	case framework.Retryable(err):
		return nil
	}
	return err
}

// heard says what the events mean that there were so far: that the contender is let in, or
// that the queue is to be looked at again. The own node is looked at last: while its watch
// has not fired it was there when the others did.
func (c *contender) heard() (in, again bool, err error) {
	in = c.vigil.passed()
	for _, w := range slices.Backward(c.vigil.watches) {
		event := w.fired()
		if err := after(event); err != nil {
			return false, false, err
		}
		if event == 0 {
			continue
		}
		again = true
		if w.role == ownNode {
			in = false
			if event == zkconn.NodeDeleted {
				return false, false, errStartOver
			}
		}
	}
	return in, again, nil
}

// after says how to go on after an event of a watch.
func after(what zkconn.EventType) error {
	switch what {
	case zkconn.WatchSessionLost:
		return errStartOver
	case zkconn.WatchClosed:
		return framework.ErrClosed
	}
	return nil
}

// stop gives back what the contender watches, but for a node ahead that is going.
func (c *contender) stop() {
	c.asleep = false
	if c.warning != nil {
		c.warning.Stop()
		c.warning = nil // it wakes this vigil, and no other
	}
	if c.vigil == nil {
		return
	}
	conn, err := c.in.inside.Conn()
	if err != nil {
		return // closed: there are no watches any more
	}
	passed := c.vigil.passed()
	for _, w := range c.vigil.watches {
		if passed && w.role == nodeAhead {
			continue // its deletion is on the way, in the transaction that made the marker
		}
		conn.Unwatch(&w.Watch)
	}
	c.vigil = nil
}
