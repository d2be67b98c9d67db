package zkconn

import (
	"context"
)

// Close refuses new calls, waits for the answers to those that were sent, closes the
// session at the server and joins every goroutine. When ctx ends first the rest is cut
// off, and the error says that the session was left to its timeout. Close is idempotent.
func (c *Conn) Close(ctx context.Context) error {
	c.mu.Lock()
	if c.closed {
		c.mu.Unlock()
		<-c.closeDone
		return c.closeErr
	}
	c.closed = true
	w := c.mux
	session := c.session.id
	hadSession := session != 0 && !c.session.over
	if w == nil && c.fatal == nil {
		close(c.ready)
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
	c.failWires()
	<-driverDone
	<-c.driver.ended
	c.failWires() // one that was being dialed meanwhile
	c.workers.Wait()
	c.wakeMonitor()
	<-c.monitorDone
	returned := c.mechanisms.wait(ctx)

	c.mu.Lock()
	c.fireDetached(WatchClosed)
	c.persistent.tell(WatchClosed)
	c.observers.tell(WatchClosed)
	switch {
	case hadSession && c.closedByServer.Load():
		c.ended.closed = session
	case hadSession:
		c.closeErr = &TransportError{Err: ErrConnectionLoss, Detail: errSessionLeft, Sent: true}
	}
	if !returned {
		c.closeErr = join(c.closeErr, errMechanismLeft)
	}
	close(c.closeDone)
	defer c.mu.Unlock()
	return c.closeErr
}

// SessionEnd returns how a session has ended, if that is certain: then its ephemeral nodes are gone, or the
// transaction is on its way that deletes them. If Close was called, or closing says that it will be, the answer
// waits for the end of Close, but not longer than ctx.
func (c *Conn) SessionEnd(ctx context.Context, session int64, closing bool) SessionEnd {
	if closing || c.closing() {
		select {
		case <-c.closeDone:
		case <-ctx.Done():
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.ended.of(session)
}

func (c *Conn) failWires() {
	c.mu.Lock()
	w, dialed := c.mux, c.dialed
	c.mu.Unlock()
	if w != nil {
		w.fail(ErrClosed)
		<-w.delivery.done // by another goroutine, perhaps
	}
	if dialed != nil {
		dialed.fail(ErrClosed)
	}
}
