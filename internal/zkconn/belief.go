package zkconn

import (
	"context"
	"math/rand/v2"
	"time"
)

// answersProve is the key of TrustAnswers.
type answersProve struct{}

// TrustAnswers returns a context for [Open] with which every answer moves the deadline, as if the
// server that answers were the leader. That is wrong on an ensemble. It is for a test that shows that
// it can detect the consequences.
func TrustAnswers(ctx context.Context) context.Context {
	return context.WithValue(ctx, answersProve{}, true)
}

// Use says that somebody relies on the session, or waits to, until Unuse. As long as somebody
// does, proofs are asked for (S2).
func (c *Conn) Use() {
	c.clockMu.Lock()
	defer c.clockMu.Unlock()
	if c.sessionClock.use(c.clock.now()) {
		c.wakeMonitor()
	}
}

// Unuse undoes one Use.
func (c *Conn) Unuse() {
	c.clockMu.Lock()
	defer c.clockMu.Unlock()
	c.sessionClock.unuse(c.clock.now())
}

// InUse tells whether somebody relies on the session, or did until a moment ago.
func (c *Conn) InUse() bool {
	c.clockMu.Lock()
	defer c.clockMu.Unlock()
	return c.sessionClock.proving(c.clock.now())
}

// Deadline returns when belief in the session must end unless there is another proof before (S4).
// It is in the past when nobody has used the session for a while, see Use. ok is false when the
// session is over already.
func (c *Conn) Deadline(session int64) (deadline time.Time, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed || session == 0 || c.session.id != session || c.session.over {
		return time.Time{}, false
	}
	return c.clock.time(c.deadline()), true
}

// AwaitProof waits until the session can be relied on. It returns an error when the session is over,
// the Conn is closed, servers reject the credentials, or ctx ends.
func (c *Conn) AwaitProof(ctx context.Context, session int64) error {
	for {
		again, err := c.awaitsProof(session)
		if err != nil {
			c.losses.tell()
		}
		if again == nil {
			return err
		}
		select {
		case <-again:
		case <-ctx.Done():
			return ctxError(ctx, false)
		}
	}
}

// awaitsProof returns nil if the session can be relied on, and nil and an error if it never can be.
// Otherwise it returns a channel that is closed when this may have changed.
func (c *Conn) awaitsProof(session int64) (again <-chan struct{}, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.refuse(session); err != nil {
		return nil, err
	}
	now := c.clock.now()
	if now < c.deadline() {
		return nil, nil
	}
	c.clockMu.Lock()
	defer c.clockMu.Unlock()
	if c.believed == nil {
		c.believed = make(chan struct{})
	}
	c.sessionClock.due = min(c.sessionClock.due, now)
	c.wakeMonitor()
	return c.believed, nil
}

// tellBelief wakes the callers of AwaitProof.
func (c *Conn) tellBelief() {
	c.clockMu.Lock()
	defer c.clockMu.Unlock()
	c.tellBeliefLocked()
}

func (c *Conn) tellBeliefLocked() {
	if c.believed != nil {
		close(c.believed)
		c.believed = nil
	}
}

// deadline is Deadline for the current session, by c.clock.
func (c *Conn) deadline() time.Duration {
	c.clockMu.Lock()
	defer c.clockMu.Unlock()
	if c.trustAnswers {
		return time.Duration(c.lastAckedSend.Load()) + c.sessionClock.timeout - c.sessionClock.margin
	}
	return c.sessionClock.deadline()
}

// Margin returns how long before the earliest end of the session at the servers its deadline is.
func (c *Conn) Margin() time.Duration {
	c.clockMu.Lock()
	defer c.clockMu.Unlock()
	return c.sessionClock.margin
}

func (c *Conn) margin(timeout time.Duration) time.Duration {
	if c.cfg.LossMargin > 0 {
		return min(c.cfg.LossMargin, maxMargin(timeout))
	}
	return timeout / 8
}

// startClock starts the clock of a session that a server has created, or has confirmed. sent is
// when it was asked to. c.mu is held.
func (c *Conn) startClock(session int64, timeout, sent time.Duration, created bool) {
	if created {
		c.lastAckedSend.Store(int64(sent))
	} else {
		c.heard(sent, 0)
	}
	c.clockMu.Lock()
	defer c.clockMu.Unlock()
	if created {
		c.sessionClock.begin(session, timeout, c.margin(timeout), sent)
		c.tellBeliefLocked()
	} else {
		c.sessionClock.reconnected(timeout, c.margin(timeout), c.clock.now())
	}
	c.silence.Store(int64(c.sessionClock.timeout - c.sessionClock.margin))
}

// heard notes that a server has answered a request that was sent at that time, with its zxid. After a long
// silence the session may be about to end.
func (c *Conn) heard(sent time.Duration, zxid int64) {
	if zxid > 0 {
		storeMax(&c.lastZxid, zxid)
	}
	before := c.lastAckedSend.Load()
	storeMax(&c.lastAckedSend, int64(sent))
	if int64(sent)-before < c.silence.Load() {
		return
	}
	c.clockMu.Lock()
	defer c.clockMu.Unlock()
	c.sessionClock.suspect()
}

// prove notes what the answer to a request has proved, which was sent on a connection of session.
func (c *Conn) prove(session int64, p proof) {
	c.clockMu.Lock()
	defer c.clockMu.Unlock()
	if c.sessionClock.session != session {
		return
	}
	now := c.clock.now()
	c.sessionClock.prove(p, now, rand.N(c.sessionClock.timeout/50+1))
	if now < c.sessionClock.deadline() {
		c.tellBeliefLocked()
	}
}

// wrote notes that a write was answered, as sessionClock.wrote does.
func (c *Conn) wrote(session int64, s stamp) {
	c.clockMu.Lock()
	defer c.clockMu.Unlock()
	if c.sessionClock.session == session && c.sessionClock.starting {
		c.sessionClock.wrote(s.sent, s.first)
		c.tellBeliefLocked() // those who wait look at the deadline
	}
}
