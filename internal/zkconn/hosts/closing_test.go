package hosts

import (
	"errors"
	"net"
	"os"
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

// above is a connection above another one, as TLS is.
type above struct {
	*lacking
	beneath net.Conn
}

func (a above) NetConn() net.Conn { return a.beneath }

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

// Close returns when the connection is not being closed for a deadline any more.
func TestClosingIsJoined(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ours, theirs := net.Pipe()
		defer theirs.Close()
		slow := &lacking{Conn: ours, closes: time.Minute}
		conn := withDeadlines(slow)
		conn.SetReadDeadline(time.Now().Add(time.Second))
		if _, err := conn.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("error %v", err)
		}
		conn.Close()
		if n := slow.closed.Load(); n != 2 {
			t.Errorf("closed %d times", n)
		}
	})
}

// What is below is closed first: a connection above it may take a while to close, and whoever reads is not to wait so long.
func TestClosingOfWhatIsBelow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ours, theirs := net.Pipe()
		defer theirs.Close()
		a, b := net.Pipe()
		defer b.Close()
		conn := withDeadlines(above{&lacking{Conn: struct{ net.Conn }{neverCloses{ours}}, closes: time.Minute}, &closesBoth{a, ours}})
		begin := time.Now()
		conn.SetReadDeadline(begin.Add(time.Second))
		if _, err := conn.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) || time.Since(begin) != time.Second {
			t.Errorf("after %v: %v", time.Since(begin), err)
		}
		conn.Close()
	})
}

type neverCloses struct{ net.Conn }

func (neverCloses) Close() error { return nil }

type closesBoth struct {
	net.Conn
	other net.Conn
}

func (c *closesBoth) Close() error { return errors.Join(c.Conn.Close(), c.other.Close()) }

// Connections of package net have deadlines.
func TestTCPIsLeftAlone(t *testing.T) {
	for _, conn := range []net.Conn{new(net.TCPConn), new(net.UnixConn)} {
		if withDeadlines(conn) != conn {
			t.Errorf("%T is not what it was", conn)
		}
	}
}
