package zkconn

import (
	"context"
	"errors"
)

// Subscribe sets a persistent watch. When it returns nil, the server has set it: the subscription gets
// every later change, or WatchReset if changes may have been missed because the watch had to be set
// again on another connection. When Subscribe fails, the subscription gets no more events. It can be
// given back and subscribed again, but not twice at a time. As with [Conn.Do], a request that was not sent
// when ctx ends is never sent.
func (c *Conn) Subscribe(ctx context.Context, sub *Subscription) error {
	var p patience
	defer p.stop()
	for {
		w, err := c.connected(ctx, 0, false, &p)
		if err != nil {
			return err
		}
		b, err := c.subscribeOn(ctx, w, sub)
		if err != nil {
			return err
		}
		if b == nil { // the connection ends just now, nothing was sent
			select {
			case <-w.dead:
			case <-ctx.Done():
			}
			continue
		}
		err = c.await(ctx, b, w)
		if err == nil {
			err = b.calls[0].Err
		}
		if err != nil {
			c.unsubscribe(sub)
		}
		return err
	}
}

// subscribeOn queues the request for a subscription when it may be under way, or returns nil if the
// connection is dead.
func (c *Conn) subscribeOn(ctx context.Context, w *muxConn, sub *Subscription) (b *batch, err error) {
	if c.cfg.MaxInFlight == 0 {
		return w.subscribe(sub, c.cfg.MaxRequest)
	}
	// The subscription counts from the moment when its request is queued: a turn is waited for ahead of that.
	turn := &batch{done: make(chan struct{})}
	switch err := w.submit(turn); {
	case errors.Is(err, errDead):
		return nil, nil
	case err != nil:
		return nil, err
	}
	if err = c.await(ctx, turn, w); err == nil {
		if ctx.Err() != nil { // both at once
			err = ctxError(ctx, false)
		} else if b, err = w.subscribe(sub, c.cfg.MaxRequest); b != nil {
			return b, nil
		}
	}
	w.leaveGate(turn)
	return nil, err
}

// Unsubscribe gives a subscription back: when it returns, the subscription's function is not called
// anymore. It returns ctx's error if ctx ends before the server has answered. The server's watch ends
// with the connection at the latest.
func (c *Conn) Unsubscribe(ctx context.Context, sub *Subscription) error {
	b := c.unsubscribe(sub)
	if b == nil {
		return nil
	}
	select {
	case <-b.done:
		return nil // answered, or gone with the connection
	case <-ctx.Done():
		return ctxError(ctx, true)
	}
}

// UnsubscribeAsync is Unsubscribe without waiting for the server.
func (c *Conn) UnsubscribeAsync(sub *Subscription) { c.unsubscribe(sub) }

// unsubscribe returns the batch that removes the server's watch, nil if there is none.
func (c *Conn) unsubscribe(sub *Subscription) *batch {
	c.mu.Lock()
	defer c.mu.Unlock()
	w := c.link.mux
	if w == nil {
		c.persistent.remove(sub)
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if !c.persistent.remove(sub) {
		return nil
	}
	// Waiters that relied on the server's watch have none of their own.
	again := w.watches.reset(sub.path)
	call := c.persistent.adjusting(sub.path)
	if w.err != nil || c.unknown.lacks(call.Op) {
		return nil
	}
	b, err := newBatch([]*Call{call}, maxFrame)
	if err != nil {
		return nil // longer than any path that the server has a watch for
	}
	w.requests.add(outgoing{batch: b})
	w.enqueue(again...)
	return b
}
