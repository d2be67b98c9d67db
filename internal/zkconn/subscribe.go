package zkconn

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"
)

// Subscribe sets a persistent watch. When it returns nil, the server has set it: the subscription gets
// every later change, or WatchReset if changes may have been missed because the watch had to be set
// again on another connection. When Subscribe fails, the subscription gets no more events. It can be
// given back and subscribed again, but not twice at a time.
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
				continue
			case <-ctx.Done():
				return ctxError(ctx, false)
			}
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
		if b, err = w.subscribe(sub, c.cfg.MaxRequest); b != nil {
			return b, nil
		}
	}
	w.giveUp(turn)
	return nil, err
}

// giveUp lets another batch take the turn of one that was not used.
func (w *muxConn) giveUp(turn *batch) {
	w.mu.Lock()
	if !turn.waits {
		w.requests.gate.leave(turn)
	}
	told := w.err == nil && w.admitNext()
	w.mu.Unlock()
	if told {
		w.delivery.run()
	}
}

// subscribe queues the request for a subscription, of limit bytes at most, or returns nil if the
// connection is dead. With Config.MaxInFlight the caller has a turn, which the request takes over.
func (w *muxConn) subscribe(sub *Subscription, limit int) (*batch, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err != nil || w.writeFailed {
		return nil, nil
	}
	w.watches.persistent.add(sub)
	b, err := newBatch([]*Call{w.watches.persistent.adjusting(sub.path)}, limit)
	if err != nil {
		w.watches.persistent.remove(sub)
		return nil, err
	}
	b.calls[0].Session, b.gated = w.session, w.requests.gate.limit > 0
	w.enqueueFrame(outgoing{batch: b})
	return b, nil
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
	w := c.mux
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
	if w.err != nil {
		return nil
	}
	b, err := newBatch([]*Call{c.persistent.adjusting(sub.path)}, maxFrame)
	if err != nil {
		return nil // longer than any path that the server has a watch for
	}
	w.enqueueFrame(outgoing{batch: b})
	w.enqueue(again...)
	return b
}

// Unwatch gives a watch back. For a watch that has fired it does nothing. After Unwatch has returned,
// the watch's function is not called.
func (c *Conn) Unwatch(watch *Watch) {
	c.mu.Lock()
	defer c.mu.Unlock()
	watch.over.Store(true)
	if table := watch.setIn.Load(); table != nil {
		table.unwatch(watch)
	}
}

// Observe calls fn when a connection has ended or begins: with WatchSuspended when the connection in
// use has ended, and with WatchReset before any reply or event of the next one. Replies that fail with
// a connection come between the two. WatchClosed is the last event: the client is closed. fn is called
// with locks of this package held: it must only pass the event on. connected tells whether there is a
// connection now; if not, the first one is reported by WatchReset.
func (c *Conn) Observe(fn func(EventType)) (o *Observer, connected bool) {
	o = &Observer{fn}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.observers.all == nil {
		c.observers.all = map[*Observer]struct{}{}
	}
	c.observers.all[o] = struct{}{}
	return o, c.mux != nil
}

// Unobserve removes an observer: when it returns, its function is not called any more.
func (c *Conn) Unobserve(o *Observer) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.observers.all, o)
}

// Listen calls fn for every event from now on, as Config.OnEvent is called, and behind it. server is the one in use
// now, "" without a connection.
func (c *Conn) Listen(fn func(Event)) (l *Listener, server string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	l = &Listener{fn: fn, skip: len(c.events)}
	c.observers.listeners = append(c.observers.listeners, l)
	if c.mux != nil {
		server = c.mux.server
	}
	return l, server
}

// Unlisten removes a listener. Events that are just delivered may still be told.
func (c *Conn) Unlisten(l *Listener) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.observers.listeners = slices.DeleteFunc(slices.Clone(c.observers.listeners), func(other *Listener) bool {
		return other == l
	})
}

// unreachable is how long a clean-up waits without a connection.
const unreachable = 5 * time.Second

// servesReadsOnly reports whether the connection in use is to a server without a quorum.
func (c *Conn) servesReadsOnly() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.mux != nil && c.mux.readOnly
}

// Reachable returns a copy of ctx for a clean-up: it also ends, with ErrConnectionLoss, when there has been
// no connection for 5 s, now or later, or only one to a server without a quorum, which deletes nothing. A
// clean-up must not wait for servers that do not come back.
func (c *Conn) Reachable(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	alone := time.AfterFunc(unreachable, func() {
		cancel(&TransportError{Err: ErrConnectionLoss, Detail: c.lastError()})
	})
	var mu sync.Mutex
	told := false
	observer, connected := c.Observe(func(e EventType) {
		mu.Lock()
		defer mu.Unlock()
		told = true
		switch e {
		case WatchSuspended:
			alone.Reset(unreachable)
		case WatchReset:
			if !c.mux.readOnly { // c.mu is held
				alone.Stop()
			}
		case WatchClosed: // without a client everything ends by itself
			alone.Stop()
		}
	})
	connected = connected && !c.servesReadsOnly()
	mu.Lock()
	defer mu.Unlock()
	if connected && !told { // else the connection may be gone already
		alone.Stop()
	}
	return ctx, func() {
		c.Unobserve(observer)
		alone.Stop()
		cancel(nil)
	}
}
