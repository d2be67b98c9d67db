package sequences_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"sync"
	"syscall"
	"time"

	"github.com/go-curator/curator/internal/jute"
)

// line is the network between the client and the server. Requests wait in it until they are let through, one
// by one, but for those by which the session layer keeps and proves its session.
type line struct {
	dial func(ctx context.Context, network, address string) (net.Conn, error)

	mu      sync.Mutex
	conn    *lineConn     // the newest
	dials   int           // how many connections may still be made; -1 for any number
	changed chan struct{} // closed when dials grows
	holds   bool          // requests wait
	plugged bool          // writes wait
}

func newLine(dial func(ctx context.Context, network, address string) (net.Conn, error)) *line {
	return &line{dial: dial, dials: -1, changed: make(chan struct{})}
}

// hold has requests wait from now on, and later connections.
func (l *line) hold() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.holds, l.dials = true, 0
}

// admit lets n connections be made, -1 for any number.
func (l *line) admit(n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.dials = n
	close(l.changed)
	l.changed = make(chan struct{})
}

// plug has everything wait that the client writes on the present connection, and on the next one behind its
// first request.
func (l *line) plug() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.plugged = true
}

// breaks makes the write that waits fail, and every later one.
func (l *line) breaks() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.plugged = false
	close(l.conn.broken)
}

// heal lets everything through.
func (l *line) heal() {
	l.mu.Lock()
	l.holds, l.plugged = false, false
	c := l.conn
	l.mu.Unlock()
	if c != nil {
		c.release(len(c.waiting()))
		c.unplug()
	}
	l.admit(-1)
}

// held returns how many requests wait.
func (l *line) held() int {
	l.mu.Lock()
	c := l.conn
	l.mu.Unlock()
	return len(c.waiting())
}

// pass lets the oldest request through.
func (l *line) pass() {
	l.mu.Lock()
	c := l.conn
	l.mu.Unlock()
	c.release(1)
}

// passUnanswered is pass for a request whose reply is lost.
func (l *line) passUnanswered() {
	l.mu.Lock()
	c := l.conn
	l.mu.Unlock()
	c.mu.Lock()
	c.deaf = true
	c.mu.Unlock()
	c.release(1)
}

// cut ends the connection. What waits is lost.
func (l *line) cut() {
	l.mu.Lock()
	c := l.conn
	l.plugged = false
	l.mu.Unlock()
	c.end()
}

// Dial is for framework.WithDialer.
func (l *line) Dial(ctx context.Context, network, address string) (net.Conn, error) {
	for !l.take() {
		l.mu.Lock()
		changed := l.changed
		l.mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	raw, err := l.dial(ctx, network, address)
	if err != nil {
		return nil, err
	}
	c := &lineConn{Conn: raw, line: l, ended: make(chan struct{}), unplugged: make(chan struct{}), broken: make(chan struct{})}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.conn = c
	return c, nil
}

// take takes one of the connections that may be made.
func (l *line) take() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.dials == 0 {
		return false
	}
	l.dials = max(l.dials-1, -1)
	return true
}

// lineConn is one connection.
type lineConn struct {
	net.Conn
	line *line
	said bool   // the connect request is through
	part []byte // of a frame that is being written

	mu        sync.Mutex
	frames    [][]byte // that wait
	deaf      bool     // nothing is read any more
	over      bool
	ended     chan struct{}
	open      bool // unplugged is closed
	unplugged chan struct{}
	broken    chan struct{} // closed when writes fail
}

// Write takes frames.
func (c *lineConn) Write(p []byte) (int, error) {
	if len(p) == 0 { // the client tries whether there are deadlines
		return c.Conn.Write(p)
	}
	if c.said && c.line.isPlugged() {
		select {
		case <-c.unplugged:
		case <-c.broken:
			return 0, syscall.EPIPE
		case <-c.ended:
			return 0, net.ErrClosed
		}
	}
	c.part = append(c.part, p...)
	for len(c.part) >= 4 {
		n := 4 + int(binary.BigEndian.Uint32(c.part))
		if len(c.part) < n {
			break
		}
		frame := bytes.Clone(c.part[:n])
		c.part = c.part[n:]
		if err := c.send(frame); err != nil {
			return 0, err
		}
	}
	return len(p), nil
}

func (l *line) isPlugged() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.plugged
}

// send sends a frame, or has it wait.
func (c *lineConn) send(frame []byte) error {
	c.line.mu.Lock()
	holds := c.line.holds
	c.line.mu.Unlock()
	c.mu.Lock()
	defer c.mu.Unlock()
	if holds && c.said && (len(c.frames) > 0 || !ofSession(frame)) {
		c.frames = append(c.frames, frame)
		return nil
	}
	c.said = true
	_, err := c.Conn.Write(frame)
	return err
}

// waiting returns the requests that wait.
func (c *lineConn) waiting() [][]byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.frames
}

// release sends the n oldest requests that wait, and what keeps the session behind them.
func (c *lineConn) release(n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for len(c.frames) > 0 && (n > 0 || ofSession(c.frames[0])) {
		n--
		frame := c.frames[0]
		c.frames = c.frames[1:]
		if _, err := c.Conn.Write(frame); err != nil {
			return // the connection has ended, and the client learns of that
		}
	}
}

// unplug lets through what is being written.
func (c *lineConn) unplug() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.open {
		c.open = true
		close(c.unplugged)
	}
}

// end ends the connection as a server does.
func (c *lineConn) end() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.over {
		c.over = true
		close(c.ended)
		_ = c.Conn.Close() // in memory
	}
}

// Read reads what the server has sent.
func (c *lineConn) Read(p []byte) (int, error) {
	for {
		n, err := c.Conn.Read(p)
		c.mu.Lock()
		over, deaf := c.over, c.deaf
		c.mu.Unlock()
		switch {
		case err != nil && over && errors.Is(err, net.ErrClosed):
			return 0, io.EOF
		case err != nil || !deaf:
			return n, err
		}
	}
}

// SetDeadline also ends a write that waits, if the deadline has passed.
func (c *lineConn) SetDeadline(t time.Time) error {
	if !t.IsZero() && t.Before(time.Now()) {
		defer c.end()
	}
	return c.Conn.SetDeadline(t)
}

// Close closes the connection.
func (c *lineConn) Close() error {
	c.end()
	return nil
}

// ofSession reports whether a frame is a request by which the session layer keeps, proves or ends its session.
func ofSession(frame []byte) bool {
	body := frame[12:]
	switch jute.Op(binary.BigEndian.Uint32(frame[8:])) {
	case jute.OpPing, jute.OpSetWatches2, jute.OpClose:
		return true
	case jute.OpSync:
		return binary.BigEndian.Uint32(body) == uint32(len("/"))
	case jute.OpMulti:
		begin, end := jute.MultiHeader{Type: jute.OpCheck, Err: -1}, jute.MultiHeader{Type: -1, Done: true, Err: -1}
		check := jute.CheckVersionRequest{Path: "/", Version: -1}
		return bytes.Equal(body, end.Append(check.Append(begin.Append(nil))))
	}
	return false
}
