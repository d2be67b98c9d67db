package zkconn

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"time"

	"github.com/go-curator/curator/internal/jute"
)

const (
	// firstXid is the first of our own requests; they count down from here.
	firstXid = -1000
	// headerSize is the size of a reply's header, the smallest frame after the handshake.
	headerSize = 16
	// maxFrame bounds what a server may send at once. Lists of children are the largest
	// answers; 16 MiB are some hundred thousand names.
	maxFrame = 16 << 20
	// handshake sizes: a connect reply has 36 bytes, 37 since 3.4.
	minHandshake, maxHandshake = 36, 256
)

// A wire is the net.Conn under the driver's connection. The driver writes and reads
// whole frames through it and does not notice that they are not the only ones.
type wire struct {
	conn   *Conn
	raw    net.Conn
	server string
	born   time.Time
	used   bool // it was established; guarded by conn.mu

	attempt *attempt // that has led to it; nil in tests

	// Of the goroutine that reads, the driver's.
	br     *bufio.Reader
	rest   []byte // of a frame for the driver
	open   bool   // the handshake is over
	told   bool   // and the driver has its answer
	parted bool   // parting is set

	hello bool // the connect request has passed; of the goroutine that writes, the driver's

	// Set when the handshake is over, before the wire is handed out.
	session int64
	timeout time.Duration

	mu       sync.Mutex
	queue    []outgoing
	pending  line // in the order of the wire
	xid      int32
	greeted  bool          // the connect request was sent
	sentAt   time.Duration // when that was
	evidence evidence
	pinged   time.Duration // when a ping of our own was sent
	asking   bool          // a request for a proof is under way
	parting  *farewell     // takes the server's place at the end
	bye      int32         // the driver's request to close the session, once it is sent
	mute     bool          // writing has failed, reading goes on for a moment
	err      error         // why the wire is dead, nil while it lives
	hub      hub
	noticed  int64 // the last message when a request of ours was answered

	wake chan struct{} // tells the writer of a queue that is not empty
	dead chan struct{}
}

func newWire(c *Conn, raw net.Conn, server string) *wire {
	w := &wire{
		conn: c, raw: raw, server: server, born: time.Now(),
		br: bufio.NewReaderSize(raw, 32<<10), xid: firstXid,
		wake: make(chan struct{}, 1), dead: make(chan struct{}), evidence: evidence{syncProof: c.cfg.SyncProof},
	}
	c.workers.Add(1)
	go func() {
		defer c.workers.Done()
		w.writeLoop()
		<-w.dead
		_ = raw.Close()
	}()
	return w
}

// Read gives the driver the frames that are its own.
func (w *wire) Read(p []byte) (int, error) {
	for len(w.rest) == 0 && !w.parted {
		frame, err := w.readFrame()
		if err == nil {
			err = w.dispatch(frame)
		}
		if err != nil {
			w.fail(err)
			if w.parted = w.part(); !w.parted {
				return 0, err
			}
		}
	}
	if w.parted {
		return w.parting.Read(p)
	}
	n := copy(p, w.rest)
	w.rest = w.rest[n:]
	return n, nil
}

// part takes the server's place if the driver, which is to end, has a last request that
// would get no answer from this wire, which is dead.
func (w *wire) part() bool {
	w.conn.mu.Lock()
	closed := w.conn.closed
	w.conn.mu.Unlock()
	w.mu.Lock()
	defer w.mu.Unlock()
	refused := w.told && w.session == 0
	if !closed || refused || w.bye != 0 {
		return false
	}
	w.parting = newFarewell(true)
	if !w.told {
		w.parting.greet()
	}
	return true
}

// readFrame reads one frame, its length included.
func (w *wire) readFrame() ([]byte, error) {
	deadline := w.born.Add(w.conn.handshakeTimeout())
	least, most := minHandshake, maxHandshake
	if w.open {
		// The driver pings every third of the timeout, so that a living server is
		// silent for little more than a third.
		deadline = time.Now().Add(w.timeout * 2 / 3)
		least, most = headerSize, maxFrame
	}
	w.mu.Lock()
	mute := w.mute
	w.mu.Unlock()
	if !mute {
		if err := w.raw.SetReadDeadline(deadline); err != nil {
			return nil, err
		}
	}
	length, err := w.br.Peek(4)
	if err != nil {
		return nil, err
	}
	n := int(binary.BigEndian.Uint32(length))
	if n < least || n > most {
		if !w.open {
			return nil, notZooKeeper(length)
		}
		return nil, fmt.Errorf("a frame of %d bytes, allowed are %d to %d", n, least, most)
	}
	frame := make([]byte, 4+n)
	_, err = io.ReadFull(w.br, frame)
	return frame, err
}

// dispatch delivers a frame to whom it belongs.
func (w *wire) dispatch(frame []byte) error {
	if !w.open {
		if err := w.handshakeDone(frame[4:]); err != nil {
			return err
		}
		w.rest, w.told = frame, true
		return nil
	}
	header, err := jute.DecodeReplyHeader(frame[4:])
	if err != nil {
		return err
	}
	body := frame[4+headerSize:]
	if header.Xid == jute.XidNotification {
		var event jute.WatcherEvent
		if err := jute.Decode(body, &event); err != nil {
			return err
		}
		if event.Type > 0 && !strings.HasPrefix(event.Path, "/") {
			return fmt.Errorf("an event for the path %q", event.Path)
		}
		w.mu.Lock()
		w.fire(WatchEvent{EventType(event.Type), event.Path, header.Zxid, w.conn.notices.Add(1)})
		w.mu.Unlock()
		return nil
	}
	if header.Zxid > 0 {
		w.conn.sawZxid(header.Zxid)
	}
	p, err := w.answered(header, body)
	if err != nil {
		return err
	}
	if p.batch != nil && p.batch.then != nil && p.index == len(p.batch.calls)-1 {
		p.batch.then()
	}
	switch {
	case header.Err == jute.CodeSessionClosedRequireSASLAuth:
		w.conn.credentialsRejected(ErrSASLRequired)
		return ErrSASLRequired
	case p.batch == nil:
		w.rest = frame
	case header.Err == jute.CodeOK:
	case p.batch.calls[p.index].Op == jute.OpAuth:
		w.conn.credentialsRejected(ErrAuthFailed)
	case p.batch.calls[p.index].Op == jute.OpSetWatches2:
		return fmt.Errorf("watches were not put back: %w", codeError(header.Err))
	}
	return nil
}

// answered takes the oldest request off the line and delivers its reply. A server
// answers in the order of the requests; another order means that the stream cannot be
// relied upon.
func (w *wire) answered(header jute.ReplyHeader, body []byte) (pending, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	waiting := w.pending.waiting()
	if len(waiting) == 0 || waiting[0].xid != header.Xid {
		return pending{}, fmt.Errorf("request %d was answered out of order", header.Xid)
	}
	p := w.pending.take()
	w.conn.heard(p.stamp.sent)
	w.learn(p.stamp, p.op(), header.Err == jute.CodeOK)
	if p.batch == nil {
		if w.bye != 0 && p.xid == w.bye {
			w.conn.sessionClosed.Store(true)
		}
		return p, nil
	}
	w.settle(p.batch.calls[p.index], header.Err)
	p.batch.replies = append(p.batch.replies, reply{header.Zxid, header.Err, body})
	if len(p.batch.replies) == len(p.batch.calls) {
		p.batch.finish(nil)
	}
	return p, nil
}

// learn takes over what an answer says of the session; w.mu is held. It comes before the caller
// hears of the answer.
func (w *wire) learn(s stamp, op jute.Op, ok bool) {
	if ok && writes(op) {
		w.conn.wrote(w.session, s)
	}
	if p, proved := w.evidence.answer(s, op, ok, w.conn.clock.awake); proved {
		w.conn.prove(w.session, p)
	}
}

// handshakeDone reads the connect reply, which the driver gets to see, too.
func (w *wire) handshakeDone(frame []byte) error {
	var r jute.ConnectResponse
	if err := jute.Decode(frame, &r); err != nil {
		return err
	}
	if r.SessionID != 0 && r.TimeOut <= 0 { // the driver would crash on its ticker
		return fmt.Errorf("%w (a session of %d ms)", ErrNotZooKeeper, r.TimeOut)
	}
	w.open = true
	w.session = r.SessionID
	w.timeout = time.Duration(r.TimeOut) * time.Millisecond
	if r.SessionID == 0 {
		w.conn.sessionRefused()
		// The driver reads the refusal and dials again without closing this one.
		w.fail(ErrSessionExpired)
		return nil
	}
	w.mu.Lock()
	sent := w.sentAt
	w.evidence.connected(w.timeout, sent, w.conn.clock.awake())
	w.mu.Unlock()
	return w.conn.established(w, r, sent)
}

// Close closes the connection, as the driver asks for.
func (w *wire) Close() error {
	w.fail(net.ErrClosed)
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.parting != nil {
		return w.parting.Close()
	}
	return nil
}

// fail ends the wire: what was sent is in doubt, what was not is free to be sent again.
func (w *wire) fail(err error) {
	w.mu.Lock()
	if w.err != nil {
		w.mu.Unlock()
		return
	}
	w.err = err
	close(w.dead)
	why := because(w.attempt.place(w.server), err)
	lost := &TransportError{Err: ErrConnectionLoss, Detail: why, Sent: true}
	var then []func()
	for _, p := range w.pending.waiting() {
		if p.batch != nil && p.batch.err == nil {
			p.batch.finish(lost)
			then = append(then, p.batch.then)
		}
	}
	unsent := &TransportError{Err: ErrConnectionLoss, Detail: why}
	for _, o := range w.queue {
		if o.batch != nil && o.batch.withdraw() {
			o.batch.finish(unsent)
			then = append(then, o.batch.then)
		}
	}
	w.pending, w.queue = line{}, nil
	orphans := w.hub.takeAll()
	w.mu.Unlock()
	w.conn.wireDied(w, err, orphans)
	for _, fn := range then {
		if fn != nil {
			fn()
		}
	}
	// This ends reads and writes at once. The writer closes the connection, which for TLS
	// may take seconds.
	_ = w.raw.SetDeadline(time.Unix(1, 0))
}

// LocalAddr returns the connection's local address.
func (w *wire) LocalAddr() net.Addr { return w.raw.LocalAddr() }

// RemoteAddr returns the connection's remote address.
func (w *wire) RemoteAddr() net.Addr { return w.raw.RemoteAddr() }

// SetDeadline does nothing: the wire has deadlines of its own, tighter than the driver's.
func (w *wire) SetDeadline(time.Time) error { return nil }

// SetReadDeadline does nothing, as SetDeadline.
func (w *wire) SetReadDeadline(time.Time) error { return nil }

// SetWriteDeadline does nothing, as SetDeadline.
func (w *wire) SetWriteDeadline(time.Time) error { return nil }
