package zkclient

import (
	"context"
	"errors"
	"time"

	"github.com/go-curator/curator/internal/zkconn"
)

// Open connects the client, whose life then begins. It succeeds once, and is not called again then.
func (c *Client) Open(ctx context.Context, cfg zkconn.Config) (*zkconn.Conn, error) {
	cfg.OnLoss = c.onLoss
	conn, err := zkconn.Open(ctx, cfg)
	if err != nil {
		return nil, err
	}
	c.life, c.endLife = context.WithCancel(context.WithoutCancel(ctx))
	c.conn.Store(conn)
	return conn, nil
}

// Refuse makes the client refuse new work, once and for all. It is called ahead of Close, also for a client
// that was never opened. When it returns, the recipes know.
func (c *Client) Refuse() {
	close(c.closing)
	c.tellClosed()
	close(c.ended)
}

// Refusing returns a channel that is closed at the end of Refuse.
func (c *Client) Refusing() <-chan struct{} { return c.ended }

// tellClosed tells the recipes that the client is closed, once. When it returns they know: an operation must not
// be refused while a lease is believed.
func (c *Client) tellClosed() {
	c.ending.Do(func() { c.losses.fire(Loss{Kind: LossClosed}) })
}

// isClosing reports whether Refuse was called.
func (c *Client) isClosing() bool {
	select {
	case <-c.closing:
		return true
	default:
		return false
	}
}

// Close ends an opened client in the order in which things depend on each other. Each part takes until ctx
// ends or, when it has ended, the time of maxWait. events waits for those of the connection to be passed on.
func (c *Client) Close(ctx context.Context, maxWait time.Duration, events func(context.Context)) error {
	conn := c.conn.Load()
	ctx, stop := Bounded(ctx, maxWait)
	defer stop()
	ctx, alone := conn.Reachable(ctx)
	defer alone()
	left := c.finish(ctx)
	ctx, cancel := Bounded(ctx, maxWait) // the server is told all the same
	defer cancel()
	awaitServer(ctx, conn, maxWait)
	closed := conn.Close(ctx)
	events(ctx) // what was told before is in the queues of the watchers
	return errors.Join(left, closed, c.join(ctx, maxWait))
}

// awaitServer gives a client that is just reconnecting the time to close its session,
// which would otherwise keep its ephemeral nodes until its timeout.
func awaitServer(ctx context.Context, conn *zkconn.Conn, maxWait time.Duration) {
	if id, _ := conn.Session(); id != 0 {
		ctx, cancel := context.WithTimeout(ctx, maxWait)
		defer cancel()
		_ = conn.Ready(ctx) // if not, Close says that the session is left
	}
}

// OnLoss calls fn when a session is lost or in doubt, before a call of the client fails because of that.
// It may be called on any goroutine, and must neither block nor wait for a call. Those that were set
// earlier are called first. node is the path of the lock's node that is held, or "". remove does not
// wait for a call that is running.
func (c *Client) OnLoss(node string, fn func(Loss)) (remove func()) {
	return c.losses.add(c.conn.Load(), node, fn)
}

// Held returns the nodes of OnLoss, sorted: one for every lock that is held, or is about to be.
func (c *Client) Held() []string { return c.losses.held() }

// SessionEnd returns how a session of this client has ended, if that is certain. While the client is
// being closed it waits for the end of that, but not longer than ctx. It must not be called by what Close
// waits for: a function of Go.
func (c *Client) SessionEnd(ctx context.Context, session int64) zkconn.SessionEnd {
	conn := c.conn.Load()
	if conn == nil {
		return zkconn.SessionMayLive
	}
	return conn.SessionEnd(ctx, session, c.isClosing())
}

// onLoss tells the recipes what they can no longer rely on. It may be called on any goroutine.
func (c *Client) onLoss(e zkconn.Event) {
	switch e.Kind {
	case zkconn.StateChanged:
		if e.Session != 0 && c.cfg.ErrorPolicy.IsErrorState(e.State) { // without a session nothing is held
			c.losses.fire(Loss{Kind: LossSuspended, Session: e.Session})
		}
	case zkconn.DeadlinePassed:
		c.losses.fire(Loss{Kind: LossDeadline, Session: e.Session})
	case zkconn.SessionEnded:
		c.losses.fire(Loss{Kind: LossSession, Session: e.Session, Err: e.Err})
	}
}
