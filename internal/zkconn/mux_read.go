package zkconn

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/zkconn/lease"
)

// Read gives the driver the frames that are its own.
func (m *muxConn) Read(p []byte) (int, error) {
	for len(m.driver.rest) == 0 && !m.driver.stubbed {
		frame, rest, err := m.readFrame()
		if err == nil {
			err = m.dispatch(frame, rest)
		}
		if err != nil {
			m.fail(err)
			<-m.delivery.done // before the driver connects again
			if m.driver.stubbed = m.useStub(); !m.driver.stubbed {
				return 0, err
			}
		}
	}
	return m.driver.read(p)
}

// useStub replaces the server by a closeStub if the driver is to end and its last request would get no
// answer, because this connection is dead. It tells whether it has done so.
func (m *muxConn) useStub() bool {
	closing := m.owner.closing()
	m.mu.Lock()
	defer m.mu.Unlock()
	refused := m.driver.answered && m.session == 0
	if !closing || refused || m.driver.closeXid != 0 {
		return false
	}
	m.driver.stub = newCloseStub(true)
	if !m.driver.answered {
		m.driver.stub.replyConnect()
	}
	return true
}

// readFrame reads one frame, its length included. Of a frame that is longer than the owner accepts it
// reads only the header, and returns how many bytes are left.
func (m *muxConn) readFrame() (frame []byte, rest int, err error) {
	if err := m.setReadDeadline(); err != nil {
		return nil, 0, err
	}
	least, most := minHandshake, maxHandshake
	if m.forReads {
		least = headerSize // see refusedReads
	}
	if m.open {
		least, most = headerSize, m.shared.maxReply
	}
	frame, rest, err = readFrame(m.br, least, most)
	m.shared.received.Add(int64(len(frame)))
	if !m.open && (errors.Is(err, errFrameSize) || rest > 0) {
		err = notZooKeeper(frame[:4])
	}
	return frame, rest, err
}

// dispatch passes a frame to the request, the watches or the driver that it is for. rest is that of
// readFrame.
func (m *muxConn) dispatch(frame []byte, rest int) error {
	if !m.open {
		if err := m.handshakeDone(frame[4:]); err != nil {
			return err
		}
		m.driver.rest, m.driver.answered = frame, true
		return nil
	}
	header, err := jute.DecodeReplyHeader(frame[4:])
	if err != nil {
		return err
	}
	body := frame[4+headerSize:]
	switch header.Err {
	case jute.CodeSessionClosedRequireSASLAuth:
		return m.refuse(ErrSASLRequired)
	case jute.CodeSessionExpired:
		m.owner.sessionOver(m.session) // before the caller gets the answer
	}
	if rest > 0 {
		if err := m.skip(header.Xid, rest); err != nil {
			return err
		}
	}
	if header.Xid == jute.XidNotification {
		return m.onEvent(header, body)
	}
	request, deliver, err := m.onReply(header, body, rest)
	if err != nil {
		return err
	}
	if deliver {
		m.delivery.run()
	}
	if request.op != jute.OpAuth && !m.served {
		m.served = true
		m.owner.serves(m, nil)
	}
	return m.afterReply(header, request, frame)
}

// refuse notes that the server serves the client nothing, and returns why.
func (m *muxConn) refuse(why error) error {
	m.owner.serves(m, why)
	return refusalError{why}
}

// afterReply does what is to be done behind the answer to a request. It returns an error if the answer ends the
// connection.
func (m *muxConn) afterReply(header jute.ReplyHeader, request followUp, frame []byte) error {
	switch {
	case header.Err == jute.CodeSessionExpired:
		return ErrSessionExpired
	case request.ofDriver:
		m.driver.rest = frame
	case header.Err == jute.CodeOK && request.added != nil:
		m.owner.credentialAccepted(*request.added)
	case header.Err == jute.CodeOK:
	case request.op == jute.OpAuth && request.added != nil: // that is for the caller of AddAuth alone
	case request.op == jute.OpAuth && header.Err == jute.CodeAuthFailed:
		return m.refuse(credentialRefused(request.req))
	case request.op == jute.OpAuth: // another connection may take them
		return fmt.Errorf("credentials were not taken: %w", codeError(header.Err))
	case request.vital:
		return fmt.Errorf("the server did not sync: %w", codeError(header.Err))
	case request.restores:
		return fmt.Errorf("watches were not put back: %w", codeError(header.Err))
	}
	return nil
}

// credentialRefused is why a server ends a connection that has presented a credential.
func credentialRefused(request jute.Record) error {
	text := "it refuses a credential"
	if p, ok := request.(*jute.AuthPacket); ok {
		text = fmt.Sprintf("it refuses the credential of the scheme %q", p.Scheme)
	}
	return &Error{code: jute.CodeAuthFailed, text: text, driver: ErrAuthFailed}
}

// skip drops the rest of an answer that is too large. It fails for a frame that does not answer the
// oldest request, because its length may be nonsense.
func (m *muxConn) skip(xid int32, rest int) error {
	m.mu.Lock()
	waiting := m.requests.pending.waiting()
	known := len(waiting) > 0 && waiting[0].xid == xid
	m.mu.Unlock()
	if !known {
		return fmt.Errorf("%w: %d bytes", errFrameSize, rest)
	}
	m.shared.received.Add(int64(rest))
	return discard(m.br, rest, m.setReadDeadline)
}

// setReadDeadline bounds a read. The driver pings every third of the timeout, so that a living
// server is silent for little more than a third.
func (m *muxConn) setReadDeadline() error {
	m.mu.Lock()
	ending := m.writeFailed
	m.mu.Unlock()
	switch {
	case ending:
		return nil
	case m.open:
		return m.raw.SetReadDeadline(time.Now().Add(m.timeout * 2 / 3))
	}
	return m.raw.SetReadDeadline(m.born.Add(m.owner.handshakeTimeout()))
}

// onEvent passes an event on to the watches.
func (m *muxConn) onEvent(header jute.ReplyHeader, body []byte) error {
	var event jute.WatcherEvent
	if err := jute.Decode(body, &event); err != nil {
		return err
	}
	if event.Type > 0 && !strings.HasPrefix(event.Path, "/") {
		return fmt.Errorf("an event for the path %q", event.Path)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.err != nil {
		return m.err // another goroutine has ended the connection: its watches have been told so
	}
	if EventType(event.Type) == NodeDeleted {
		m.shared.ephemerals.deleted(m.session, event.Path)
	}
	m.watches.onEvent(WatchEvent{EventType(event.Type), event.Path, header.Zxid, m.shared.eventIDs.Add(1)})
	return nil
}

// onReply takes the answer to the oldest request that waits for one. What it says about the session is
// noted before the caller gets it. deliver tells whether delivery.run is to be called, without locks, because a batch
// now has all of its answers.
func (m *muxConn) onReply(header jute.ReplyHeader, body []byte, rest int) (request followUp, deliver bool, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.err != nil {
		return request, false, m.err // another goroutine has ended the connection: its calls end with that
	}
	p, err := m.requests.answered(header.Xid, header.Err)
	if err != nil {
		return request, false, err
	}
	request = p.followUp()
	renews := lease.Renews(request.op)
	if renews && header.Zxid > 0 {
		storeMax(&m.shared.lastZxid, header.Zxid)
	}
	if renews && !m.readOnly { // that has a session of its own
		m.shared.lease.Answered(m.session, &m.requests.evidence, p.stamp, request.op, header.Err == jute.CodeOK)
	}
	call := p.call()
	if call == nil {
		m.onDriverReply(p)
		return request, false, nil
	}
	m.shared.unknown.onAnswer(call, header.Err)
	if call.Op != jute.OpAuth { // of which the answer may be early, see requestQueue
		m.enqueue(m.watches.onReply(call, header.Err, header.Zxid, m.shared.eventIDs.Load())...)
		if rest > 0 && call.Watch != nil { // the caller gets no answer
			m.enqueue(m.watches.remove(call.Watch)...)
		}
	}
	m.measure(p, header.Err, body, rest)
	if !p.reply(header, body, rest) {
		return request, false, nil
	}
	if deliver = p.batch.then != nil; deliver {
		m.delivery.add(p.batch.then)
	}
	m.requests.gate.leave(p.batch)
	return request, m.admitNext() || deliver, nil
}

// measure takes note of what an answer says about sizes that a server limits; m.mu is held.
func (m *muxConn) measure(p pending, code jute.Code, body []byte, rest int) {
	call := p.call()
	if p.batch.ephemeral > 0 {
		m.requests.ephemeral -= ephemeralSize(call)
	}
	m.shared.lists.answered(call, code, headerSize+len(body)+rest)
	if m.shared.ephemerals.answered(call, code, body, rest) {
		m.enqueue(listEphemerals(m.session))
	}
}

// onDriverReply notes the answer to a request of the driver's; m.mu is held.
func (m *muxConn) onDriverReply(p pending) {
	switch {
	case p.xid == jute.XidPing:
		m.shared.lastPing.Store(int64(m.shared.lease.Now() - p.stamp.Sent))
	case p.xid == m.driver.closeXid && !m.readOnly: // that was the session of the server alone
		m.shared.closedByServer.Store(true)
	}
}

// keeperRejects is the version in the connect reply of a ClickHouse Keeper that serves nobody. ZooKeeper's is 0.
const keeperRejects = 42

// errRejected is an answer without a session. What stands in the place of its id is none.
var errRejected = errors.New("the server accepts no session: it has no leader, or is too busy")

// handshakeDone reads the connect reply, which the driver gets to see, too.
func (m *muxConn) handshakeDone(frame []byte) error {
	if len(frame) < minHandshake {
		return refusedReads(frame)
	}
	var r jute.ConnectResponse
	d := jute.NewDecoder(frame)
	if r.Decode(d); d.Err() != nil {
		return d.Err()
	}
	m.readOnly = len(d.Rest()) > 0 && d.Bool()
	switch {
	case r.ProtocolVersion == keeperRejects:
		return errRejected
	case r.SessionID != 0 && r.TimeOut <= 0: // the driver would crash on its ticker
		return fmt.Errorf("%w (a session of %d ms)", ErrNotZooKeeper, r.TimeOut)
	case len(r.Passwd) > maxPasswd:
		return fmt.Errorf("%w (a session password of %d bytes)", ErrNotZooKeeper, len(r.Passwd))
	}
	m.open = true
	m.mu.Lock()
	m.session, m.timeout = r.SessionID, time.Duration(r.TimeOut)*time.Millisecond
	sent := m.requests.connectSent
	m.shared.lease.Connected(&m.requests.evidence, m.timeout, sent)
	m.mu.Unlock()
	if r.SessionID == 0 {
		m.owner.sessionOver(m.asked)
		// The driver reads the refusal and dials again without closing this one.
		m.fail(ErrSessionExpired)
		return nil
	}
	if err := m.owner.authenticate(m); err != nil {
		return err
	}
	return m.owner.established(m, r, sent)
}

// errTokenRefused: a server has said that the client is not who it seems to be.
var errTokenRefused = &Error{code: jute.CodeAuthFailed, text: "refused by the server", driver: ErrAuthFailed}

// exchange sends the client's token and returns the server's. It is for the goroutine that reads,
// before the connection is handed out: there are no other requests.
func (m *muxConn) exchange(token []byte, limit int, deadline time.Time) (challenge []byte, err error) {
	if token == nil {
		token = []byte{} // servers expect one
	}
	var res jute.SetSASLResponse
	call := &Call{Op: jute.OpSASL, Req: &jute.GetSASLRequest{Token: token}, Res: &res}
	b, err := newBatch([]*Call{call}, limit)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", err, ErrAuthFailed) // the next token would be the same
	}
	if err := m.send(b); err != nil {
		return nil, err
	}
	if err := m.raw.SetReadDeadline(deadline); err != nil {
		return nil, err
	}
	frame, rest, err := readFrame(m.br, headerSize, maxFrame)
	if err == nil && rest > 0 {
		err = fmt.Errorf("%w: a token of more than %d bytes", errFrameSize, maxFrame)
	}
	if err != nil {
		return nil, err
	}
	header, err := jute.DecodeReplyHeader(frame[4:])
	if err != nil {
		return nil, err
	}
	if _, _, err := m.onReply(header, frame[4+headerSize:], 0); err != nil {
		return nil, err
	}
	if err := call.decode(b.replies[0]); err != nil {
		return nil, err
	}
	// A server that requires SASL answers ErrSASLRequired to a wrong password, too.
	if errors.Is(call.Err, ErrAuthFailed) || errors.Is(call.Err, ErrSASLRequired) {
		return nil, errTokenRefused
	}
	return res.Token, call.Err
}
