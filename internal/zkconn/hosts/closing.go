package hosts

import (
	"errors"
	"net"
	"os"
	"sync"
	"time"
)

// withDeadlines returns a connection of a user's dialer whose reads and writes end at their deadlines. Without them a
// server that falls silent would hold up everything, the end of the client included.
func withDeadlines(conn net.Conn) net.Conn {
	switch conn.(type) {
	case *net.TCPConn, *net.UnixConn:
		return conn
	}
	return &closing{Conn: conn}
}

// closing is a connection that may have no deadlines. It is closed when one passes while it reads or writes: the client
// does not go on with a connection after that. Between reads and writes deadlines have no effect.
type closing struct {
	net.Conn
	read, write limit
	expiries    sync.WaitGroup

	mu     sync.Mutex
	late   bool // a deadline has passed
	closed bool // no more expiries
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
func (c *closing) SetReadDeadline(t time.Time) error {
	c.change(&c.read, t)
	return nil
}

// SetWriteDeadline sets when writes end, those that run and those that begin later.
func (c *closing) SetWriteDeadline(t time.Time) error {
	c.change(&c.write, t)
	return nil
}

func (c *closing) change(l *limit, t time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	l.deadline = t
	c.stop(l)
	c.start(l)
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

// expire ends the connection because a deadline has passed.
func (c *closing) expire() {
	defer c.expiries.Done()
	c.mu.Lock()
	c.late = true
	c.mu.Unlock()
	c.end()
}

// end closes the connection. One that is below it is closed first: to close TLS takes seconds if the other side does not
// read.
func (c *closing) end() {
	if above, ok := c.Conn.(interface{ NetConn() net.Conn }); ok {
		if beneath := above.NetConn(); beneath != nil {
			_ = beneath.Close() // what this says, the next one says again
		}
	}
	_ = c.Conn.Close() // whoever reads or writes has the error
}

// Read reads.
func (c *closing) Read(p []byte) (int, error) { return c.limited(&c.read, c.Conn.Read, p) }

// Write writes.
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

// Close closes the connection, and waits until it is not being closed for a deadline.
func (c *closing) Close() error {
	c.mu.Lock()
	c.closed = true
	c.mu.Unlock()
	err := c.Conn.Close()
	c.expiries.Wait()
	return err
}
