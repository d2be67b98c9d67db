package hosts

import (
	"crypto/tls"
	"errors"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// lacking is a connection without deadlines, which takes a while to close.
type lacking struct {
	net.Conn
	closes time.Duration
	closed atomic.Int32
}

func (*lacking) SetDeadline(time.Time) error      { return os.ErrNoDeadline }
func (*lacking) SetReadDeadline(time.Time) error  { return os.ErrNoDeadline }
func (*lacking) SetWriteDeadline(time.Time) error { return os.ErrNoDeadline }

func (l *lacking) Close() error {
	err := l.Conn.Close()
	<-time.After(l.closes)
	l.closed.Add(1)
	return err
}

// Reads and writes end at their deadlines, whether these are set before or while they run, and between them deadlines pass
// without an effect.
func TestClosing(t *testing.T) {
	read := func(c net.Conn) error { _, err := c.Read(make([]byte, 1)); return err }
	write := func(c net.Conn) error { _, err := c.Write([]byte{1}); return err }
	in := func(d time.Duration) time.Time { return time.Now().Add(d) }
	for name, c := range map[string]struct {
		do   func(c net.Conn) error
		want error
		took time.Duration
	}{
		"a read": {func(c net.Conn) error { c.SetReadDeadline(in(time.Second)); return read(c) }, os.ErrDeadlineExceeded, time.Second},
		"a write": {func(c net.Conn) error {
			c.SetWriteDeadline(in(time.Second))
			return errors.Join(write(c), write(c)) // the other side reads one
		}, os.ErrDeadlineExceeded, time.Second},
		"a deadline of the other direction": {func(c net.Conn) error {
			c.SetWriteDeadline(in(time.Second))
			c.SetReadDeadline(in(3 * time.Second))
			return read(c)
		}, os.ErrDeadlineExceeded, 3 * time.Second},
		"a deadline that is moved": {func(c net.Conn) error {
			c.SetReadDeadline(in(time.Second))
			time.AfterFunc(time.Second/2, func() { c.SetReadDeadline(in(time.Minute)) })
			time.AfterFunc(time.Second, func() { c.SetReadDeadline(in(time.Second)) })
			return read(c)
		}, os.ErrDeadlineExceeded, 2 * time.Second},
		"a deadline that is taken back": {func(c net.Conn) error {
			c.SetReadDeadline(in(time.Second))
			time.AfterFunc(time.Second/2, func() { c.SetReadDeadline(time.Time{}) })
			time.AfterFunc(time.Minute, func() { c.SetDeadline(time.Unix(1, 0)) })
			return read(c)
		}, os.ErrDeadlineExceeded, time.Minute},
		"a deadline that has passed": {func(c net.Conn) error { c.SetDeadline(time.Unix(1, 0)); return read(c) }, os.ErrDeadlineExceeded, 0},
		"a deadline that passes between": {func(c net.Conn) error {
			c.SetDeadline(in(time.Second))
			time.Sleep(2 * time.Second)
			c.SetDeadline(in(time.Second))
			return write(c)
		}, nil, 2 * time.Second},
		"closed": {func(c net.Conn) error {
			c.SetReadDeadline(in(time.Hour))
			time.AfterFunc(time.Second, func() { c.Close() })
			return read(c)
		}, nil, time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ours, theirs := net.Pipe()
				defer theirs.Close()
				go func() { _ = read(theirs) }() // takes one byte
				conn := withDeadlines(&lacking{Conn: ours})
				defer conn.Close()
				begin := time.Now()
				err := c.do(conn)
				if c.want != nil && !errors.Is(err, c.want) || c.want == nil && errors.Is(err, os.ErrDeadlineExceeded) {
					t.Errorf("error %v", err)
				}
				if d := time.Since(begin); d != c.took {
					t.Errorf("it took %v, want %v", d, c.took)
				}
			})
		})
	}
}

// The user's Close is called once, however the connection ends, and Close returns when it has returned. Behind the end no
// deadline can be set: what is written then counts as not sent.
func TestClosingEndsOnce(t *testing.T) {
	for name, end := range map[string]func(c net.Conn){
		"at a deadline": func(c net.Conn) { c.SetReadDeadline(time.Now().Add(time.Second)) },
		"at once":       func(c net.Conn) { c.SetDeadline(time.Unix(1, 0)) },
		"by Close":      func(net.Conn) {},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ours, theirs := net.Pipe()
				defer theirs.Close()
				slow := &lacking{Conn: ours, closes: time.Minute}
				conn := withDeadlines(slow)
				var reads sync.WaitGroup
				reads.Go(func() {
					if _, err := conn.Read(make([]byte, 1)); err == nil {
						t.Error("it reads")
					}
				})
				synctest.Wait()
				end(conn)
				time.Sleep(2 * time.Second)
				var closes sync.WaitGroup
				for range 3 {
					closes.Go(func() { conn.Close() })
				}
				closes.Wait()
				reads.Wait()
				if n := slow.closed.Load(); n != 1 {
					t.Errorf("closed %d times", n)
				}
				if err := conn.SetWriteDeadline(time.Now().Add(time.Hour)); err == nil {
					t.Error("a deadline can be set")
				}
			})
		})
	}
}

// Where deadlines work, reads end at them, however long it takes to close.
func TestClosingWithDeadlines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ours, theirs := net.Pipe()
		defer theirs.Close()
		conn := withDeadlines(lingers{ours})
		begin := time.Now()
		conn.SetReadDeadline(begin.Add(time.Second))
		if _, err := conn.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) || time.Since(begin) != time.Second {
			t.Errorf("after %v: %v", time.Since(begin), err)
		}
		conn.Close()
	})
}

// lingers is a connection that closes slowly.
type lingers struct{ net.Conn }

func (l lingers) Close() error {
	<-time.After(time.Hour)
	return l.Conn.Close()
}

// above is a connection above another one, as TLS is: it says that it is closed before it closes that.
type above struct {
	*lacking
	below net.Conn
}

func (a above) NetConn() net.Conn { return a.below }

func (a above) Close() error {
	_, _ = a.below.Write([]byte{0})
	return a.below.Close()
}

// A connection above another one may not be able to close before that is closed, because nobody reads: at a deadline what is
// below is closed first, and by Close after a while.
func TestClosingOfWhatIsBelow(t *testing.T) {
	for name, deadline := range map[string]time.Duration{"at a deadline": time.Second, "by Close": 0} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ours, theirs := net.Pipe()
				defer theirs.Close()
				below := &lacking{Conn: ours}
				conn, begin := withDeadlines(above{below, below}), time.Now()
				if deadline > 0 {
					conn.SetReadDeadline(begin.Add(deadline))
					if _, err := conn.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) || time.Since(begin) != deadline {
						t.Errorf("after %v: %v", time.Since(begin), err)
					}
				}
				conn.Close()
				if d := time.Since(begin); deadline > 0 && d != deadline || d > closeTime {
					t.Errorf("Close has returned after %v", d)
				}
			})
		})
	}
}

// Connections of package net have deadlines, and TLS above them.
func TestConnectionsOfNet(t *testing.T) {
	tcp := new(net.TCPConn)
	for _, conn := range []net.Conn{tcp, new(net.UnixConn), tls.Client(tcp, nil), tls.Client(tls.Client(tcp, nil), nil)} {
		if withDeadlines(conn) != conn {
			t.Errorf("%T is not what it was", conn)
		}
	}
	pipe, other := net.Pipe()
	defer pipe.Close()
	defer other.Close()
	for _, conn := range []net.Conn{pipe, tls.Client(pipe, nil)} {
		if withDeadlines(conn) == conn {
			t.Errorf("%T is what it was", conn)
		}
	}
}
