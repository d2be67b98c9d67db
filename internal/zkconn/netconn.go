package zkconn

import (
	"net"
	"time"
)

// The rest of what makes a muxConn a net.Conn.
var _ net.Conn = (*muxConn)(nil)

// LocalAddr returns the connection's local address.
func (m *muxConn) LocalAddr() net.Addr { return m.raw.LocalAddr() }

// RemoteAddr returns the connection's remote address.
func (m *muxConn) RemoteAddr() net.Addr { return m.raw.RemoteAddr() }

// SetDeadline does nothing: the connection has deadlines of its own, tighter than the driver's.
func (m *muxConn) SetDeadline(time.Time) error { return nil }

// SetReadDeadline does nothing, as SetDeadline.
func (m *muxConn) SetReadDeadline(time.Time) error { return nil }

// SetWriteDeadline does nothing, as SetDeadline.
func (m *muxConn) SetWriteDeadline(time.Time) error { return nil }
