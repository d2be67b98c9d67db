package lockqueue

import (
	"context"
	"errors"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/zkclient"
	"github.com/go-curator/curator/internal/zkconn"
	"github.com/go-curator/curator/recipes/internal/watchset"
)

// wait sleeps until a watch fires, and says what that means.
func (c *Contender) wait(ctx context.Context) (phase, error) {
	select {
	case <-c.watches.C():
	case <-ctx.Done():
	}
	return c.woken(ctx)
}

func (c *Contender) woken(ctx context.Context) (phase, error) {
	if ctx.Err() != nil {
		return restart, zkclient.ContextError(ctx)
	}
	next, err := c.classify()
	if c.recheckDue.Swap(false) && next == wait && err == nil {
		return c.reread(ctx)
	}
	return next, err
}

// classify says what the events so far mean (rules 3, 4, 6 and 8). The watch on the own node is
// looked at last: as long as it is silent, the node existed when the other events came.
func (c *Contender) classify() (phase, error) {
	next := wait
	if c.changed.Swap(false) {
		next = look
	}
	if released(c.watches) || c.nextIsIn() {
		next = grant
	}
	ownGone := false
	for w := range c.watches.Backward() {
		switch event := w.Fired(); {
		case event == 0:
		case event == zkconn.WatchSessionLost:
			return restart, nil
		case event == zkconn.WatchClosed:
			return restart, framework.ErrClosed
		case w.Tag == ownNode && event == zkconn.NodeDeleted:
			ownGone = true
		case w.Tag == ownNode: // new data, or a new connection
			next = look
		case next != grant:
			next = look
		}
	}
	if ownGone {
		return restart, nil
	}
	return next, nil
}

// reread reads the nodes whose watches were set without a read, once the wait has lasted for
// recheckAfter.
func (c *Contender) reread(ctx context.Context) (phase, error) {
	conn, err := c.spec.Client.Conn()
	if err != nil {
		return restart, err
	}
	if !c.unread {
		return wait, nil
	}
	var calls []*zkconn.Call
	for w := range c.watches.Backward() {
		if w.Tag != marker {
			calls = append(calls, watchset.ReadCall(w.Want, nil))
		}
	}
	if err := c.send(ctx, conn, calls...); err != nil {
		return c.afterNoAnswer(ctx, err)
	}
	next := wait
	for _, call := range calls {
		switch {
		case errors.Is(call.Err, framework.ErrNoNode):
			next = look
		case call.Err != nil:
			return c.afterRefusal(ctx, call.Err)
		}
	}
	c.unread = false
	return next, nil
}

// endWait gives back the watches (rule 9). The watch on a node ahead whose release is known is
// left: its event is on the way.
func (c *Contender) endWait() {
	if c.recheck != nil {
		c.recheck.Stop()
		c.recheck = nil
	}
	conn, err := c.spec.Client.Conn()
	if err != nil {
		return // the client is closed, and its watches are gone
	}
	known := released(c.watches)
	c.watches.Close(conn, func(w *watchset.Watch) bool { return known && w.Tag == nodeAhead })
}
