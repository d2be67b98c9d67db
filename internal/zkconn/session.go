package zkconn

import (
	"errors"
	"net"
	"time"

	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/state"
)

// Event is something that happened to the connection or its session.
type Event struct {
	Kind    EventKind
	State   state.ConnectionState // of StateChanged
	Session int64
	Err     error  // of SessionEnded, and of an attempt that failed
	Server  string // of Attempted
	// Presumed: of SessionEnded, that no server has said so.
	Presumed bool
}

// EventKind is the kind of an Event.
type EventKind int

// The kinds of events.
const (
	// StateChanged: the connection is in a new state.
	StateChanged EventKind = iota + 1
	// DeadlinePassed: no request was acknowledged for so long that the server may soon
	// end the session. What depends on the session must be given up.
	DeadlinePassed
	// SessionEnded: the session is over, by the server's word or because it must be
	// presumed. It does not come back.
	SessionEnded
	// Attempted: a server was tried, with Err or to be connected to.
	Attempted
)

var errPresumedOver = errors.New("the session was presumed over before the server answered")

// established takes a wire into use whose handshake is over.
func (c *Conn) established(w *wire, r jute.ConnectResponse, sent time.Duration) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return ErrClosed
	}
	if c.fatal != nil {
		return c.fatal
	}
	if r.SessionID == c.session.id && c.session.over {
		return errPresumedOver // the next handshake asks for a new one
	}
	if r.SessionID != c.session.id {
		c.endSession(false)
		c.session = session{id: r.SessionID}
	}
	c.session.timeout = w.timeout
	raise(&c.acked, int64(sent))
	first := c.credentials()
	if c.state != 0 {
		first = append(first, catchUp())
	}
	for _, calls := range [][]*Call{first, c.subs.restoring(c.lastZxid.Load())} {
		if err := c.queueFirst(w, calls); err != nil {
			return err
		}
	}
	if c.wire != nil {
		c.detach(c.wire) // it is dead, the driver was quicker than whoever noticed
	}
	c.wire, c.lastErr, w.used = w, nil, true
	c.push(Event{Kind: Attempted, Server: w.server})
	c.fireOrphans(WatchReset)
	c.subs.tell(WatchReset)
	next := state.Reconnected
	if c.state == 0 {
		next = state.Connected
	}
	c.setState(next)
	close(c.ready)
	c.wakeKeeper()
	return nil
}

// credentials returns the requests that present them.
func (c *Conn) credentials() []*Call {
	var calls []*Call
	for _, a := range c.cfg.Auth {
		calls = append(calls, &Call{Op: jute.OpAuth, Req: &jute.AuthPacket{Scheme: a.Scheme, Auth: a.Auth}})
	}
	return calls
}

// catchUp returns the request that is ahead of all others after a reconnect. The handshake
// tells a server what we have seen in answers, and one that is behind refuses us. But
// events of servers before 3.9 carry no zxid: what they told, that a lock is ours, say, a
// server that is behind would take back. Nothing has to wait for the answer: servers
// answer a session in order.
func catchUp() *Call {
	return &Call{Op: jute.OpSync, Req: &jute.PathRequest{Path: "/"}, Res: &jute.SyncResponse{}}
}

// queueFirst queues requests on a wire that nobody else uses yet.
func (c *Conn) queueFirst(w *wire, calls []*Call) error {
	if len(calls) == 0 {
		return nil
	}
	b, err := newBatch(calls, maxFrame)
	if err == nil {
		err = w.send(b)
	}
	return err
}

// credentialsRejected ends all hope: the server would reject them again.
func (c *Conn) credentialsRejected() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.fatal != nil || c.closed {
		return
	}
	c.fatal = ErrAuthFailed
	c.hosts.stop()
	if c.wire == nil {
		close(c.ready)
	}
}

// sessionRefused notes that the server does not know the session any more.
func (c *Conn) sessionRefused() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.endSession(false)
}

// endSession declares the session over, by a server's word or because it is presumed; c.mu
// is held.
func (c *Conn) endSession(presumed bool) {
	if c.session.id == 0 || c.session.over {
		return
	}
	c.session.over = true
	c.fireOrphans(WatchSessionLost)
	c.push(Event{Kind: SessionEnded, Session: c.session.id, Err: ErrSessionExpired, Presumed: presumed})
	c.setState(state.Lost)
}

// setState changes the state, if that is a change and a legal one; c.mu is held.
func (c *Conn) setState(s state.ConnectionState) {
	if s != c.state && state.Legal(c.state, s) {
		c.state = s
		c.push(Event{Kind: StateChanged, State: s, Session: c.session.id})
	}
}

// push leaves an event for the keeper; c.mu is held.
func (c *Conn) push(e Event) {
	c.events = append(c.events, e)
	c.wakeKeeper()
}

// wireDied takes a wire out of use.
func (c *Conn) wireDied(w *wire, err error, orphans []*Watch) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, watch := range orphans {
		c.orphans[watch] = struct{}{}
	}
	c.hosts.ended(w.used && time.Since(w.born) > c.session.timeout/3)
	if c.closed {
		c.fireOrphans(WatchClosed)
		return
	}
	if !errors.Is(err, net.ErrClosed) || c.lastErr == nil {
		c.lastErr = because(w.server, err)
	}
	if !w.used {
		c.push(Event{Kind: Attempted, Server: w.server, Err: err})
	}
	if c.session.over {
		c.fireOrphans(WatchSessionLost)
	}
	c.detach(w)
	if c.wire != nil { // there is another connection already
		c.fireOrphans(WatchReset)
	}
}

// detach takes w out of use, if it is in use; c.mu is held.
func (c *Conn) detach(w *wire) {
	if c.wire != w {
		return
	}
	c.wire = nil
	c.session.cut = c.clock.now()
	if c.fatal == nil {
		c.ready = make(chan struct{})
	}
	c.setState(state.Suspended)
	c.wakeKeeper() // the deadline is nearer now
}

// fireOrphans tells the watches of connections that are gone; c.mu is held.
func (c *Conn) fireOrphans(t EventType) {
	for watch := range c.orphans {
		watch.fire(WatchEvent{Type: t, Path: watch.path})
	}
	clear(c.orphans)
}

// Deadline returns when belief in the session must end unless another request is
// acknowledged before: the time the last acknowledged one was sent, plus the negotiated
// timeout, less the margin. ok is false when the session is over already.
func (c *Conn) Deadline(session int64) (deadline time.Time, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed || session == 0 || c.session.id != session || c.session.over {
		return time.Time{}, false
	}
	return c.clock.time(c.deadline()), true
}

// deadline is Deadline for the current session, by c.clock; c.mu is held.
//
// A follower that is cut off from its leader goes on answering until it notices, after
// syncLimit ticks, and ends its connections then: what it acknowledged did not reach the
// leader. So after a disconnect there is less time than the acknowledgements promise,
// until a handshake, which the leader takes part in, confirms the session.
func (c *Conn) deadline() time.Duration {
	deadline := time.Duration(c.acked.Load()) + c.session.timeout - c.margin()
	if c.wire == nil {
		return min(deadline, c.session.cut+c.session.timeout/4)
	}
	return deadline
}

// Margin returns how long before the server may end the session belief in it ends.
func (c *Conn) Margin() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.margin()
}

// margin is never so large that pings, every third of the timeout, could not keep the
// session believed in.
func (c *Conn) margin() time.Duration {
	if c.cfg.LossMargin > 0 {
		return min(c.cfg.LossMargin, c.session.timeout/2)
	}
	return c.session.timeout / 4
}

// keep watches the clock and delivers events until Close.
func (c *Conn) keep() {
	defer close(c.keeperDone)
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		timer.Reset(c.checkClock())
		c.mu.Lock()
		events := c.events
		c.events = nil
		closed := c.closed && c.life.Err() != nil
		c.mu.Unlock()
		for _, e := range events {
			c.cfg.OnEvent(e)
		}
		if closed {
			return
		}
		select {
		case <-c.signal:
		case <-timer.C:
		}
	}
}

func (c *Conn) wakeKeeper() {
	select {
	case c.signal <- struct{}{}:
	default:
	}
}

// pulse is how often the clock is looked at even if nothing is due, in case that the machine
// has slept: timers do not count that.
func (s *session) pulse() time.Duration { return min(s.timeout/20, time.Second) }

// checkClock doubts or gives up the session if it is time, and returns when to look again.
func (c *Conn) checkClock() time.Duration {
	c.mu.Lock()
	if c.closed || c.session.id == 0 || c.session.over {
		c.mu.Unlock()
		return time.Hour
	}
	now := c.clock.now()
	lost := time.Duration(c.acked.Load()) + c.session.timeout*time.Duration(c.cfg.LossPercent)/100
	deadline := c.deadline()
	doubted := now >= deadline
	if doubted && c.session.reported != deadline {
		c.session.reported = deadline // each deadline is reported, and once
		c.push(Event{Kind: DeadlinePassed, Session: c.session.id})
	}
	c.doubted.Store(doubted)
	if now < lost {
		next := min(lost-now, c.session.pulse())
		c.mu.Unlock()
		if doubted {
			return next
		}
		return min(next, deadline-now)
	}
	// The session is given up before the connection ends: the driver would take it up again.
	w := c.wire
	if w != nil {
		c.detach(w)
	}
	c.endSession(true)
	c.mu.Unlock()
	if w != nil {
		w.fail(errPresumedOver)
	}
	return time.Hour
}
