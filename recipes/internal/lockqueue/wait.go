package lockqueue

import (
	"context"
	"errors"
	"time"

	"github.com/go-curator/curator/internal/zkclient"
	"github.com/go-curator/curator/internal/zkconn"
	"github.com/go-curator/curator/recipes/internal/watchset"
)

// recheckAfter is when a wait reads the nodes that were not read when their watches were set.
// The server sends no events of a node that we may not read, so a wait behind such a node would
// never end.
const recheckAfter = 10 * time.Second

// sleep starts the wait.
func (c *Contender) sleep(unread bool) (phase, error) {
	if c.recheck.unread = unread; !unread {
		return wait, nil
	}
	if c.recheck.timer != nil {
		c.recheck.timer.Reset(recheckAfter)
		return wait, nil
	}
	set := c.watches
	c.recheck.timer = time.AfterFunc(recheckAfter, func() {
		c.recheck.due.Store(true)
		set.Wake()
	})
	return wait, nil
}

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
	if c.recheck.due.Swap(false) && next == wait && err == nil {
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
		next = first
	}
	ownGone := false
	for w := range c.watches.Backward() {
		switch event := w.Fired(); {
		case event == 0:
		case event == zkconn.WatchSessionLost:
			return restart, nil
		case event == zkconn.WatchClosed:
			return restart, zkconn.ErrClosed
		case w.Tag == ownNode && event == zkconn.NodeDeleted:
			ownGone = true
		case w.Tag == ownNode: // new data, or a new connection
			next = look
		case next != first:
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
	if !c.recheck.unread {
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
		case errors.Is(call.Err, zkconn.ErrNoNode):
			next = look
		case call.Err != nil:
			return c.afterRefusal(ctx, call.Err)
		}
	}
	c.recheck.unread = false
	return next, nil
}

// endWait gives back the watches (rule 9). The watch on a node ahead whose release is known is
// left: its event is on the way.
func (c *Contender) endWait() {
	if c.recheck.timer != nil {
		c.recheck.timer.Stop()
		c.recheck.timer = nil
	}
	conn, err := c.spec.Client.Conn()
	if err != nil {
		return // the client is closed, and its watches are gone
	}
	known := released(c.watches)
	c.watches.Close(conn, func(w *watchset.Watch) bool { return known && w.Tag == nodeAhead })
}

// The release marker tells the waiter right behind a holder that the holder has released, so
// that the waiter is granted without another look at the queue (rules 3, 5 and 6).
//
// A holder of an exclusive lock releases with one transaction: it creates the marker beside its
// own node, deletes the marker, and deletes its own node. No list ever shows the marker, but a
// client with an exists watch on the marker's path, [layout.ReleaseMarker], gets NodeCreated.
//
// Why this proves that the waiter is next:
//   - The holder was first, and stays first until its node is deleted.
//   - The transaction is applied only while the holder's node exists. So at that moment nobody
//     else was ahead of the waiter, which watches the nearest node ahead of it that counts.
//   - Only a release creates a marker. A deletion alone proves nothing: a waiter that gives up
//     deletes its node, too.
//   - The waiter's own node exists: its watch was set before, and has not fired.
//   - The event came on the session that owns the waiter's node. When a session ends, its
//     watches end with another event.
//
// These releases must not have a marker:
//   - that of a reader, or of one of several leases: it says nothing about the other holders;
//   - that of a writer that was downgraded: the reader has taken its place;
//   - that of a waiter that gives up: it was not first.
//
// A change of the holder's data would not do instead of a marker, because a request to revoke
// the lock changes the data, too.
//
// A holder that never waited writes no marker (rule 6), because usually nobody waits behind it. A
// contender that is next needs none: see below.

// released reports whether the holder right ahead has released.
func released(set *watchset.Set) bool {
	for w := range set.Backward() {
		if w.Tag == marker && w.Fired() == zkconn.NodeCreated {
			return true
		}
	}
	return false
}

// A contender that has one node ahead is next: when that node is gone it is first, and need not
// list the queue again (rule 6). So it does not watch the marker, and does not list in the write
// that sets its watches. This saves two clients that compete for one lock a quarter of their
// requests.
//
// Why the end of the node ahead proves that the contender is first:
//   - The list was made after the contender's node. So it showed all nodes with lower numbers,
//     and no node gets a lower number later. Decision.Next excludes what else could take the
//     place of the node ahead: the reader that a writer was downgraded to.
//   - The contender's own node exists: its watch was set before, or in the same request, and has
//     not fired.
//   - The node ahead is not of the contender's own session. When a session ends all of its nodes
//     go, and the event of the node ahead could come before that of the own node.
//
// How the node ahead ended does not matter: by a release, by its session, or by an operator. If
// an operator's transaction deletes both nodes, the contender may be let in for the moment until
// the event of its own node arrives.

// nextIsIn reports whether the contender is next and the node ahead of it is gone.
func (c *Contender) nextIsIn() bool {
	if !c.ahead.isNext {
		return false
	}
	for w := range c.watches.Backward() {
		if w.Tag == nodeAhead && w.Fired() == zkconn.NodeDeleted {
			return true
		}
	}
	return false
}
