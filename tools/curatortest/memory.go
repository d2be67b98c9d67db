package curatortest

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"syscall"
	"time"
)

// virtualAddress is the address of every virtual server.
const virtualAddress = "virtual:2181"

// memoryWindow is the number of bytes that one end can write before the other end reads them.
const memoryWindow = 1 << 16

// memoryListener is a net.Listener without sockets.
type memoryListener struct {
	backlog chan net.Conn
	closed  chan struct{}
	close   func()

	mu   sync.Mutex
	port int // the port of the next client's address
}

func newMemoryListener() *memoryListener {
	closed := make(chan struct{})
	return &memoryListener{
		backlog: make(chan net.Conn),
		closed:  closed,
		close:   sync.OnceFunc(func() { close(closed) }),
		port:    49152,
	}
}

// dial returns the client's end of a new connection.
func (l *memoryListener) dial(ctx context.Context) (net.Conn, error) {
	l.mu.Lock()
	client := memoryAddr(l.port)
	l.port++
	l.mu.Unlock()
	near, far := newMemoryConns(client, memoryAddr(2181))
	select {
	case l.backlog <- far:
		return near, nil
	case <-l.closed:
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}
	case <-ctx.Done():
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: context.Cause(ctx)}
	}
}

// Accept returns the server's end of the next connection.
func (l *memoryListener) Accept() (net.Conn, error) {
	select {
	case conn := <-l.backlog:
		return conn, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

// Close makes Accept fail.
func (l *memoryListener) Close() error {
	l.close()
	return nil
}

// Addr returns the server's address.
func (l *memoryListener) Addr() net.Addr { return memoryAddr(2181) }

// memoryAddr returns a loopback address.
func memoryAddr(port int) net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: port} }

// memoryConn is one end of a connection without sockets. Unlike net.Pipe it has buffers: two ends that
// both write do not wait for each other, and after one end was closed the other end can still read
// what was sent.
type memoryConn struct {
	local, remote net.Addr
	in, out       *memoryStream
	read, write   memoryDeadline
}

func newMemoryConns(a, b net.Addr) (near, far *memoryConn) {
	there, back := newMemoryStream(), newMemoryStream()
	near = &memoryConn{local: a, remote: b, in: back, out: there}
	far = &memoryConn{local: b, remote: a, in: there, out: back}
	return near, far
}

// Read reads what the other end has sent. After the other end was closed it returns io.EOF.
func (c *memoryConn) Read(b []byte) (int, error) {
	n, err := c.in.read(b, &c.read)
	return n, c.wrap("read", err)
}

// Write sends b. It waits while the other end does not read.
func (c *memoryConn) Write(b []byte) (int, error) {
	n, err := c.out.write(b, &c.write)
	return n, c.wrap("write", err)
}

// wrap wraps err in a net.OpError, unless it is io.EOF.
func (c *memoryConn) wrap(op string, err error) error {
	if err == nil || errors.Is(err, io.EOF) {
		return err
	}
	return &net.OpError{Op: op, Net: "tcp", Source: c.local, Addr: c.remote, Err: err}
}

// Close ends both directions.
func (c *memoryConn) Close() error {
	c.in.closeReader()
	c.out.closeWriter()
	return c.SetDeadline(time.Time{}) // stops the timers
}

// LocalAddr returns this end's address.
func (c *memoryConn) LocalAddr() net.Addr { return c.local }

// RemoteAddr returns the other end's address.
func (c *memoryConn) RemoteAddr() net.Addr { return c.remote }

// SetDeadline sets both deadlines.
func (c *memoryConn) SetDeadline(t time.Time) error {
	c.read.set(t)
	c.write.set(t)
	return nil
}

// SetReadDeadline sets the deadline of Read.
func (c *memoryConn) SetReadDeadline(t time.Time) error {
	c.read.set(t)
	return nil
}

// SetWriteDeadline sets the deadline of Write.
func (c *memoryConn) SetWriteDeadline(t time.Time) error {
	c.write.set(t)
	return nil
}

// memoryStream is one direction of a connection.
type memoryStream struct {
	mu         sync.Mutex
	pending    []byte
	readerGone bool
	writerGone bool
	changed    chan struct{} // closed and replaced at every change
}

func newMemoryStream() *memoryStream { return &memoryStream{changed: make(chan struct{})} }

// change wakes all calls that wait for the stream. The caller holds the lock.
func (s *memoryStream) change() {
	close(s.changed)
	s.changed = make(chan struct{})
}

func (s *memoryStream) closeReader() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.readerGone = true
	s.change()
}

func (s *memoryStream) closeWriter() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.writerGone = true
	s.change()
}

// read waits until there are bytes, and returns as many as there are.
func (s *memoryStream) read(b []byte, d *memoryDeadline) (int, error) {
	for {
		if err := d.check(); err != nil {
			return 0, err
		}
		n, changed, err := s.take(b)
		if n > 0 || err != nil || len(b) == 0 {
			return n, err
		}
		if err := d.wait(changed); err != nil {
			return 0, err
		}
	}
}

func (s *memoryStream) take(b []byte) (int, <-chan struct{}, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.readerGone:
		return 0, nil, net.ErrClosed
	case len(s.pending) > 0:
		n := copy(b, s.pending)
		s.pending = s.pending[n:]
		s.change()
		return n, nil, nil
	case s.writerGone:
		return 0, nil, io.EOF
	}
	return 0, s.changed, nil
}

// write writes all of b to the stream. It waits while the window is full.
func (s *memoryStream) write(b []byte, d *memoryDeadline) (int, error) {
	written := 0
	for {
		if err := d.check(); err != nil {
			return written, err
		}
		n, changed, err := s.put(b[written:])
		written += n
		if written == len(b) || err != nil {
			return written, err
		}
		if err := d.wait(changed); err != nil {
			return written, err
		}
	}
}

func (s *memoryStream) put(b []byte) (int, <-chan struct{}, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.writerGone:
		return 0, nil, net.ErrClosed
	case s.readerGone:
		return 0, nil, syscall.EPIPE
	}
	n := min(len(b), memoryWindow-len(s.pending))
	if n > 0 {
		s.pending = append(s.pending, b[:n]...)
		s.change()
	}
	return n, s.changed, nil
}

// memoryDeadline is the deadline of reads or writes. The zero memoryDeadline never passes.
type memoryDeadline struct {
	mu    sync.Mutex
	timer *time.Timer
	now   *memoryTerm
}

// memoryTerm is one value of a memoryDeadline.
type memoryTerm struct {
	passed   chan struct{} // closed when the deadline has passed
	replaced chan struct{} // closed when another deadline was set
}

// term returns the present value. The caller holds the lock.
func (d *memoryDeadline) term() *memoryTerm {
	if d.now == nil {
		d.now = &memoryTerm{make(chan struct{}), make(chan struct{})}
	}
	return d.now
}

// set sets the deadline, also for calls that wait already. The zero time never passes.
func (d *memoryDeadline) set(t time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.timer != nil {
		d.timer.Stop() // if the timer has fired, it only ends the former term
	}
	close(d.term().replaced)
	d.now = nil
	passed := d.term().passed
	switch left := time.Until(t); {
	case t.IsZero():
	case left > 0:
		d.timer = time.AfterFunc(left, func() { close(passed) })
	default:
		close(passed)
	}
}

// check returns an error if the deadline has passed.
func (d *memoryDeadline) check() error {
	d.mu.Lock()
	term := d.term()
	d.mu.Unlock()
	select {
	case <-term.passed:
		return os.ErrDeadlineExceeded
	default:
		return nil
	}
}

// wait waits until changed is closed or another deadline is set. It returns an error if the deadline
// passes first.
func (d *memoryDeadline) wait(changed <-chan struct{}) error {
	d.mu.Lock()
	term := d.term()
	d.mu.Unlock()
	select {
	case <-changed:
		return nil
	case <-term.replaced:
		return nil
	case <-term.passed:
		return os.ErrDeadlineExceeded
	}
}
