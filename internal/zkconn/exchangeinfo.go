package zkconn

import (
	"context"

	"github.com/go-curator/curator/internal/jute"
)

// ExchangeInfo is what requests with a context of [WithExchangeInfo] show of the connection. It is
// complete when the last of them has returned.
type ExchangeInfo struct {
	Server  string // that answered last, as the client was given it
	Peer    string // its address
	Session int64
	Zxid    int64
	Sent    int // bytes of the requests
	Got     int // bytes of the answers
}

type answersKey struct{}

// WithExchangeInfo returns a context with which [Conn.Do] fills in a. The calls must be made one after
// the other.
func WithExchangeInfo(ctx context.Context, a *ExchangeInfo) context.Context {
	return context.WithValue(ctx, answersKey{}, a)
}

// observe notes an exchange in the ExchangeInfo of ctx, if there is one.
func (b *batch) observe(ctx context.Context, w *muxConn) {
	a, ok := ctx.Value(answersKey{}).(*ExchangeInfo)
	if !ok {
		return
	}
	a.Server, a.Session = w.server, w.session
	if addr := w.raw.RemoteAddr(); addr != nil {
		a.Peer = addr.String()
	}
	a.Sent += b.size
	for _, r := range b.replies {
		a.Got += headerSize + len(r.body)
		if r.zxid > 0 {
			a.Zxid = r.zxid
		}
	}
}

// Server returns the server in use, as the client was given it, "" without a connection.
func (c *Conn) Server() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.mux == nil {
		return ""
	}
	return c.mux.server
}

// WatchCounts are how many watches the server has, by their type.
type WatchCounts struct{ Data, Children, Persistent int }

// WatchCounts is Watches by type.
func (c *Conn) WatchCounts() (n WatchCounts) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.mux == nil {
		return n
	}
	c.mux.mu.Lock()
	defer c.mux.mu.Unlock()
	for key := range c.mux.watches.watches {
		if key.kind == WatchKind(jute.WatcherChildren) {
			n.Children++
		} else {
			n.Data++
		}
	}
	n.Persistent = c.persistent.paths()
	return n
}

// Watches returns how many watches are set at the server, as far as is known here. A
// subscription counts as one.
func (c *Conn) Watches() int {
	n := c.WatchCounts()
	return n.Data + n.Children + n.Persistent
}
