package zkconn

import (
	"net"
	"time"
)

// Close closes the connection, as the driver asks for.
func (m *muxConn) Close() error {
	m.fail(net.ErrClosed)
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.driver.stub != nil {
		return m.driver.stub.Close()
	}
	return nil
}

// fail ends the connection: what was sent is in doubt, what was not is free to be sent again. Those who rely
// on the connection are told before the calls end.
func (m *muxConn) fail(err error) {
	if !m.stop(err) {
		return
	}
	if hungUp(err) {
		m.noteUnanswered()
	}
	m.owner.died(m, err)
	m.endCalls(err)
	m.delivery.end()
	// This ends reads and writes at once. The writer closes the connection, which for TLS
	// may take seconds.
	_ = m.raw.SetDeadline(time.Unix(1, 0))
}

// noteUnanswered notes which requests the server has not answered.
func (m *muxConn) noteUnanswered() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.shared.unknown.onEnd(m.requests.pending.waiting())
}

// stop has the connection take and give nothing from now on. It reports whether it was in use.
func (m *muxConn) stop(err error) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.err != nil {
		return false
	}
	m.err = err
	return true
}

// endCalls ends all calls that wait, with an error for those that were sent and one for those that were not.
func (m *muxConn) endCalls(err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	close(m.dead)
	m.endCounts(!isRefusal(err), hungUp(err))
	why := fromServer(m.place(), err)
	for _, then := range m.requests.drain(
		&TransportError{Err: ErrConnectionLoss, Detail: why, Sent: !isRefusal(err)},
		&TransportError{Err: ErrConnectionLoss, Detail: why}) {
		if then != nil {
			m.delivery.add(then)
		}
	}
}

// endCounts counts the ephemeral nodes that calls may have created that get no answer. sent says that the server may have
// done what was sent, closed that it has closed the connection. m.mu is held.
func (m *muxConn) endCounts(sent, closed bool) {
	for _, p := range m.requests.pending.waiting() {
		switch {
		case p.batch == nil:
		case p.batch.counts:
			m.shared.ephemerals.uncounted(p.call().Session, sent && closed)
		case p.batch.ephemeral > 0 && sent:
			m.shared.ephemerals.lost(p.call())
		}
	}
	for _, o := range m.requests.outgoing {
		if o.batch != nil && o.batch.counts {
			m.shared.ephemerals.uncounted(o.batch.calls[0].Session, false)
		}
	}
}

// LocalAddr returns the connection's local address.
func (m *muxConn) LocalAddr() net.Addr { return m.raw.LocalAddr() }

// RemoteAddr returns the connection's remote address.
func (m *muxConn) RemoteAddr() net.Addr { return m.raw.RemoteAddr() }
