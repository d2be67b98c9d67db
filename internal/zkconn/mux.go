package zkconn

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"slices"
	"sync"
	"sync/atomic"
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

// owner is told what happens on a muxConn, without the lock of the muxConn.
type owner interface {
	// handshakeTimeout is how long a server has to answer the connect request.
	handshakeTimeout() time.Duration
	// closing tells whether the owner is to end.
	closing() bool
	// prepare completes the connect request, and sets forReads and asked.
	prepare(m *muxConn, r *jute.ConnectRequest)
	// authenticate proves who the client is, with the help of exchange, before established.
	authenticate(m *muxConn) error
	// established takes the connection into use. The connect request was sent at that time.
	established(m *muxConn, r jute.ConnectResponse, sent time.Duration) error
	// sessionOver is told that a server has said that a session is over, in answer to a connect request or to another one.
	sessionOver(session int64)
	// credentialAccepted is told that the server accepts a new credential.
	credentialAccepted(added Auth)
	// serves is told that the server serves the client, or why it does not.
	serves(m *muxConn, why error)
	// died takes the connection out of use, before its calls end. Its watches are the owner's to fire.
	died(m *muxConn, err error)
}

// shared is what a Conn and its connections have in common, among it what answers have said. Nothing of it needs the lock of
// the Conn.
type shared struct {
	lease      lease.Session
	unknown    unknownRequests
	persistent subscriptions
	ephemerals ephemerals
	lists      lists
	eventIDs   atomic.Int64   // how many events servers have told
	workers    sync.WaitGroup // the writers, and those who look for a quorum

	maxReply       int          // bytes
	granted        atomic.Int64 // the timeout of the session, zero without one
	lastZxid       atomic.Int64 // the highest that was seen in a reply
	closedByServer atomic.Bool  // the server has confirmed the end of the session

	sent, received atomic.Int64 // bytes
	lastPing       atomic.Int64 // how long it took
}

// A muxConn is the net.Conn under the driver's connection. The driver writes and reads
// whole frames through it and does not notice that they are not the only ones.
type muxConn struct {
	noDeadlines // its own are tighter than the driver's
	peer
	handshake

	owner  owner
	shared *shared
	raw    net.Conn
	br     *bufio.Reader // of the goroutine that reads, the driver's

	mu          sync.Mutex
	requests    requestQueue
	watches     watchTable
	beats       beats
	driver      driverSide // in parts of the driver's goroutines
	writeFailed bool       // reading goes on for a moment
	err         error      // why the connection is dead, nil while it lives

	delivery delivery
	dead     chan struct{}
}

// peer is where a connection leads. It does not change.
type peer struct {
	server  string
	attempt *hosts.Attempt // that has led to it; nil in tests
	born    time.Time
}

// place names the server in messages, with its address if that was looked up.
func (p *peer) place() string {
	if p.attempt == nil {
		return p.server
	}
	return p.attempt.Target.String()
}

// handshake is how far a connection has come, and what was agreed on. It is set before the connection is handed out, but for
// the last two.
type handshake struct {
	forReads bool  // the server was asked for reads alone; written by the owner, under its lock
	asked    int64 // the session that the server was asked to resume, zero for a new one; written by the owner
	open     bool  // the handshake is over; of the goroutine that reads
	session  int64
	timeout  time.Duration
	readOnly bool // the server has no quorum, and knows the session alone

	served bool // the server has answered a request that is not about credentials; of the goroutine that reads
	used   bool // the connection was established; guarded by the owner
}

// beats are our own requests that keep the session and prove it.
type beats struct {
	asking bool          // a request for a proof is under way
	pinged time.Duration // when a ping of our own was sent
}

// maxWaiting is how many requests may wait for an answer: a server that is stopped, and
// callers that give up soon and try again, must not fill the memory.
const maxWaiting = 100_000

var (
	errDead    = errors.New("the connection has ended")
	errCrowded = &TransportError{Err: ErrThrottled, Detail: fmt.Errorf("%d requests wait for an answer", maxWaiting)}
)

// send queues a batch, or returns errDead, errCrowded or what admit returns.
func (m *muxConn) send(b *batch) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.whyNotQueued(); err != nil {
		return err
	}
	return m.admit(b)
}

// sendOwn queues calls of the session layer as one batch, which does not pass the gate. It does nothing if there are none.
func (m *muxConn) sendOwn(calls []*Call) error {
	if len(calls) == 0 {
		return nil
	}
	b, err := newBatch(calls, maxFrame)
	if err == nil {
		err = m.send(b)
	}
	return err
}

// submit is send for what users and recipes send: with Config.MaxInFlight the batch may have to wait for
// others. Its watches are set, and looked at, when it is queued behind that.
func (m *muxConn) submit(b *batch) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.whyNotQueued(); err != nil {
		return err
	}
	if !m.requests.gate.enter(b) {
		return nil
	}
	err := m.admit(b)
	if err != nil {
		m.requests.gate.leave(b)
	}
	return err
}

// whyNotQueued returns why no batch can be queued now; m.mu is held.
func (m *muxConn) whyNotQueued() error {
	if m.err != nil || m.writeFailed {
		return errDead
	}
	if m.requests.len() >= maxWaiting {
		m.requests.gate.forget()
	}
	if m.requests.len() >= maxWaiting {
		return errCrowded
	}
	return nil
}

// withdraw takes a batch back unless it was sent. A batch at the gate may just be about to be queued.
func (m *muxConn) withdraw(b *batch) bool {
	if b.gated {
		m.mu.Lock()
		defer m.mu.Unlock()
	}
	return b.withdraw()
}

// limit sets how many batches of users and recipes may be under way at a time, zero for any number.
func (m *muxConn) limit(n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.requests.gate.limit = n
}

// admit queues a batch, or returns ErrPersistentWatch, ErrUnimplemented or an *EphemeralsTooLarge; m.mu is held. One without
// calls is for its turn alone.
func (m *muxConn) admit(b *batch) error {
	if len(b.calls) == 0 {
		b.finish(nil)
		return nil
	}
	if slices.ContainsFunc(b.calls, m.watches.persistent.conflicts) {
		return ErrPersistentWatch
	}
	if err := m.shared.unknown.replaceUnknown(b); err != nil {
		return err
	}
	if err := m.admitEphemerals(b); err != nil {
		return err
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
	m.requests.add(outgoing{batch: b})
	return nil
}

// admitEphemerals counts the ephemeral nodes that a batch creates, or returns an *EphemeralsTooLarge; m.mu is held.
func (m *muxConn) admitEphemerals(b *batch) error {
	if b.ephemeral == 0 {
		return nil
	}
	full, ask := m.shared.ephemerals.refuses(m.session, b.calls, m.requests.ephemeral)
	if ask {
		m.enqueue(listEphemerals(m.session))
	}
	if full != nil {
		return full
	}
	m.requests.ephemeral += int(b.ephemeral)
	return nil
}

// admitNext queues what has waited at the gate and may be sent now; m.mu is held. deliver says that
// delivery.run is to be called, without locks.
func (m *muxConn) admitNext() (deliver bool) {
	for b := m.requests.gate.next(); b != nil; b = m.requests.gate.next() {
		err := m.admit(b)
		if err == nil {
			continue
		}
		m.requests.gate.leave(b)
		if b.finish(err); b.then != nil {
			m.delivery.add(b.then)
			deliver = true
		}
	}
	return deliver
}

// enqueue sends calls whose answers nobody waits for; m.mu is held. On a dead connection it does
// nothing. A call that is too long for a frame is left out: no server has a watch on so long a path. So is one that the
// servers do not know: the server's watch ends with the connection.
func (m *muxConn) enqueue(calls ...*Call) {
	for _, call := range calls {
		if m.shared.unknown.lacks(call.Op) {
			continue
		}
		if b, err := newBatch([]*Call{call}, maxFrame); err == nil && m.err == nil {
			m.requests.add(outgoing{batch: b})
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

// leaveGate lets another batch take the turn of one that was not used.
func (m *muxConn) leaveGate(turn *batch) {
	m.mu.Lock()
	if !turn.waits {
		m.requests.gate.leave(turn)
	}
	deliver := m.err == nil && m.admitNext()
	m.mu.Unlock()
	if deliver {
		m.delivery.run()
	}
}

// subscribe queues the request for a subscription, of limit bytes at most, or returns nil if the
// connection is dead. With Config.MaxInFlight the caller has a turn, which the request takes over.
func (m *muxConn) subscribe(sub *Subscription, limit int) (*batch, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case m.err != nil, m.writeFailed:
		return nil, nil
	case m.shared.unknown.lacks(jute.OpAddWatch):
		return nil, refusal(jute.OpAddWatch, jute.CodeUnimplemented)
	}
	m.watches.persistent.add(sub)
	b, err := newBatch([]*Call{m.watches.persistent.adjusting(sub.path)}, limit)
	if err != nil {
		m.watches.persistent.remove(sub)
		return nil, err
	}
	b.calls[0].Session, b.gated = m.session, m.requests.gate.limit > 0
	m.requests.add(outgoing{batch: b})
	return b, nil
}

// outstanding returns how many requests wait, and since when the oldest one that was written does.
func (m *muxConn) outstanding(now time.Duration) (n int, oldest time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if waiting := m.requests.pending.waiting(); len(waiting) > 0 {
		oldest = now - waiting[0].stamp.Sent
	}
	return m.requests.len(), oldest
}
