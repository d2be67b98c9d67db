package zkconn

import (
	"context"
	"errors"
)

// Close refuses new calls, waits for the answers to those that were sent, closes the
// session at the server and joins every goroutine. When ctx ends first the rest is cut
// off, and the error says that the session was left to its timeout. Close is idempotent.
func (c *Conn) Close(ctx context.Context) error {
	c.mu.Lock()
	if c.end.closed {
		c.mu.Unlock()
		<-c.end.done
		return c.end.err
	}
	c.end.closed = true
	w := c.link.mux
	session := c.session.id
	hadSession := c.session.live()
	if w == nil && c.end.fatal == nil {
		close(c.link.ready)
	}
	c.lease.End()
	c.mu.Unlock()

	driverDone := make(chan struct{})
	go func() {
		defer close(driverDone)
		c.hosts.Stop()
		c.driver.close()
	}()
	if w != nil {
		// The driver's Close waits no longer than a second for the answer, but the driver hangs up as
		// soon as it has it, whenever that is.
		select {
		case <-w.dead:
		case <-ctx.Done():
		}
	}
	c.endLife()
	c.failMuxes()
	<-driverDone
	<-c.driver.ended
	c.failMuxes() // one that was being dialed meanwhile
	c.workers.Wait()
	c.reports.wake()
	<-c.monitorDone
	returned := c.auth.mechanisms.wait(ctx)

	c.mu.Lock()
	c.link.tellDetached(WatchClosed)
	c.persistent.tell(WatchClosed)
	c.link.tell(WatchClosed)
	switch {
	case hadSession && c.closedByServer.Load():
		c.end.sessions.closed = session
	case hadSession:
		c.end.err = &TransportError{Err: ErrConnectionLoss, Detail: errSessionLeft, Sent: true}
	}
	if !returned {
		c.end.err = join(c.end.err, errMechanismLeft)
	}
	close(c.end.done)
	defer c.mu.Unlock()
	return c.end.err
}

var errSessionLeft = errors.New("the server did not confirm the end of the session, which ends by its timeout")

// SessionEnd returns how a session has ended, if that is certain: then its ephemeral nodes are gone, or the
// transaction is on its way that deletes them. If Close was called, or closing says that it will be, the answer
// waits for the end of Close, but not longer than ctx.
func (c *Conn) SessionEnd(ctx context.Context, session int64, closing bool) SessionEnd {
	if closing || c.closing() {
		select {
		case <-c.end.done:
		case <-ctx.Done():
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.end.sessions.of(session)
}

func (c *Conn) failMuxes() {
	c.mu.Lock()
	w, dialed := c.link.mux, c.link.dialed
	c.mu.Unlock()
	if w != nil {
		w.fail(ErrClosed)
		<-w.delivery.done // by another goroutine, perhaps
	}
	if dialed != nil {
		dialed.fail(ErrClosed)
	}
}
