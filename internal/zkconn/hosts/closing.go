package hosts

import (
	"crypto/tls"
	"errors"
	"net"
	"os"
	"sync"
	"time"
)

// withDeadlines returns a connection of a user's dialer whose reads and writes end at their deadlines. Without them a
// server that falls silent would hold up everything, the end of the client included.
func withDeadlines(conn net.Conn) net.Conn {
	if hasDeadlines(conn) {
		return conn
	}
	return &closing{Conn: conn, closedUp: make(chan struct{})}
}

// hasDeadlines tells whether a connection is known to have deadlines.
func hasDeadlines(conn net.Conn) bool {
	switch conn := conn.(type) {
	case *net.TCPConn, *net.UnixConn:
		return true
	case *tls.Conn:
		return hasDeadlines(conn.NetConn())
	}
	return false
}

// closing is a connection that may have no deadlines. It is closed when one passes while it reads or writes: the client
// does not go on with a connection after that. Between reads and writes deadlines have no effect.
type closing struct {
	net.Conn
	read, write limit
	expiries    sync.WaitGroup
	closedUp    chan struct{} // closed when the user's Close has returned closeErr
	closeErr    error

	mu         sync.Mutex
	late       bool // a deadline has passed
	closed     bool // no more expiries
	closeBegun bool
}

// limit is the deadline of one direction. The lock of the connection guards it.
type limit struct {
	deadline time.Time
	running  int // reads or writes
	timer    *time.Timer
	set      bool // the timer is, which is so only while they run
}

// SetDeadline sets both deadlines.
func (c *closing) SetDeadline(t time.Time) error {
	return errors.Join(c.SetReadDeadline(t), c.SetWriteDeadline(t))
}

// SetReadDeadline sets when reads end, those that run and those that begin later.
func (c *closing) SetReadDeadline(t time.Time) error { return c.change(&c.read, t) }

// SetWriteDeadline sets when writes end, those that run and those that begin later.
func (c *closing) SetWriteDeadline(t time.Time) error { return c.change(&c.write, t) }

func (c *closing) change(l *limit, t time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.closed:
		return net.ErrClosed
	case c.late:
		return os.ErrDeadlineExceeded
	}
	l.deadline = t
	c.stop(l)
	c.start(l)
	return nil
}

// start has the connection closed at a deadline, if something runs that is to end then; mu is held.
func (c *closing) start(l *limit) {
	if l.running == 0 || l.deadline.IsZero() || c.closed {
		return
	}
	c.expiries.Add(1)
	l.set = true
	if left := time.Until(l.deadline); l.timer == nil {
		l.timer = time.AfterFunc(left, c.expire)
	} else {
		l.timer.Reset(left)
	}
}

// stop undoes start, unless the deadline has passed; mu is held.
func (c *closing) stop(l *limit) {
	if l.set && l.timer.Stop() {
		c.expiries.Done()
	}
	l.set = false
}

// expire ends the connection because a deadline has passed. Where deadlines work reads and writes end at once, also if it
// takes long to close.
func (c *closing) expire() {
	defer c.expiries.Done()
	c.mu.Lock()
	c.late = true
	c.mu.Unlock()
	_ = c.Conn.SetDeadline(time.Unix(1, 0)) // it may have none
	c.closeBelow()
	_ = c.closeOnce() // the read or write that runs returns the error
}

// closeOnce closes the user's connection, or waits until that has been done. It does not wait for a mutex: in a bubble of
// testing/synctest the time would stand still.
func (c *closing) closeOnce() error {
	c.mu.Lock()
	begun := c.closeBegun
	c.closeBegun = true
	c.mu.Unlock()
	if !begun {
		c.closeErr = c.Conn.Close()
		close(c.closedUp)
	}
	<-c.closedUp
	return c.closeErr
}

// closeBelow closes the connection that this one is above, as TLS is: TLS has the other side take an alert before it
// closes that itself.
func (c *closing) closeBelow() {
	if above, ok := c.Conn.(interface{ NetConn() net.Conn }); ok {
		if below := above.NetConn(); below != nil {
			_ = below.Close() // what this says, the next one says again
		}
	}
}

// Read reads, until the deadline at the latest.
func (c *closing) Read(p []byte) (int, error) { return c.limited(&c.read, c.Conn.Read, p) }

// Write writes, until the deadline at the latest.
func (c *closing) Write(p []byte) (int, error) { return c.limited(&c.write, c.Conn.Write, p) }

// limited has do end at the deadline.
func (c *closing) limited(l *limit, do func([]byte) (int, error), p []byte) (n int, err error) {
	c.mu.Lock()
	if c.late || !l.deadline.IsZero() && !time.Now().Before(l.deadline) {
		c.mu.Unlock()
		return 0, os.ErrDeadlineExceeded
	}
	if l.running++; l.running == 1 {
		c.start(l)
	}
	c.mu.Unlock()
	n, err = do(p)
	c.mu.Lock()
	defer c.mu.Unlock()
	if l.running--; l.running == 0 {
		c.stop(l)
	}
	if err != nil && c.late {
		err = os.ErrDeadlineExceeded
	}
	return n, err
}

// closeTime is how long a connection may take to say to the other side that it is closed.
const closeTime = 5 * time.Second

// Close closes the connection, and waits until it is not being closed for a deadline.
func (c *closing) Close() error {
	c.mu.Lock()
	c.closed = true
	c.mu.Unlock()
	ended := make(chan struct{})
	patience := time.AfterFunc(closeTime, func() {
		defer close(ended)
		c.closeBelow()
	})
	err := c.closeOnce()
	if !patience.Stop() {
		<-ended
	}
	c.expiries.Wait()
	return err
}
