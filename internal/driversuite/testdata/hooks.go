package zk

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"net"
	"sync"
	"time"
)

// hooks has the unexported fields of the driver's Conn that its tests use. As the driver's own, tests set them while
// the Conn uses them, and wait until it does not.
type hooks struct {
	conn             net.Conn // the connection that was made last
	sessionID        int64    // the session that a server has granted last; another one is presented instead of it
	sessionTimeoutMs int32

	reconnectLatch     chan struct{}                      // a later connection waits until it is closed
	debugCloseRecvLoop bool                               // nothing is read from a later connection
	resendZkAuthFn     func(context.Context, *Conn) error // is called when credentials are sent

	granted int64 // sessionID as hooks has set it
}

// hookTime bounds how long a hook delays a Conn.
const hookTime = 30 * time.Second

// attach makes the Conn connect through links.
func (h *hooks) attach(c *Conn) {
	dial := c.dialer
	if dial == nil {
		dial = net.DialTimeout
	}
	h.resendZkAuthFn = resendZkAuth
	c.dialer = func(network, address string, timeout time.Duration) (net.Conn, error) {
		if latch := h.reconnectLatch; latch != nil && h.conn != nil {
			select {
			case <-latch:
			case <-time.After(hookTime):
				return nil, errors.New("the test lets nothing connect")
			}
		}
		conn, err := dial(network, address, timeout)
		if err != nil {
			return nil, err
		}
		l := &link{Conn: conn, owner: c, mute: h.debugCloseRecvLoop, authed: make(chan struct{}), closed: make(chan struct{})}
		h.conn = l
		return l, nil
	}
}

// resendZkAuth does nothing: the session layer has sent the credentials.
func resendZkAuth(context.Context, *Conn) error { return nil }

// link is a network connection of a Conn.
type link struct {
	net.Conn
	owner *Conn
	mute  bool // after the answer to its connect request, nothing is read

	sent    frames
	answer  []byte // the beginning of the answer: length, version, timeout, session
	reading int    // bytes of the answer that are still to be read

	auth, end      sync.Once
	authed, closed chan struct{}
}

// Write presents the session that the test wants, in the connect request: length, version, zxid, timeout, session. The
// session layer writes that at once; before, it tries whether a write ends at its deadline.
func (l *link) Write(b []byte) (int, error) {
	h, whole := &l.owner.hooks, b
	if !l.sent.greeted && len(b) >= 28 && h.sessionID != h.granted && binary.BigEndian.Uint64(b[20:]) != 0 {
		whole = bytes.Clone(b)
		binary.BigEndian.PutUint64(whole[20:], uint64(h.sessionID))
	}
	n, err := l.Conn.Write(whole)
	l.sent.pass(whole[:n], l.sees)
	return n, err
}

// setAuthType is the type of a request with credentials.
const setAuthType = 100

// sees is told of each request.
func (l *link) sees(op int32) {
	if op != setAuthType {
		return
	}
	_ = l.owner.resendZkAuthFn(context.Background(), l.owner)
	l.auth.Do(func() { close(l.authed) })
}

// Read takes the session that the server has granted from the answer to the connect request.
func (l *link) Read(b []byte) (int, error) {
	const size = 20
	before := len(l.answer)
	if before == size && l.reading <= 0 && l.mute {
		return 0, l.fail()
	}
	n, err := l.Conn.Read(b)
	l.reading -= n
	l.answer = append(l.answer, b[:min(n, size-before)]...)
	if before < size && len(l.answer) == size {
		h := &l.owner.hooks
		l.reading += 4 + int(binary.BigEndian.Uint32(l.answer))
		h.sessionTimeoutMs = int32(binary.BigEndian.Uint32(l.answer[8:]))
		h.granted = int64(binary.BigEndian.Uint64(l.answer[12:]))
		h.sessionID = h.granted
	}
	return n, err
}

// fail waits until credentials have been sent, or the connection is closed, and returns an error.
func (l *link) fail() error {
	select {
	case <-l.authed:
	case <-l.closed:
	case <-time.After(hookTime):
	}
	return errors.New("the test lets nothing be read")
}

// Close closes the connection.
func (l *link) Close() error {
	l.end.Do(func() { close(l.closed) })
	return l.Conn.Close()
}

// frames tells the types of the requests in a stream that begins with a connect request and comes in pieces.
type frames struct {
	greeted bool   // the connect request has begun
	head    []byte // of the frame: length, xid, type
	skip    int    // the rest of the frame
}

// pass passes over a piece, and calls tell for each request that begins in it.
func (f *frames) pass(b []byte, tell func(op int32)) {
	for len(b) > 0 {
		if f.skip > 0 {
			n := min(f.skip, len(b))
			f.skip -= n
			b = b[n:]
			continue
		}
		n := min(12-len(f.head), len(b))
		f.head, b = append(f.head, b[:n]...), b[n:]
		if len(f.head) < 12 {
			return
		}
		if f.greeted {
			tell(int32(binary.BigEndian.Uint32(f.head[8:])))
		}
		f.greeted = true
		f.skip = int(binary.BigEndian.Uint32(f.head)) - 8
		f.head = f.head[:0]
	}
}
