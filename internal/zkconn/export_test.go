package zkconn

import (
	"net"

	"github.com/go-curator/curator/internal/jute"
)

// Overtake has the connection in use die without anybody's notice, and puts raw in its
// place, on which the same session goes on: so it happens when the driver is quicker to
// connect again than the goroutine that saw the end is to say so, which notice then does.
func (c *Conn) Overtake(raw net.Conn) (notice func(), err error) {
	c.mu.Lock()
	old, id := c.link.mux, c.session.id
	c.mu.Unlock()
	old.mu.Lock()
	old.err = net.ErrClosed
	old.mu.Unlock()
	notice = func() {
		c.died(old, net.ErrClosed)
		close(old.dead)
		close(old.delivery.done)
	}
	next := newMuxConn(c, &c.shared, false, raw, peer{server: "next"})
	next.open, next.session, next.timeout = true, id, old.timeout
	return notice, c.established(next, jute.ConnectResponse{SessionID: id}, c.lease.Now())
}

// EndGone is the second half of SetServers, which comes late when the driver has connected to a new server before it.
func (c *Conn) EndGone() { c.endGone() }
