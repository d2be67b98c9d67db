package ephemeral

import (
	"context"
	"errors"
	"time"

	"github.com/go-curator/curator/internal/wait"
	"github.com/go-curator/curator/internal/zkclient"
	"github.com/go-curator/curator/internal/zkconn"
	"github.com/go-curator/curator/recipes/internal/watchset"
)

// Watch keeps a watch on the node from now on, because others may delete the node, or ask for
// the lock by changing its data. set is a watch that the contender has set on the node, and
// read is what the read that set it has shown; both may be missing. Without a watch Watch
// sets one after Config.WatchAfter.
//
// A node has one watch. A second watch is given back.
func (n *Node) Watch(set *watchset.Watch, read Content) {
	first := n.startWatch(set == nil)
	switch {
	case set == nil:
	case !first:
		if conn, err := n.cfg.Client.Conn(); err == nil {
			conn.Unwatch(&set.Watch)
		}
	default:
		if fired := set.HandTo(n.onEvent); !fired && read.changed != 0 { // after an event the node is read again
			n.keepData(read)
			n.tellData()
		}
	}
}

// startWatch reports whether the node was not watched before. With read it has the node read,
// and the watch set, later.
func (n *Node) startWatch(read bool) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.phase != owned || n.watch.started {
		return false
	}
	n.watch.started = true
	if read {
		n.watch.timer = time.AfterFunc(n.cfg.WatchAfter, func() { n.cfg.Client.Go(n.readAndWatch) })
	}
	return true
}

// readAndWatch reads the node and sets the watch. It tries again until it has an answer,
// because without the watch nobody notices that an operator deletes the node.
func (n *Node) readAndWatch(ctx context.Context) {
	conn, err := n.cfg.Client.Conn()
	if err != nil {
		return
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	first, ok := n.startRead(cancel)
	if !ok {
		return
	}
	if err = conn.Ready(ctx); err != nil {
		return
	}
	ctx, traced := n.cfg.Span.Watch(ctx, conn, n.Path(), first)
	tries := 0
	defer func() {
		if errors.Is(err, context.Canceled) {
			err = nil // the node is being deleted, and need not be watched
		}
		traced.End(tries, err)
	}()
	pace := wait.Pace{First: 10 * time.Millisecond, Most: time.Second}
	err = zkclient.RetryForever(ctx, conn, pace, mayWatch, func(ctx context.Context) error {
		tries++
		return n.tryToWatch(ctx, conn)
	})
	n.endRead(ctx, err)
}

// mayWatch reports whether another read may set the watch that one has not set.
func mayWatch(err error) bool {
	return zkclient.Retryable(err) && !errors.Is(err, zkconn.ErrSessionExpired)
}

// endRead takes note of the answer that will not change.
func (n *Node) endRead(ctx context.Context, err error) {
	switch {
	case err == nil, ctx.Err() != nil, errors.Is(err, zkconn.ErrSessionExpired), errors.Is(err, zkconn.ErrClosed):
	case errors.Is(err, zkconn.ErrAuthFailed): // all operations say so
	case errors.Is(err, zkconn.ErrNoNode):
		n.loseDeleted()
	case n.cfg.Unwatched != nil:
		n.cfg.Unwatched(err)
	}
}

// tryToWatch sends one read that sets the watch.
func (n *Node) tryToWatch(ctx context.Context, conn *zkconn.Conn) error {
	own := watchset.NewOwned(watchset.Want{Path: n.Path()}, n.onEvent)
	call := watchset.ReadCall(own.Want, &own.Watch)
	if err := conn.Do(ctx, n.Session(), call); err != nil {
		return err
	}
	if call.Err != nil {
		return call.Err
	}
	if !n.keepData(ContentOf(call)) {
		conn.Unwatch(&own.Watch)
	}
	n.tellData()
	return nil
}

// startRead reports whether the node is still to be watched, and whether this is the first
// read. stop is called when the node is deleted.
func (n *Node) startRead(stop context.CancelFunc) (first, ok bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.phase != owned {
		return false, false
	}
	n.watch.stopRead = stop
	first, n.watch.read = !n.watch.read, true
	return first, true
}

// onEvent gets the event of the watch. Usually it is the node's deletion by its holder.
func (n *Node) onEvent(e zkconn.WatchEvent) {
	n.mu.Lock()
	over := n.phase != owned
	if !over && e.Type == zkconn.NodeDeleted {
		if n.by.running {
			n.by.missing, over = true, true
		} else {
			n.phase = gone // from now on nobody else can hold it
		}
	}
	n.mu.Unlock()
	if over {
		return
	}
	switch e.Type {
	case zkconn.NodeDeleted:
		n.cfg.Client.Go(func(context.Context) { n.loseGone() })
	case zkconn.NodeDataChanged, zkconn.WatchReset:
		n.cfg.Client.Go(n.readAndWatch)
	}
}
