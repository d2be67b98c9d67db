package zkconn

import "net"

// LocalAddr returns the connection's local address.
func (m *muxConn) LocalAddr() net.Addr { return m.raw.LocalAddr() }

// RemoteAddr returns the connection's remote address.
func (m *muxConn) RemoteAddr() net.Addr { return m.raw.RemoteAddr() }
