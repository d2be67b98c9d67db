package zkconn

import (
	"time"

	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/zkconn/lease"
	"github.com/go-curator/curator/state"
)

// monitor watches the clock, has the session proved and delivers events, until Close.
func (c *Conn) monitor() {
	defer close(c.monitorDone)
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		timer.Reset(min(c.checkClock(), c.beat()))
		c.mu.Lock()
		events, listeners := c.reports.take() // what happens under one lock is told as a whole
		closed := c.end.closed && c.life.Err() != nil
		c.mu.Unlock()
		if len(events) > 0 {
			c.reports.losses.tell()
		}
		for _, e := range events {
			c.cfg.OnEvent(e)
			for _, l := range listeners {
				l.tell(e)
			}
		}
		if closed {
			return
		}
		select {
		case <-c.reports.signal:
		case <-timer.C:
		}
	}
}

// pulse is how often the clock is looked at even if nothing is due, in case that the machine
// has slept: timers do not count that.
func pulse(timeout time.Duration) time.Duration { return min(timeout/20, time.Second) }

// checkClock reports the deadline, sends a ping or gives up the session when it is time, and returns
// when to look again.
func (c *Conn) checkClock() time.Duration {
	c.mu.Lock()
	switch {
	case c.end.closed:
		c.mu.Unlock()
		return time.Hour
	case !c.session.live():
		defer c.mu.Unlock()
		return c.checkUnconnected()
	}
	now := c.lease.Now()
	percent := c.cfg.LossPercent
	if c.cfg.UnusedLossPercent > 0 && !c.presumes.Load() && !c.InUse() {
		percent = c.cfg.UnusedLossPercent
	}
	lost := c.lease.LastHeard() + c.session.timeout*time.Duration(percent)/100
	if now < lost {
		next := min(lost-now, pulse(c.session.timeout), c.checkDeadline(now), c.ping(now))
		c.mu.Unlock()
		return next
	}
	w := c.presumeOver(now)
	c.mu.Unlock()
	if w != nil {
		w.fail(errPresumedOver)
	}
	return time.Hour
}

// presumeOver gives up the session. It does so before the connection ends, because the driver would take the
// session up again. It returns the connection, whose end is the caller's business, nil for none. c.mu is held.
func (c *Conn) presumeOver(now time.Duration) *muxConn {
	w := c.link.mux
	readOnly := w != nil && w.readOnly // it has another session
	if readOnly {
		w = nil
	}
	if w != nil {
		c.detach(w)
	}
	c.checkDeadline(now)
	c.endSession(true)
	if readOnly {
		c.become(state.ReadOnly)
	}
	return w
}

// PresumeAtTimeout says that there is a reason to know of the end of the session that Use does not stand for: so
// Config.UnusedLossPercent does not count.
func (c *Conn) PresumeAtTimeout(yes bool) { c.presumes.Store(yes) }

// GiveUp ends a session here, as if no server had answered for its timeout. It is for those who have no other
// way to tell a user that belief in the session has ended. The servers keep the session until its timeout.
func (c *Conn) GiveUp(session int64) {
	c.mu.Lock()
	var w *muxConn
	if !c.end.closed && c.session.id == session && !c.session.over {
		w = c.presumeOver(c.lease.Now())
	}
	c.mu.Unlock()
	c.reports.losses.tell()
	if w != nil {
		w.fail(errPresumedOver)
	}
}

// SuspendUnconnected makes the state Suspended if there has been no connection yet. It is for the
// failure of an operation that has waited for one.
func (c *Conn) SuspendUnconnected() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.end.closed && c.end.fatal == nil && !c.link.before {
		c.become(state.Suspended)
	}
}

// checkUnconnected makes the state Lost when it has been Suspended for a session timeout and there is no
// session that could be lost, and returns when to look again. c.mu is held.
func (c *Conn) checkUnconnected() time.Duration {
	s, suspended := c.reports.current()
	if s != state.Suspended {
		return time.Hour
	}
	timeout := c.Timeout()
	left := suspended + timeout*time.Duration(c.cfg.LossPercent)/100 - c.lease.Now()
	if left <= 0 {
		c.become(state.Lost)
		return time.Hour
	}
	return min(left, pulse(timeout))
}

// ping sends a ping if no request was answered for a while, and returns when to look again. The
// driver pings every third of the timeout. That is too seldom if the session is presumed over
// before, and too late after the machine has slept. c.mu is held.
func (c *Conn) ping(now time.Duration) time.Duration {
	every := c.session.timeout * time.Duration(c.cfg.LossPercent) * 2 / 500
	w := c.link.mux
	if w == nil || w.readOnly {
		return time.Hour
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	last := max(c.lease.LastHeard(), w.beats.pinged)
	if now < last+every {
		return last + every - now
	}
	if w.err == nil {
		w.beats.pinged = now
		w.requests.add(outgoing{frame: pingFrame(), xid: jute.XidPing})
	}
	return every
}

// checkDeadline reports a deadline that has passed, once, and returns when the next one will.
// c.mu is held.
func (c *Conn) checkDeadline(now time.Duration) time.Duration {
	passed, wait := c.lease.TakePassed(now)
	if passed {
		c.reports.pushLoss(Event{Kind: DeadlinePassed, Session: c.session.id})
	}
	return wait
}

// beat sends the next request for a proof if it is time (S1 and S2), and returns when to look
// again.
func (c *Conn) beat() time.Duration {
	c.mu.Lock()
	w := c.link.mux
	c.mu.Unlock()
	if w == nil {
		return time.Hour // established looks again
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err != nil || w.beats.asking {
		return time.Hour // the answer looks again
	}
	ask, before, wait := c.lease.Next(w.session, &w.requests.evidence)
	var call *Call
	switch {
	case ask == lease.Nothing:
		return wait
	case ask == lease.First || c.cfg.SyncProof:
		call = Sync("/")
	default: // a transaction that changes nothing, on a node that everybody may read
		call = Multi(CheckOp("/", -1))
	}
	b, err := newBatch([]*Call{call}, maxFrame)
	if err != nil {
		return wait // it has a few bytes
	}
	w.beats.asking = true
	began := time.Now()
	b.then = func() { c.beatDone(w, b, before, time.Since(began)) }
	call.Session = w.session
	w.requests.add(outgoing{batch: b})
	return wait
}

// beatDone notes that a request for a proof was answered, or that its connection has ended.
func (c *Conn) beatDone(w *muxConn, b *batch, before lease.Learned, took time.Duration) {
	err := b.err
	if err == nil {
		err = codeError(b.replies[0].code)
	}
	c.reports.push(Event{Kind: Asked, Session: w.session, Server: w.server, Err: err, Took: took})
	w.mu.Lock()
	defer w.mu.Unlock()
	w.beats.asking = false
	c.lease.Asked(&w.requests.evidence, before)
	c.reports.wake()
}
