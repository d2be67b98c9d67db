package zkconn

import (
	"context"
	"time"

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

type exchangeInfoKey struct{}

// WithExchangeInfo returns a context with which [Conn.Do] fills in info. The calls must be made one after
// the other.
func WithExchangeInfo(ctx context.Context, info *ExchangeInfo) context.Context {
	return context.WithValue(ctx, exchangeInfoKey{}, info)
}

// observe notes an exchange in the ExchangeInfo of ctx, if there is one.
func (b *batch) observe(ctx context.Context, w *muxConn) {
	a, ok := ctx.Value(exchangeInfoKey{}).(*ExchangeInfo)
	if !ok {
		return
	}
	a.Server, a.Session = w.server, w.session
	if addr := w.raw.RemoteAddr(); addr != nil {
		a.Peer = addr.String()
	}
	a.Sent += int(b.size)
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
	if c.link.mux == nil {
		return ""
	}
	return c.link.mux.server
}

// WatchCounts are how many watches the server has, by their type.
type WatchCounts struct{ Data, Children, Persistent int }

// WatchCounts returns how many watches are set at the server, by their type.
func (c *Conn) WatchCounts() (n WatchCounts) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.link.mux == nil {
		return n
	}
	c.link.mux.mu.Lock()
	defer c.link.mux.mu.Unlock()
	for key := range c.link.mux.watches.watches {
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

// Stats are figures of a connection.
type Stats struct {
	Outstanding    int           // requests that wait to be written or answered
	Oldest         time.Duration // how long the oldest one that was written waits
	Sent, Received int64         // bytes, over all connections
	Ping           time.Duration // how long the last ping took, zero for none
	Nearest        time.Duration // the least time until the deadline since Stats was called last

	Ephemerals     int // bytes of the paths of the session's ephemeral nodes, which may be fewer
	EphemeralLimit int // what they must not reach, zero for no limit
	List           int // bytes of the largest list of children since Stats was called last
}

// Stats returns the figures of now.
func (c *Conn) Stats() Stats {
	c.mu.Lock()
	m := c.link.mux
	c.mu.Unlock()
	s := Stats{
		Sent: c.sent.Load(), Received: c.received.Load(), Ping: time.Duration(c.lastPing.Load()), Nearest: c.lease.Nearest(),
	}
	s.Ephemerals, s.EphemeralLimit = c.ephemerals.figures()
	s.List = int(c.lists.largest.Swap(0))
	if m != nil {
		s.Outstanding, s.Oldest = m.outstanding(c.lease.Now())
	}
	return s
}

// Outstanding returns how many requests of all users wait to be written or answered, 0 without a connection.
func (c *Conn) Outstanding() int {
	c.mu.Lock()
	m := c.link.mux
	c.mu.Unlock()
	if m == nil {
		return 0
	}
	n, _ := m.outstanding(0)
	return n
}

// LastZxid returns the highest zxid that was seen in a reply. The server in use has reached it.
func (c *Conn) LastZxid() int64 { return c.lastZxid.Load() }

// Epoch returns how often the servers have lost data that the client had seen (see DataLost). Zxids and
// versions say what is newer only among answers of one epoch. An answer is of an epoch that was the present
// one before the request and behind the answer.
func (c *Conn) Epoch() int64 { return c.epoch.Load() }

// HasContainers reports whether the servers have containers, as far as is known. Of a Keeper that is known when it has
// created one.
func (c *Conn) HasContainers() bool {
	if c.unknown.keeper.Load() {
		return c.unknown.answered.Load()&newerBit(jute.OpCreateContainer) != 0
	}
	return !c.unknown.lacks(jute.OpCreateContainer)
}
