package zkconn

import "time"

// Stats are figures of a connection.
type Stats struct {
	Outstanding    int           // requests that wait to be written or answered
	Oldest         time.Duration // how long the oldest one that was written waits
	Sent, Received int64         // bytes, over all connections
	Ping           time.Duration // how long the last ping took, zero for none
	Nearest        time.Duration // the least time until the deadline since Stats was called last
}

// Stats returns the figures of now.
func (c *Conn) Stats() Stats {
	c.mu.Lock()
	m := c.mux
	c.mu.Unlock()
	s := Stats{
		Sent: c.sent.Load(), Received: c.received.Load(), Ping: time.Duration(c.lastPing.Load()), Nearest: c.lease.Nearest(),
	}
	if m != nil {
		s.Outstanding, s.Oldest = m.outstanding(c.lease.Now())
	}
	return s
}

// outstanding returns how many requests wait, and since when the oldest one that was written does.
func (m *muxConn) outstanding(now time.Duration) (n int, oldest time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if waiting := m.requests.pending.waiting(); len(waiting) > 0 {
		oldest = now - waiting[0].stamp.Sent
	}
	return m.requests.len(), oldest
}

// Outstanding returns how many requests of all users wait to be written or answered, 0 without a connection.
func (c *Conn) Outstanding() int {
	c.mu.Lock()
	m := c.mux
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
