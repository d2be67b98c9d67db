package zkconn

import (
	"encoding/binary"
	"fmt"
	"io"
	"log/slog"
	"net"
	"sync"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/go-curator/curator/internal/jute"
)

// No other file of this package imports the driver, github.com/go-zookeeper/zk v1.0.4. What is used of it: it dials, one
// connection after the other, has each connect request ask for the session of the last connect reply, pings, and closes the
// session at its end. What this package relies on beyond that:
//
//   - It writes nothing but a connect request, pings and the request to close the session, each of them in one Write, with
//     the xid of a ping or a positive one. It pings every third of the timeout in the connect reply, and takes every answer
//     with the xid of a ping for one to its own.
//   - One goroutine at a time reads and one writes, and the handshake is over before both begin. It reads what it is given,
//     in whatever pieces.
//   - When a Read fails it closes the connection, and dials again at once, unless it is to end, or its HostProvider announces
//     a completed round. Behind a connect reply without a session it dials again, too, and leaves the connection to itself.
//     Behind another one it calls HostProvider.Connected before it reads on.
//   - It does not survive a connect reply with a timeout of nothing, a frame without a whole header, nor a password that does
//     not fit into 256 bytes with the rest of a connect request: it must not get to see these.
//   - Close waits for the answer to its last request for a second at most, also if there is no connection, and for the whole
//     second if the driver ends in the moment in which it is called. It does not send that request again, and hangs up when
//     it has the answer. The channel of events is closed when the driver connects no more. That is not while it dials, nor as
//     long as its dialer fails.
//
// The tests in driver_test.go show of this what the tests of hazards do not.

// driverHooks is what the driver is given.
type driverHooks interface {
	// dial returns a connection, after a pause if attempts have failed. It must not return an error
	// for ever: the driver would not end.
	dial() (net.Conn, error)
	// accepted is told that a server has accepted a session.
	accepted()
}

// driverBuffer is the size of the driver's buffers. Its default is 1.5 MiB for each of two.
const driverBuffer = 1 << 10

// driver is a running driver.
type driver struct {
	conn  *zk.Conn
	ended chan struct{} // closed when it connects no more
}

func startDriver(hooks driverHooks, servers []string, timeout time.Duration, logger *slog.Logger) (*driver, error) {
	dial := func(string, string, time.Duration) (net.Conn, error) { return hooks.dial() }
	conn, events, err := zk.Connect(servers, timeout,
		zk.WithDialer(dial), zk.WithHostProvider(driverHosts{hooks}),
		zk.WithLogger(driverLogger{logger}), zk.WithLogInfo(false),
		// It reads and writes its own requests only, which are small.
		zk.WithMaxBufferSize(driverBuffer), zk.WithMaxConnBufferSize(driverBuffer))
	if err != nil {
		return nil, fmt.Errorf("driver: %w", err)
	}
	d := &driver{conn: conn, ended: make(chan struct{})}
	go func() { // the driver's channel drops what is not read, and tells us its end
		defer close(d.ended)
		for range events {
		}
	}()
	return d, nil
}

// close has the driver close the session, behind everything that is queued. The driver waits no longer
// than a second for the answer.
func (d *driver) close() { d.conn.Close() }

// driverErrors are the driver's own errors, which ours unwrap to.
var driverErrors = map[jute.Code]error{
	jute.CodeNoNode:                  zk.ErrNoNode,
	jute.CodeNodeExists:              zk.ErrNodeExists,
	jute.CodeNotEmpty:                zk.ErrNotEmpty,
	jute.CodeBadVersion:              zk.ErrBadVersion,
	jute.CodeNoChildrenForEphemerals: zk.ErrNoChildrenForEphemerals,
	jute.CodeInvalidACL:              zk.ErrInvalidACL,
	jute.CodeNoAuth:                  zk.ErrNoAuth,
	jute.CodeAuthFailed:              zk.ErrAuthFailed,
	jute.CodeSessionExpired:          zk.ErrSessionExpired,
	jute.CodeSessionMoved:            zk.ErrSessionMoved,
	jute.CodeConnectionLoss:          zk.ErrConnectionClosed,
	jute.CodeBadArguments:            zk.ErrBadArguments,
	jute.CodeUnimplemented:           zk.ErrAPIError,
}

// The driver's errors that no server answers.
var (
	driverClosing  = zk.ErrClosing
	driverNoServer = zk.ErrNoServer
)

// driverLogger logs the driver's messages at debug level: this package itself reports what matters.
type driverLogger struct{ logger *slog.Logger }

func (l driverLogger) Printf(format string, args ...any) {
	l.logger.Debug("zookeeper driver: " + fmt.Sprintf(format, args...))
}

// driverHosts is what the driver sees of the servers. Which one is next is decided when it is dialed,
// behind the pause: the list may have changed meanwhile.
type driverHosts struct{ hooks driverHooks }

var _ zk.HostProvider = driverHosts{}

// Init is given the servers that the hooks have.
func (h driverHosts) Init([]string) error { return nil }

// Len is not called by the driver.
func (driverHosts) Len() int { return 1 }

// Next returns what stands in the driver's messages. It never announces a completed round, at which the driver
// pauses for a second: pacing is ours.
func (h driverHosts) Next() (server string, retryStart bool) { return "the next server", false }

// Connected is called by the driver after a handshake: the next attempt begins a round.
func (h driverHosts) Connected() { h.hooks.accepted() }

// driverSide is what a connection and the driver have said to each other.
type driverSide struct {
	// Of the goroutines of the driver's that write and read.
	connectWritten bool   // the connect request has passed
	rest           []byte // of a frame for the driver
	answered       bool   // the driver has its connect reply
	stubbed        bool   // stub is set

	// Guarded by the connection's lock.
	stub     *closeStub // takes the server's place at the end
	closeXid int32      // the driver's request to close the session, once it is sent
}

// read gives the driver what is left for it.
func (d *driverSide) read(p []byte) (int, error) {
	if d.stubbed {
		return d.stub.Read(p)
	}
	n := copy(p, d.rest)
	d.rest = d.rest[n:]
	return n, nil
}

// completed returns the driver's connect request, with what complete makes of it.
func completed(frame []byte, complete func(*jute.ConnectRequest) (forReads bool)) []byte {
	var r jute.ConnectRequest
	if len(frame) < 4 || jute.Decode(frame[4:], &r) != nil {
		return frame // not the driver we know; the server will say so
	}
	forReads := complete(&r)
	return frameOf(jute.AppendBool(r.Append(nil), forReads))
}

// pingFrame returns a ping as the driver sends it: the driver takes the answer for one of its own.
func pingFrame() []byte {
	r := jute.RequestHeader{Xid: jute.XidPing, Op: jute.OpPing}
	return frameOf(r.Append(nil))
}

// frameOf returns b with its length before it.
func frameOf(b []byte) []byte {
	return append(binary.BigEndian.AppendUint32(make([]byte, 0, 4+len(b)), uint32(len(b))), b...)
}

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
