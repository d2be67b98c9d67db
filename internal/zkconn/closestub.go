package zkconn

import (
	"encoding/binary"
	"io"
	"net"
	"sync"
	"time"

	"github.com/go-curator/curator/internal/jute"
)

// A closeStub plays the server's part when the driver is to end and there is no server: the
// driver's Close waits a second for the answer to its last request unless it gets one.
type closeStub struct {
	noDeadlines // every answer comes at once

	answers chan []byte
	rest    []byte
	gone    chan struct{}
	close   func()

	mu             sync.Mutex
	connectReplied bool
	closeReplied   bool
}

// newCloseStub returns the other end of a connection. With connectReplied the driver has its session
// already; otherwise it gets one, so that it goes on.
func newCloseStub(connectReplied bool) *closeStub {
	gone := make(chan struct{})
	return &closeStub{
		connectReplied: connectReplied, gone: gone, answers: make(chan []byte, 2),
		close: sync.OnceFunc(func() { close(gone) }),
	}
}

// replyConnect answers the connect request.
func (f *closeStub) replyConnect() {
	r := jute.ConnectResponse{TimeOut: 1000, SessionID: 1, Passwd: make([]byte, 16)}
	f.answers <- frameOf(jute.AppendBool(r.Append(nil), false))
}

// Write answers the connect request and the request to close the session, and no others.
func (f *closeStub) Write(p []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case !f.connectReplied:
		f.connectReplied = true
		f.replyConnect()
	case isClose(p) && !f.closeReplied:
		f.closeReplied = true
		r := jute.ReplyHeader{Xid: int32(binary.BigEndian.Uint32(p[4:]))}
		f.answers <- frameOf(r.Append(nil))
	}
	return len(p), nil
}

// isClose tells whether a frame of the driver's is the request to close the session.
func isClose(p []byte) bool {
	return len(p) >= 12 && int32(binary.BigEndian.Uint32(p[8:])) == jute.OpClose
}

// Read returns the answers.
func (f *closeStub) Read(p []byte) (int, error) {
	if len(f.rest) == 0 {
		select {
		case f.rest = <-f.answers:
		case <-f.gone:
			return 0, io.EOF
		}
	}
	n := copy(p, f.rest)
	f.rest = f.rest[n:]
	return n, nil
}

// Close ends Read.
func (f *closeStub) Close() error {
	f.close()
	return nil
}

// LocalAddr returns an address that stands for none.
func (f *closeStub) LocalAddr() net.Addr { return &net.TCPAddr{} }

// RemoteAddr returns an address that stands for none.
func (f *closeStub) RemoteAddr() net.Addr { return &net.TCPAddr{} }

// noDeadlines is the part of a net.Conn for which deadlines mean nothing.
type noDeadlines struct{}

// SetDeadline does nothing.
func (noDeadlines) SetDeadline(time.Time) error { return nil }

// SetReadDeadline does nothing.
func (noDeadlines) SetReadDeadline(time.Time) error { return nil }

// SetWriteDeadline does nothing.
func (noDeadlines) SetWriteDeadline(time.Time) error { return nil }
