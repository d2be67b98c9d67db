package ui

import (
	"context"
	"crypto/tls"
	"net"
	"net/netip"
	"slices"
	"sync"
)

const (
	maxStrangers   = 256 // the maximum number of connections without a login
	maxFromAddress = 64  // of them from one address
	maxSignedIn    = 256 // the maximum number of connections with a login
)

// limited limits the number of open connections. Everybody can open connections without a login, so a
// further one closes an older one of them instead of being refused: who keeps connections open keeps
// nobody out. Only these are counted by address, because all users may have the address of a proxy.
type limited struct {
	net.Listener

	mu        sync.Mutex
	strangers []*counted // the connections without a login, the oldest first
	signedIn  int        // the number of connections with a login
}

// Accept returns the next connection.
func (l *limited) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	c := &counted{Conn: conn, listener: l, address: groupOf(conn.RemoteAddr().String())}
	if old := l.add(c); old != nil {
		_ = old.Close()
	}
	return c, nil
}

// add adds a connection without a login. It returns the connection that must be closed for it, nil for
// none: the oldest at the same address if they are too many, otherwise the oldest of all.
func (l *limited) add(c *counted) (old *counted) {
	l.mu.Lock()
	defer l.mu.Unlock()
	same := 0
	for _, other := range l.strangers {
		if other.address == c.address {
			if same++; old == nil {
				old = other
			}
		}
	}
	switch {
	case same >= maxFromAddress:
	case len(l.strangers) >= maxStrangers:
		old = l.strangers[0]
	default:
		old = nil
	}
	l.remove(old)
	l.strangers = append(l.strangers, c)
	return old
}

// remove removes a connection from those without a login. It reports whether it was there.
func (l *limited) remove(c *counted) bool {
	i := slices.Index(l.strangers, c)
	if i >= 0 {
		l.strangers = slices.Delete(l.strangers, i, i+1)
	}
	return i >= 0
}

// counted is a connection that is counted until it is closed.
type counted struct {
	net.Conn
	listener *limited
	address  string
	signedIn bool // guarded by listener.mu
}

// Close closes the connection.
func (c *counted) Close() error {
	c.drop()
	return c.Conn.Close()
}

func (c *counted) drop() {
	l := c.listener
	l.mu.Lock()
	defer l.mu.Unlock()
	l.remove(c)
	if c.signedIn {
		c.signedIn = false
		l.signedIn--
	}
}

// setSignedIn counts the connection as one with a login, unless there are too many of them. It does nothing
// if the connection was closed.
func (c *counted) setSignedIn() {
	l := c.listener
	l.mu.Lock()
	defer l.mu.Unlock()
	if !c.signedIn && l.signedIn < maxSignedIn && l.remove(c) {
		c.signedIn = true
		l.signedIn++
	}
}

// connectionKey is the key of the *counted in the context of a request.
type connectionKey struct{}

// withConnection returns a context for the requests of a connection.
func withConnection(ctx context.Context, conn net.Conn) context.Context {
	if encrypted, ok := conn.(*tls.Conn); ok {
		conn = encrypted.NetConn()
	}
	return context.WithValue(ctx, connectionKey{}, conn)
}

// countSignedIn counts the connection of a request as one with a login.
func countSignedIn(ctx context.Context) {
	if c, ok := ctx.Value(connectionKey{}).(*counted); ok {
		c.setSignedIn()
	}
}

// groupOf returns the address, without the port, by which a client at host:port is counted. For IPv6 that
// is its network of 64 bits, because a client may use all addresses of it.
func groupOf(address string) string {
	from, err := netip.ParseAddrPort(address)
	if err != nil {
		return address
	}
	ip := from.Addr().Unmap().WithZone("")
	if ip.Is4() {
		return ip.String()
	}
	network, err := ip.Prefix(64)
	if err != nil {
		return ip.String()
	}
	return network.String()
}
