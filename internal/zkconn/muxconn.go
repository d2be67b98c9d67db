package zkconn

import (
	"bufio"
	"encoding/binary"
	"net"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/zkconn/hosts"
	"github.com/go-curator/curator/internal/zkconn/lease"
)

const (
	// maxFrame bounds requests of our own.
	maxFrame = 16 << 20
	// handshake sizes: a connect reply has 36 bytes, 37 since 3.4.
	minHandshake, maxHandshake = 36, 256
	// maxPasswd bounds the password of a session, which has 16 bytes. The driver has a small buffer for
	// connect requests: with a password that does not fit it could never connect again.
	maxPasswd = 128
	// readBuffer is enough for the answers to many small requests.
	readBuffer = 16 << 10
)

// owner is told what happens on a muxConn. authenticate, established, served, refused, died, sessionRefused and
// sessionExpired are called without the lock of the muxConn; the others may be called with it.
type owner interface {
	// handshakeTimeout is how long a server has to answer the connect request.
	handshakeTimeout() time.Duration
	// maxReply is how large an answer may be, in bytes.
	maxReply() int
	// closing tells whether the owner is to end.
	closing() bool
	// prepare completes the connect request, and tells whether it asks for reads alone.
	prepare(m *muxConn, r *jute.ConnectRequest) (forReads bool)
	// authenticate proves who the client is, with the help of exchange, before established.
	authenticate(m *muxConn) error
	// established takes the connection into use. The connect request was sent at that time.
	established(m *muxConn, r jute.ConnectResponse, sent time.Duration) error
	// sessionRefused is told that the server does not know the session that it was asked to resume, and
	// sessionExpired that it has answered a request so.
	sessionRefused()
	sessionExpired(session int64)
	// credentialAccepted is told that the server accepts a new credential.
	credentialAccepted(added Auth)
	// served is told that the server serves the client, and refused that it does not, and why.
	served()
	refused(m *muxConn, why error)
	// died takes the connection out of use, before its calls end. Its watches are the owner's to fire.
	died(m *muxConn, err error)
}

// A muxConn is the net.Conn under the driver's connection. The driver writes and reads
// whole frames through it and does not notice that they are not the only ones.
type muxConn struct {
	noDeadlines // its own are tighter than the driver's

	owner  owner
	shared *shared
	raw    net.Conn
	server string
	born   time.Time
	used   bool // it was established; guarded by the owner

	attempt *hosts.Attempt // that has led to it; nil in tests

	// Of the goroutine that reads, the driver's.
	br     *bufio.Reader
	open   bool // the handshake is over
	served bool // the server has answered a request that is not about credentials

	forReads bool // the server was asked for reads alone; written by the goroutine that writes, under the owner's lock

	// Set when the handshake is over, before the connection is handed out.
	session  int64
	timeout  time.Duration
	readOnly bool // the server has no quorum, and knows the session alone

	mu          sync.Mutex
	requests    requestQueue
	watches     watchTable
	asking      bool          // a request for a proof is under way
	pinged      time.Duration // when a ping of our own was sent
	driver      driverSide    // in parts of the driver's goroutines
	writeFailed bool          // reading goes on for a moment
	err         error         // why the connection is dead, nil while it lives

	delivery delivery

	wake chan struct{} // tells the writer of requests that wait
	dead chan struct{}
}

func newMuxConn(o owner, s *shared, syncProof bool, raw net.Conn, server string) *muxConn {
	m := &muxConn{
		owner: o, shared: s, raw: raw, server: server, born: time.Now(),
		br:       bufio.NewReaderSize(raw, readBuffer),
		requests: requestQueue{xid: firstXid, evidence: lease.NewEvidence(syncProof)},
		wake:     make(chan struct{}, 1), dead: make(chan struct{}), delivery: delivery{done: make(chan struct{})},
	}
	m.watches = watchTable{persistent: &s.persistent, unwatch: m.unwatch}
	s.workers.Go(func() {
		m.writeLoop()
		<-m.dead
		_ = raw.Close()
	})
	return m
}

// Write takes one whole frame of the driver's. It never fails: a write error closes the
// connection, and the reading side tells the driver, which survives that better.
func (m *muxConn) Write(p []byte) (int, error) {
	o := outgoing{frame: slices.Clone(p)}
	if !m.driver.connectWritten {
		m.driver.connectWritten = true
		// The highest zxid seen counts our own replies, and a session that was given up locally is not resumed.
		o.frame = completed(o.frame, func(r *jute.ConnectRequest) bool { return m.owner.prepare(m, r) })
	} else {
		o.xid = int32(binary.BigEndian.Uint32(p[4:]))
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.driver.stub != nil {
		return m.driver.stub.Write(p)
	}
	if isClose(p) {
		m.driver.closeXid = o.xid // also on a dead connection: the driver does not send it again, nobody is to wait for it
		m.requests.gate.shut = true
	}
	if m.err == nil {
		m.enqueueFrame(o)
	}
	return len(p), nil
}

// enqueueFrame hands o to the writer; the caller holds m.mu and has seen m.err nil.
func (m *muxConn) enqueueFrame(o outgoing) {
	m.requests.outgoing = append(m.requests.outgoing, o)
	select {
	case m.wake <- struct{}{}:
	default: // it has been told already
	}
}

// admit queues a batch, or returns ErrPersistentWatch; m.mu is held. One without calls is for its turn alone.
func (m *muxConn) admit(b *batch) error {
	if len(b.calls) == 0 {
		b.finish(nil)
		return nil
	}
	if slices.ContainsFunc(b.calls, m.watches.persistent.conflicts) {
		return ErrPersistentWatch
	}
	for i, call := range b.calls {
		call.Session = m.session
		if len(call.kept) > 0 {
			m.watches.restore(call)
		}
		for watch := range call.watches {
			m.watches.add(watch)
		}
		if call.Watch != nil {
			served := m.watches.persistent.hasPersistentWatch(call.Watch.path)
			if served && call.Watch.kept == keptAsked {
				call.Watch.kept = keptServed
			}
			b.setWatch(i, !served)
		}
	}
	m.enqueueFrame(outgoing{batch: b})
	return nil
}

// admitNext queues what has waited at the gate and may be sent now; m.mu is held. told says that
// delivery.run is to be called.
func (m *muxConn) admitNext() (told bool) {
	for b := m.requests.gate.next(); b != nil; b = m.requests.gate.next() {
		err := m.admit(b)
		if err == nil {
			continue
		}
		m.requests.gate.leave(b)
		if b.finish(err); b.then != nil {
			m.delivery.add(b.then)
			told = true
		}
	}
	return told
}

// enqueue sends calls whose answers nobody waits for; m.mu is held. On a dead connection it does
// nothing. A call that is too long for a frame is left out: no server has a watch on so long a path.
func (m *muxConn) enqueue(calls ...*Call) {
	for _, call := range calls {
		if b, err := newBatch([]*Call{call}, maxFrame); err == nil && m.err == nil {
			m.enqueueFrame(outgoing{batch: b})
		}
	}
}

// unwatch gives a watch back. The request that removes the server's watch is queued under the lock
// under which reads are queued, so the watch of a later read is set after the removal.
func (m *muxConn) unwatch(watch *Watch) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.enqueue(m.watches.remove(watch)...)
}

// hasWatches tells whether watches are set on the connection, or were set when it ended and have had
// no event since.
func (m *muxConn) hasWatches() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.watches.watches) > 0
}

// takeKept takes the kept watches of a connection that has ended.
func (m *muxConn) takeKept() []*Watch {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.watches.takeKept()
}

// fireAll tells the watches of a connection that has ended what has become of them.
func (m *muxConn) fireAll(t EventType) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.watches.fireAll(t)
}

// writeLoop writes everything that is queued in one write, until the connection is dead.
func (m *muxConn) writeLoop() {
	var buf []byte
	for {
		select {
		case <-m.wake:
		case <-m.dead:
			return
		}
		// A deadline that cannot be set ends the connection before anything counts as sent.
		if err := m.setWriteDeadline(); err != nil {
			m.fail(err)
			return
		}
		if m.busy() {
			runtime.Gosched() // others are about to ask, too: one write for all
		}
		var told bool
		if buf, told = m.collect(buf[:0]); told {
			m.delivery.run()
		}
		if len(buf) == 0 {
			continue
		}
		m.shared.sent.Add(int64(len(buf)))
		if err := writeChunks(m.raw, buf, m.setWriteDeadline); err != nil {
			m.onWriteError(err)
			return
		}
		if cap(buf) > 1<<20 {
			buf = nil // an exceptionally large request shall not be kept for ever
		}
	}
}

// busy tells whether several requests wait for their answers.
func (m *muxConn) busy() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.requests.pending.waiting()) > 1
}

// collect appends to buf what is to be written. told is that of admitNext.
func (m *muxConn) collect(buf []byte) (_ []byte, told bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.err != nil {
		return buf, false // those who rely on the connection are just told
	}
	return m.requests.collect(buf, m.shared.lease.Stamp(&m.requests.evidence)), m.admitNext()
}

// setWriteDeadline bounds a write: a server that takes nothing for so long is lost.
func (m *muxConn) setWriteDeadline() error {
	m.mu.Lock()
	timeout := m.timeout / 3
	m.mu.Unlock()
	if timeout == 0 {
		timeout = m.owner.handshakeTimeout()
	}
	return m.raw.SetWriteDeadline(time.Now().Add(timeout))
}

// drainTime is how long a connection that takes nothing any more is still read.
const drainTime = 250 * time.Millisecond

// onWriteError ends the connection, but first what the server has sent is read: it may be the reason.
func (m *muxConn) onWriteError(err error) {
	m.mu.Lock()
	m.writeFailed = true
	m.mu.Unlock()
	if err := m.raw.SetReadDeadline(time.Now().Add(drainTime)); err != nil {
		m.fail(err)
		return
	}
	timer := time.NewTimer(drainTime)
	defer timer.Stop()
	select {
	case <-timer.C:
		m.fail(err)
	case <-m.dead:
	}
}

// Close closes the connection, as the driver asks for.
func (m *muxConn) Close() error {
	m.fail(net.ErrClosed)
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.driver.stub != nil {
		return m.driver.stub.Close()
	}
	return nil
}

// fail ends the connection: what was sent is in doubt, what was not is free to be sent again. Those who rely
// on the connection are told before the calls end.
func (m *muxConn) fail(err error) {
	if !m.stop(err) {
		return
	}
	m.owner.died(m, err)
	m.endCalls(err)
	m.delivery.end()
	// This ends reads and writes at once. The writer closes the connection, which for TLS
	// may take seconds.
	_ = m.raw.SetDeadline(time.Unix(1, 0))
}

// stop has the connection take and give nothing from now on. It reports whether it was in use.
func (m *muxConn) stop(err error) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.err != nil {
		return false
	}
	m.err = err
	return true
}

// endCalls ends all calls that wait, with an error for those that were sent and one for those that were not.
func (m *muxConn) endCalls(err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	close(m.dead)
	why := fromServer(m.place(), err)
	for _, then := range m.requests.drain(
		&TransportError{Err: ErrConnectionLoss, Detail: why, Sent: !isRefusal(err)},
		&TransportError{Err: ErrConnectionLoss, Detail: why}) {
		if then != nil {
			m.delivery.add(then)
		}
	}
}

// place names the server in messages, with its address if that was looked up.
func (m *muxConn) place() string {
	if m.attempt == nil {
		return m.server
	}
	return m.attempt.Target.String()
}
