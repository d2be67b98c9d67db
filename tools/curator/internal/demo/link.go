package demo

import (
	"context"
	"errors"
	"net"
	"sync"

	"github.com/go-curator/curator/internal/zkserver/netfault"
)

// errKilled is the error of Dial after the worker was killed.
var errKilled = errors.New("the worker was killed")

// link makes a worker's connections to the server. It can freeze and close them.
type link struct {
	dial func(ctx context.Context, network, address string) (net.Conn, error)
	gate netfault.Gate // is shut while the worker is frozen
	gone chan struct{} // is closed when the worker is killed

	mu    sync.Mutex
	conns map[net.Conn]struct{}
	cut   bool
}

func newLink(dial func(ctx context.Context, network, address string) (net.Conn, error)) *link {
	return &link{dial: dial, gone: make(chan struct{}), conns: map[net.Conn]struct{}{}}
}

// Dial connects to the server, unless the worker was killed.
func (l *link) Dial(ctx context.Context, network, address string) (net.Conn, error) {
	if !l.gate.Pass(ctx.Done()) {
		return nil, ctx.Err()
	}
	conn, err := l.dial(ctx, network, address)
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.cut {
		_ = conn.Close()
		return nil, errKilled
	}
	c := &linkConn{Conn: conn, link: l, closed: make(chan struct{})}
	l.conns[conn] = struct{}{}
	return c, nil
}

// kill closes the connections, and makes Dial fail.
func (l *link) kill() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.cut {
		return
	}
	l.cut = true
	close(l.gone)
	for conn := range l.conns {
		_ = conn.Close() // data that is lost does not matter
	}
}

// linkConn is a connection of a link.
type linkConn struct {
	net.Conn
	link   *link
	once   sync.Once
	closed chan struct{}
}

// Read reads, and returns when the worker is not frozen.
func (c *linkConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if !c.link.gate.Pass(c.closed) {
		return 0, net.ErrClosed
	}
	return n, err
}

// Write waits until the worker is not frozen, and writes.
func (c *linkConn) Write(b []byte) (int, error) {
	if !c.link.gate.Pass(c.closed) {
		return 0, net.ErrClosed
	}
	return c.Conn.Write(b)
}

// Close closes the connection.
func (c *linkConn) Close() error {
	c.once.Do(func() {
		close(c.closed)
		c.link.mu.Lock()
		defer c.link.mu.Unlock()
		delete(c.link.conns, c.Conn)
	})
	return c.Conn.Close()
}
