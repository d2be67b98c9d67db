package zkconn

import (
	"bufio"
	"encoding/binary"
	"net"
	"runtime"
	"slices"
	"time"

	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/zkconn/lease"
)

func newMuxConn(o owner, s *shared, syncProof bool, raw net.Conn, p peer) *muxConn {
	p.born = time.Now()
	m := &muxConn{
		owner: o, shared: s, raw: raw, peer: p,
		br:       bufio.NewReaderSize(raw, readBuffer),
		requests: requestQueue{xid: firstXid, evidence: lease.NewEvidence(syncProof), wake: make(chan struct{}, 1)},
		dead:     make(chan struct{}), delivery: delivery{done: make(chan struct{})},
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
		o.frame = completed(o.frame, func(r *jute.ConnectRequest) (forReads bool) {
			m.owner.prepare(m, r)
			return m.forReads
		})
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
		m.requests.add(o)
	}
	return len(p), nil
}

// writeLoop writes everything that is queued in one write, until the connection is dead.
func (m *muxConn) writeLoop() {
	var buf []byte
	for {
		select {
		case <-m.requests.wake:
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
		var deliver bool
		if buf, deliver = m.collect(buf[:0]); deliver {
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

// collect appends to buf what is to be written. deliver is that of admitNext.
func (m *muxConn) collect(buf []byte) (_ []byte, deliver bool) {
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
