package zkconn

import (
	"errors"
	"io"
	"net"
	"time"

	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/zkconn/hosts"
	"github.com/go-curator/curator/state"
)

// refusals are handshakes in a row that servers have ended without an answer.
type refusals struct {
	n     int
	since time.Duration
}

// note counts an attempt that has failed with err.
func (r *refusals) note(err error, now time.Duration) {
	switch {
	case !errors.Is(err, io.EOF):
		*r = refusals{}
		return
	case r.n == 0:
		r.since = now
	}
	r.n++
}

// all tells whether all servers have refused several times, for two session timeouts: no server
// of a quorum is behind for that long.
func (r *refusals) all(servers int, now, timeout time.Duration) bool {
	return timeout > 0 && r.n >= 3*servers && now-r.since >= 2*timeout
}

var errPresumedOver = errors.New("the session was presumed over before the server answered")

// prepare completes a connect request. The driver would resume the session of the last connection,
// which may have been a read-only one. The last zxid outlives its session: a server that is behind
// refuses a new session, too, because that must not see an older tree. The zxid is forgotten when all
// servers have refused for so long that they must have lost their data.
func (c *Conn) prepare(m *muxConn, r *jute.ConnectRequest) (forReads bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	m.forReads = c.asksForReads(m.server)
	if c.cfg.ReadOnly && !m.forReads {
		c.hosts.Hope()
	}
	switch {
	case c.session.over || c.session.id == 0:
		r.SessionID, r.Passwd = 0, make([]byte, 16)
		if c.refusals.all(c.hosts.Size(), c.lease.Now(), c.session.timeout) {
			c.refusals = refusals{}
			c.push(Event{Kind: DataLost})
			c.lastZxid.Store(0)
			c.epoch.Add(1)
		}
	case m.forReads:
		r.SessionID, r.Passwd = 0, make([]byte, 16)
	default:
		r.SessionID, r.Passwd = c.session.id, c.session.passwd
	}
	r.LastZxidSeen = c.lastZxid.Load()
	r.TimeOut = int32(c.cfg.SessionTimeout / time.Millisecond)
	return m.forReads
}

// established takes a connection into use. Its handshake is complete.
func (c *Conn) established(w *muxConn, r jute.ConnectResponse, sent time.Duration) error {
	defer c.losses.tell()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return ErrClosed
	}
	if c.fatal != nil {
		return c.fatal
	}
	if c.hosts.IsGone(w.attempt) {
		return hosts.ErrGone
	}
	if err := c.acceptsReads(w, r); err != nil {
		return err
	}
	if !w.readOnly {
		if err := c.takeSession(w, r, sent); err != nil {
			return err
		}
	}
	if err := c.queueOpening(w); err != nil {
		return err
	}
	if c.mux != nil {
		c.detach(c.mux) // it is dead, and the driver has noticed before us
	}
	c.mux, c.lastErr, w.used, c.refusals = w, nil, true, refusals{}
	c.push(Event{Kind: Attempted, Server: w.server, Target: w.place(), Took: time.Since(w.born)})
	c.fireDetached(WatchReset)
	c.persistent.tell(WatchReset)
	c.observers.tell(WatchReset)
	next := state.Reconnected
	switch {
	case w.readOnly:
		next = state.ReadOnly
	case !c.connectedBefore:
		next = state.Connected
	}
	c.connectedBefore = true
	c.setState(next)
	close(c.ready)
	c.wakeMonitor()
	return nil
}

// queueOpening queues what a connection begins with; c.mu is held.
func (c *Conn) queueOpening(w *muxConn) error {
	// The handshake tells a server the last zxid that we have seen in an answer, and a server that is
	// behind refuses us. But events of servers before 3.9 have no zxid. After such an event, for
	// example that a lock is ours, a server that is behind would show us an older state. So after a
	// reconnect a sync is sent before all other requests. These need not wait for its answer, because
	// servers answer a session in order. Nobody looks at the answer, and everybody relies on it: so a
	// refusal ends the connection.
	first := c.credentials()
	if c.connectedBefore && !w.readOnly {
		sync := Sync("/")
		sync.vital = true
		first = append(first, sync)
	}
	if err := c.queueFirst(w, first); err != nil {
		return err
	}
	if err := c.keep(w); err != nil {
		return err
	}
	return c.queueFirst(w, c.persistent.restoring(c.lastZxid.Load()))
}

// keep sets the kept watches of all connections that have ended on w; c.mu is held. They are set ahead of the
// persistent watches: servers before 3.9 have one mode for each path, the one that was asked for last.
func (c *Conn) keep(w *muxConn) error {
	for _, old := range c.detached.muxes {
		c.detached.kept = append(c.detached.kept, old.takeKept()...)
	}
	if err := c.queueFirst(w, keptCalls(c.detached.kept)); err != nil {
		return err
	}
	c.detached.kept = nil
	return nil
}

// overtaken tells the watches of a connection whose end is noticed behind the beginning of the next one; c.mu is held.
func (c *Conn) overtaken(w *muxConn) {
	if w.used && !w.readOnly && w.session != c.session.id {
		c.fireDetached(WatchSessionLost)
		return
	}
	if c.keep(c.mux) == nil { // else it has ended, too, and the next one sets them
		_ = c.queueFirst(c.mux, c.persistent.restoring(c.lastZxid.Load())) // as keep
		c.persistent.tell(WatchReset)
	}
	c.fireDetached(WatchReset)
}

// takeSession notes the session of a connection that a server with a quorum has accepted. sent is when
// the connect request was sent. c.mu is held.
func (c *Conn) takeSession(w *muxConn, r jute.ConnectResponse, sent time.Duration) error {
	if r.SessionID == c.session.id && c.session.over {
		return errPresumedOver // the next handshake asks for a new one
	}
	fresh := r.SessionID != c.session.id
	if fresh {
		c.endSession(false)
		c.session = session{id: r.SessionID}
	}
	c.session.timeout, c.session.passwd = w.timeout, r.Passwd
	c.granted.Store(int64(w.timeout))
	c.lease.Begin(r.SessionID, w.timeout, sent, fresh)
	return nil
}

// credentials returns the requests that present the credentials; c.mu is held.
func (c *Conn) credentials() []*Call {
	var calls []*Call
	for _, a := range c.auth {
		calls = append(calls, &Call{Op: jute.OpAuth, Req: &jute.AuthPacket{Scheme: a.Scheme, Auth: a.Auth}})
	}
	return calls
}

// queueFirst queues requests on a connection that nobody else uses yet.
func (c *Conn) queueFirst(w *muxConn, calls []*Call) error {
	if len(calls) == 0 {
		return nil
	}
	b, err := newBatch(calls, maxFrame)
	if err == nil {
		err = w.send(b)
	}
	return err
}

// reached notes that a server has answered a connect request.
func (c *Conn) reached(m *muxConn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.rejections.tried(m.place(), true)
}

// refused notes that a server serves the client nothing, and why.
func (c *Conn) refused(m *muxConn, why error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.rejections.refused(m.place(), why)
	if m.used {
		c.hosts.GoOn(m.attempt)
	}
	c.judge()
}

// served notes that a server serves the client.
func (c *Conn) served() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.rejections = rejections{}
}

// judge gives up if no server accepts the client; c.mu is held.
func (c *Conn) judge() {
	if why := c.rejections.verdict(c.hosts.Known()); why != nil {
		c.giveUp(why)
	}
}

// credentialsRejected ends all attempts to connect, because servers would reject the credentials
// again. why is what is known beyond that.
func (c *Conn) credentialsRejected(why error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.giveUp(why)
}

// giveUp is credentialsRejected with c.mu held.
func (c *Conn) giveUp(why error) {
	if c.fatal != nil || c.closed {
		return
	}
	c.fatal, c.fatalWhy = ErrAuthFailed, why
	c.lease.Tell()
	c.hosts.Stop()
	if c.mux == nil {
		close(c.ready)
	}
}

// sessionRefused notes that the server does not know the session any more.
func (c *Conn) sessionRefused() {
	defer c.losses.tell()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.endSession(false)
}

// sessionExpired notes that a server has answered a request on a session that this is over.
func (c *Conn) sessionExpired(session int64) {
	defer c.losses.tell()
	c.mu.Lock()
	defer c.mu.Unlock()
	if session == c.session.id { // a server without a quorum has a session of its own
		c.endSession(false)
	}
}

// endSession declares the session over, because a server has said so or because that is presumed.
// c.mu is held.
func (c *Conn) endSession(presumed bool) {
	if c.session.id == 0 || c.session.over {
		return
	}
	c.session.over = true
	if !presumed {
		c.ended.expire(c.session.id)
	}
	c.granted.Store(0)
	c.lease.End()
	c.fireDetached(WatchSessionLost)
	c.pushLoss(Event{Kind: SessionEnded, Session: c.session.id, Err: ErrSessionExpired, Presumed: presumed})
	c.setState(state.Lost)
}

// setState changes the state, if that is a change and a legal one; c.mu is held.
func (c *Conn) setState(s state.ConnectionState) {
	if s != c.state && state.Legal(c.state, s) {
		c.state = s
		if s == state.Suspended {
			c.suspended = c.lease.Now()
		}
		c.pushLoss(Event{Kind: StateChanged, State: s, Session: c.session.id})
	}
}

// SuspendUnconnected makes the state Suspended if there has been no connection yet. It is for the
// failure of an operation that has waited for one.
func (c *Conn) SuspendUnconnected() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.closed && c.fatal == nil && !c.connectedBefore {
		c.setState(state.Suspended)
	}
}

// pushLoss is push for an event by which those who rely on the session are to give up; c.mu is held.
func (c *Conn) pushLoss(e Event) {
	c.losses.add(e)
	c.push(e)
}

// push leaves an event for the monitor; c.mu is held.
func (c *Conn) push(e Event) {
	c.events = append(c.events, e)
	c.wakeMonitor()
}

// died takes a connection out of use. When it returns, those who rely on it know.
func (c *Conn) died(w *muxConn, err error) {
	defer c.losses.tell()
	c.mu.Lock()
	defer c.mu.Unlock()
	if w.hasWatches() {
		c.detached.muxes = append(c.detached.muxes, w)
	}
	c.hosts.Ended(w.attempt, w.used && time.Since(w.born) > w.timeout/3)
	c.noteAttempt(w)
	if c.closed {
		c.fireDetached(WatchClosed)
		return
	}
	switch {
	case !w.used && w.attempt != nil:
		c.refusals.note(err, c.lease.Now())
		if c.dialer.Spoilt(w.attempt, err, time.Since(w.born), c.timeout()) {
			err = hosts.ErrSpoilt
		}
		c.attemptFailed(w.attempt, hosts.HandshakeError(err, c.cfg.Secure != nil, time.Since(w.born)))
	case !errors.Is(err, net.ErrClosed) || c.lastErr == nil:
		c.lastErr = fromServer(w.place(), err)
	}
	if w.used {
		c.push(Event{Kind: Disconnected, Server: w.server, Err: err})
	}
	if c.session.over {
		c.fireDetached(WatchSessionLost)
	}
	c.detach(w)
	if c.mux != nil { // there is another connection already
		c.overtaken(w)
	}
}

// detach takes w out of use, if it is in use; c.mu is held.
func (c *Conn) detach(w *muxConn) {
	if c.mux != w {
		return
	}
	c.mux = nil
	c.observers.tell(WatchSuspended)
	if c.fatal == nil {
		c.ready = make(chan struct{})
	}
	c.setState(state.Suspended)
}

// fireDetached tells the watches of connections that are gone. Kept ones wait for the next connection: for
// them a reset is none. c.mu is held.
func (c *Conn) fireDetached(t EventType) {
	for _, w := range c.detached.muxes {
		if t == WatchReset {
			c.detached.kept = append(c.detached.kept, w.takeKept()...)
		}
		w.fireAll(t)
	}
	c.detached.muxes = nil
	if t == WatchReset {
		return
	}
	for _, w := range c.detached.kept {
		w.fire(WatchEvent{Type: t, Path: w.path})
	}
	c.detached.kept = nil
}
