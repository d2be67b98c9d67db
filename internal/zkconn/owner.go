package zkconn

import (
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/zkconn/hosts"
	"github.com/go-curator/curator/state"
)

var (
	errPresumedOver = errors.New("the session was presumed over before the server answered")
	errSameID       = errors.New("the server has granted another session with the id of the last one")
)

// prepare completes a connect request. The driver would resume the session of the last connection,
// which may have been a read-only one. The last zxid outlives its session: a server that is behind
// refuses a new session, too, because that must not see an older tree. The zxid is forgotten when all
// servers have refused for so long that they must have lost their data.
func (c *Conn) prepare(m *muxConn, r *jute.ConnectRequest) {
	c.mu.Lock()
	defer c.mu.Unlock()
	m.forReads = c.cfg.ReadOnly && c.link.asksForReads(m.server)
	if c.cfg.ReadOnly && !m.forReads {
		c.hosts.NotInVain()
	}
	switch {
	case !c.session.live():
		r.SessionID, r.Passwd = 0, make([]byte, 16)
		if c.link.refusals.all(c.hosts.Size(), c.lease.Now(), c.session.timeout) {
			c.link.refusals = refusals{}
			c.reports.push(Event{Kind: DataLost})
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
	m.asked = r.SessionID
}

// established takes a connection into use. Its handshake is complete.
func (c *Conn) established(w *muxConn, r jute.ConnectResponse, sent time.Duration) error {
	defer c.reports.losses.tell()
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.end.closed:
		return ErrClosed
	case c.end.fatal != nil:
		return c.end.fatal
	}
	if c.hosts.IsGone(w.attempt) {
		return hosts.ErrGone
	}
	if err := c.checkReads(w, r); err != nil {
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
	if c.link.mux != nil {
		c.detach(c.link.mux) // it is dead, and the driver has noticed before us
	}
	next := state.Reconnected
	switch {
	case w.readOnly:
		next = state.ReadOnly
	case !c.link.before:
		next = state.Connected
	}
	c.link.use(w)
	c.reports.push(Event{Kind: Attempted, Server: w.server, Target: w.place(), Took: time.Since(w.born)})
	c.link.tellDetached(WatchReset)
	c.persistent.tell(WatchReset)
	c.link.tell(WatchReset)
	c.become(next)
	close(c.link.ready)
	c.reports.wake()
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
	first := c.auth.calls()
	if c.link.before && !w.readOnly {
		sync := Sync("/")
		sync.vital = true
		first = append(first, sync)
	}
	if err := w.sendOwn(first); err != nil {
		return err
	}
	if err := c.link.keep(w); err != nil {
		return err
	}
	return w.sendOwn(c.restoring())
}

// restoring returns the requests that set all persistent watches again. A server that does not know them has none: then
// the subscriptions are those of calls that are about to fail.
func (c *Conn) restoring() []*Call {
	if c.unknown.lacks(jute.OpSetWatches2) {
		return nil
	}
	return c.persistent.restoring(c.lastZxid.Load())
}

// takeSession notes the session of a connection that a server with a quorum has accepted. sent is when
// the connect request was sent. c.mu is held.
func (c *Conn) takeSession(w *muxConn, r jute.ConnectResponse, sent time.Duration) error {
	keeper := grantsNoPassword(r.Passwd)
	fresh := r.SessionID != c.session.id
	switch {
	case fresh:
		// ZooKeeper says that a session is over. ClickHouse Keeper does not even look for it, and grants another one: the
		// servers may keep the old one until its timeout.
		c.endSession(true)
		c.session = session{id: r.SessionID}
		c.ephemerals.begin(r.SessionID)
	case c.session.over:
		return errPresumedOver // the next handshake asks for a new one
	case keeper: // it has lost its data, and counts its sessions anew
		c.endSession(true)
		return errSameID
	}
	if keeper {
		c.unknown.noteKeeper()
		c.ephemerals.unlimited()
	}
	c.session.timeout, c.session.passwd = w.timeout, r.Passwd
	c.granted.Store(int64(w.timeout))
	c.lease.Begin(r.SessionID, w.timeout, sent, fresh)
	return nil
}

// overtaken tells the watches of a connection whose end is noticed behind the beginning of the next one; c.mu is held.
func (c *Conn) overtaken(w *muxConn) {
	if w.used && !w.readOnly && w.session != c.session.id {
		c.link.tellDetached(WatchSessionLost)
		return
	}
	if c.link.keep(c.link.mux) == nil { // else it has ended, too, and the next one sets them
		_ = c.link.mux.sendOwn(c.restoring()) // as keep
		c.persistent.tell(WatchReset)
	}
	c.link.tellDetached(WatchReset)
}

// authenticate proves to the server of m who the client is, before anything else is sent on the
// connection. It has what is left of the handshake's time. An error ends the connection. One that matches
// ErrAuthFailed is a refusal if the server has said something before, and otherwise it ends all attempts.
func (c *Conn) authenticate(m *muxConn) error {
	c.mu.Lock()
	c.auth.rejections.tried(m.place(), true)
	c.mu.Unlock()
	heard, err := c.auth.converse(c.life, m, m.born.Add(c.handshakeTimeout()))
	switch {
	case err == nil, !errors.Is(err, ErrAuthFailed):
		return err
	case heard:
		return m.refuse(err)
	}
	c.credentialsRejected(fmt.Errorf("%s: %w", m.place(), err))
	return err
}

// credentialAccepted keeps a credential of AddAuth for later connections.
func (c *Conn) credentialAccepted(added Auth) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.auth.keep(added)
}

// serves notes that a server serves the client, or why it does not.
func (c *Conn) serves(m *muxConn, why error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if why == nil {
		c.auth.rejections = rejections{}
		return
	}
	c.auth.rejections.refused(m.place(), why)
	if m.used {
		c.hosts.GoOn(m.attempt)
	}
	c.judge()
}

// judge gives up if no server accepts the client; c.mu is held.
func (c *Conn) judge() {
	if why := c.auth.rejections.verdict(c.hosts.Known()); why != nil {
		c.endAttempts(why)
	}
}

// credentialsRejected ends all attempts to connect, because servers would reject the credentials
// again. why is what is known beyond that.
func (c *Conn) credentialsRejected(why error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.endAttempts(why)
}

// endAttempts is credentialsRejected with c.mu held.
func (c *Conn) endAttempts(why error) {
	if c.end.fatal != nil || c.end.closed {
		return
	}
	c.end.fatal, c.end.why = ErrAuthFailed, why
	c.lease.Tell()
	c.hosts.Stop()
	if c.link.mux == nil {
		close(c.link.ready)
	}
}

// sessionOver notes that a server has said that a session is over.
func (c *Conn) sessionOver(session int64) {
	defer c.reports.losses.tell()
	c.mu.Lock()
	defer c.mu.Unlock()
	if session == c.session.id { // a server without a quorum has a session of its own
		c.endSession(false)
	}
}

// endSession declares the session over, because a server has said so or because that is presumed.
// c.mu is held.
func (c *Conn) endSession(presumed bool) {
	if !c.session.live() {
		return
	}
	c.session.over = true
	if grantsNoPassword(c.session.passwd) {
		presumed = true // ClickHouse Keeper says so also when it ends, or has no leader
	}
	if !presumed {
		c.end.sessions.expire(c.session.id)
	}
	c.granted.Store(0)
	c.ephemerals.begin(0)
	c.lease.End()
	c.link.tellDetached(WatchSessionLost)
	c.reports.pushLoss(Event{Kind: SessionEnded, Session: c.session.id, Err: ErrSessionExpired, Presumed: presumed})
	c.become(state.Lost)
}

// become changes the state, if that is a change and a legal one; c.mu is held.
func (c *Conn) become(s state.ConnectionState) { c.reports.become(s, c.session.id, c.lease.Now()) }

// died takes a connection out of use. When it returns, those who rely on it know.
func (c *Conn) died(w *muxConn, err error) {
	defer c.reports.losses.tell()
	c.mu.Lock()
	defer c.mu.Unlock()
	if w.hasWatches() {
		c.link.detached.muxes = append(c.link.detached.muxes, w)
	}
	c.hosts.Ended(w.attempt, w.used && time.Since(w.born) > w.timeout/3)
	if c.cfg.ReadOnly {
		c.link.noteAttempt(w)
	}
	if c.end.closed {
		c.link.tellDetached(WatchClosed)
		return
	}
	switch {
	case !w.used && w.attempt != nil:
		c.link.refusals.note(err, c.lease.Now())
		c.attemptFailed(w.attempt, hosts.HandshakeError(err, c.cfg.Secure != nil, time.Since(w.born)))
	case !errors.Is(err, net.ErrClosed) || c.link.err == nil:
		c.link.err = fromServer(w.place(), err)
	}
	if w.used {
		c.reports.push(Event{Kind: Disconnected, Server: w.server, Err: err})
	}
	if c.session.over {
		c.link.tellDetached(WatchSessionLost)
	}
	c.detach(w)
	if c.link.mux != nil { // there is another connection already
		c.overtaken(w)
	}
}

// attemptFailed notes that an attempt has failed; c.mu is held.
func (c *Conn) attemptFailed(a *hosts.Attempt, err error) {
	c.link.err = fromServer(a.Target.String(), err)
	if errors.Is(err, ErrSessionExpired) {
		c.hosts.NotInVain()
	}
	blamed, round := c.hosts.Failed(a, err)
	c.reports.push(Event{Kind: Attempted, Server: a.Target.Server, Target: a.Target.String(), Round: round, Err: err})
	if blamed {
		c.auth.rejections.tried(a.Target.String(), errors.Is(err, ErrSessionExpired)) // which is an answer
		c.judge()
	}
}

// detach takes w out of use, if it is in use; c.mu is held.
func (c *Conn) detach(w *muxConn) {
	if c.link.mux == w {
		c.link.drop(c.end.fatal != nil)
		c.become(state.Suspended)
	}
}

// closing tells whether Close was called.
func (c *Conn) closing() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.end.closed
}
