// Package lease says until when a client may rely on its session. What it may believe, and why, is in
// docs/session.md, whose rules S1 to S10 are cited here by number; docs/rules.md has their tests.
//
// A [Session] guards one [clock], which serves one session after the other. Its mutex is taken last. A clock, and the
// [Evidence] of a connection, take the time as an argument, do no I/O, and have no locks and no goroutines. [elapsed] tells
// that time.
package lease

import "time"

// state is what may be believed of a session. Most of it says in tests what a clock has come to.
type state int

// The states. begin leads from all of them to believed, and end from all but none to ended.
const (
	none     state = iota // there was no session yet
	believed              // the deadline is ahead
	unproved              // it has passed and nobody relied on the session: one proof leads to believed, or a write once somebody does
	expired               // it has passed and somebody did, or the silence was too long: two proofs do (S6)
	ended                 // the session is over; it never comes back
)

// clock says until when the session can be relied on (rules S2, S4, S6 and S7). Times are
// those of elapsed.now.
type clock struct {
	session int64
	over    bool          // it has ended
	timeout time.Duration // the smaller of what was granted at the session's creation and now (S7)
	margin  time.Duration
	proof   proof // that counts
	doubt   doubt
	usage   usage
	asking  asking

	nearest  time.Duration // the least time that was left when there was a proof, see takeNearest
	reported time.Duration // the deadline of which it was reported that it has passed
}

// doubt is a reason for which one proof is not enough (S6). It arises only behind the deadline.
type doubt struct {
	newest proof         // that was seen: it does not count while gap is set
	gap    bool          // the leader may have begun to end the session
	first  time.Duration // when the first proof after the gap was seen; zero for none
}

// usage is whether somebody relies on the session.
type usage struct {
	wanted   bool          // proofs are asked for
	users    int           // how many want them
	unused   time.Duration // since when nobody does
	starting bool          // they are wanted, and there has been none since
	stale    bool          // the deadline had passed by then, so that nobody has relied on it
	brief    time.Duration // the deadline meanwhile, zero for none
}

// asking is when the next proof is to be asked for.
type asking struct {
	due  time.Duration
	next time.Duration // what it is to prove at least
}

// period is how often a proof is asked for (S2), and oldest how old the newest one may be when the next one is asked for.
func (c *clock) period() time.Duration { return c.timeout * 30 / 100 }
func (c *clock) oldest() time.Duration { return c.timeout * 60 / 100 }

// maxMargin bounds the margin, so that a proof that comes in time is early enough.
func maxMargin(timeout time.Duration) time.Duration { return timeout * 3 / 10 }

// marginOf returns the margin of a timeout. wish is what the user wants, zero for the default.
func marginOf(timeout, wish time.Duration) time.Duration {
	if wish > 0 {
		return min(wish, maxMargin(timeout))
	}
	return timeout / 8
}

// state returns what may be believed now.
func (c *clock) state(now time.Duration) state {
	switch {
	case c.session == 0:
		return none
	case c.over:
		return ended
	case now < c.deadline():
		return believed
	case c.doubt.gap || c.usage.wanted && !c.usage.stale:
		return expired
	}
	return unproved
}

// live tells whether this is the session's clock, and the session is not over.
func (c *clock) live(session int64) bool { return session != 0 && c.session == session && !c.over }

// silence returns how long there may be no answer without a doubt, see suspect.
func (c *clock) silence() time.Duration { return c.timeout - c.margin }

// takePassed tells whether the deadline has passed by which somebody relies on the session, and was
// not reported.
func (c *clock) takePassed(now time.Duration) bool {
	if d := c.deadline(); now < d || d == c.reported || !c.proving(now) || c.usage.stale {
		return false
	}
	c.reported = c.deadline()
	return true
}

// takeNearest returns how near the deadline was since it was called last.
func (c *clock) takeNearest(now time.Duration) time.Duration {
	least := min(c.nearest, c.deadline()-now)
	c.nearest = c.timeout
	return least
}

// briefly is how long the session is relied on for an answered write alone.
func (c *clock) briefly() time.Duration { return c.timeout / 8 }

// begin starts the clock of a new session, whose creation is a proof (S5).
func (c *clock) begin(session int64, timeout, margin, sent time.Duration) {
	created := proof{heard: sent, asked: sent}
	*c = clock{
		session: session, timeout: timeout, margin: margin, proof: created, doubt: doubt{newest: created},
		usage: usage{wanted: c.usage.wanted, users: c.usage.users, unused: c.usage.unused}, nearest: timeout,
	}
	c.schedule(0)
}

// reconnected notes another connection of the session, on which the server grants a timeout.
// The answer to the connect request proves nothing by itself (S5).
func (c *clock) reconnected(timeout, margin, now time.Duration) {
	if timeout < c.timeout {
		c.timeout, c.margin = timeout, margin
	}
	c.asking = asking{due: now, next: min(c.asking.next, now)}
}

// end notes that the session is over.
func (c *clock) end() { c.over = true }

// deadline returns when the session cannot be relied on any more, unless there is another proof
// (S4).
func (c *clock) deadline() time.Duration {
	return max(c.proof.heard+c.timeout-c.margin, c.usage.brief)
}

// maxJitter bounds the jitter of prove.
func (c *clock) maxJitter() time.Duration { return c.timeout / 50 }

// prove notes a proof. jitter spreads the requests of many clients.
func (c *clock) prove(p proof, now, jitter time.Duration) {
	if p.heard <= c.doubt.newest.heard {
		return
	}
	c.nearest = min(c.nearest, c.deadline()-now)
	c.doubt.newest = p
	if c.usage.wanted && !c.usage.stale && now >= c.deadline() {
		c.suspect()
	}
	switch {
	case !c.doubt.gap:
		c.proof = p
	case c.doubt.first == 0:
		c.doubt.first = now
	case p.asked >= c.doubt.first:
		c.proof, c.doubt.gap = p, false
	}
	if !c.doubt.gap {
		if c.usage.starting {
			c.nearest = c.timeout // nobody relied on the session before
		}
		c.usage.starting, c.usage.stale, c.usage.brief = false, false, 0
	}
	c.schedule(jitter)
}

// suspect notes that the leader had so much reason to end the session that it may have begun to.
// It takes the session off its list first and marks it as closing afterwards. A request that
// comes between the two succeeds, and the session ends all the same (S6).
func (c *clock) suspect() {
	if !c.doubt.gap {
		c.doubt.gap, c.doubt.first, c.usage.brief = true, 0, 0
	}
}

// schedule sets when the next proof is to be asked for, and what it must prove (S2). As a rule a proof
// proves the sending of the one before. If a proof was old when it was asked for, the next one is due
// earlier.
func (c *clock) schedule(jitter time.Duration) {
	p := c.doubt.newest
	if p.asked-p.heard > c.oldest()-spacing(c.timeout) {
		c.asking = asking{due: p.heard + c.oldest() - jitter, next: p.heard + c.timeout/16}
		return
	}
	c.asking = asking{due: p.asked + c.period() - jitter, next: p.asked - c.timeout/64}
}

// wrote notes the answer to a write. A session that has just come into use is relied on for a short
// time because of the write alone, since the session certainly lived when the write was done; but not if somebody relied
// on the session when its deadline passed (S6). It tells whether that may have moved the deadline.
func (c *clock) wrote(s Stamp, now time.Duration) bool {
	if !c.usage.starting {
		return false
	}
	if !c.doubt.gap && (c.usage.stale || now < c.deadline()) {
		c.usage.brief = max(c.usage.brief, min(s.Sent+c.briefly(), s.first.heard+c.timeout-c.margin))
		c.usage.stale = c.usage.stale && c.usage.brief <= s.Sent
	}
	return true
}

// use notes that somebody relies on the session from now on, or waits to. A lock that is held for a
// short time needs no proof of its own, so the first proof is not asked for immediately.
func (c *clock) use(now time.Duration) (wake bool) {
	c.usage.users++
	if c.usage.wanted {
		return false
	}
	c.usage.wanted, c.usage.starting, c.usage.stale = true, true, now >= c.deadline()
	c.asking.due = max(c.asking.due, now+c.timeout/32)
	return true
}

// unuse undoes use.
func (c *clock) unuse(now time.Duration) {
	if c.usage.users--; c.usage.users == 0 {
		c.usage.unused = now
	}
}

// proving tells whether proofs are to be asked for: as long as somebody relies on the session,
// and for a while after, so that the next one finds a proof that is young enough.
func (c *clock) proving(now time.Duration) bool {
	if c.usage.wanted && c.usage.users == 0 && now-c.usage.unused > c.timeout {
		c.usage.wanted, c.usage.starting, c.usage.stale, c.usage.brief = false, false, false, 0
	}
	return c.usage.wanted
}

// hurry has the next proof asked for now, if it is due later.
func (c *clock) hurry(now time.Duration) { c.asking.due = min(c.asking.due, now) }

// Ask is a request that leads to a proof.
type Ask int

// The requests.
const (
	Nothing Ask = iota
	First       // a sync
	Second      // a write; or a sync, too, with S9
)

// never is a wait so long that something else looks at the clock first.
const never = time.Hour

// next returns the request that leads to a proof, if it is time (S1 and S2), and when to look again. e
// is of the connection in use, which has that session. awake is the time of elapsed.awake.
func (c *clock) next(session int64, e *Evidence, now, awake time.Duration) (ask Ask, wait time.Duration) {
	switch {
	case c.session != session || c.over || !c.proving(now):
		return Nothing, never // Use looks again
	case now < c.asking.due:
		return Nothing, c.asking.due - now
	case e.first.heard >= c.asking.next && e.first.heard > c.doubt.newest.heard && (e.first.asked >= c.asking.due || e.proved == 0):
		return Second, never
	}
	switch at, possible := e.better(max(c.asking.next, c.doubt.newest.heard+1)); {
	case !possible: // nothing was answered since: this sync proves nothing, but what comes after it will
		c.asking.due = now + spacing(c.timeout)
	case awake < at:
		return Nothing, at - awake
	}
	return First, never
}

// Learned is what the latest answers have led to.
type Learned struct{ first, proved proof }

// learned returns what is known now.
func (c *clock) learned(e *Evidence) Learned { return Learned{e.first, c.doubt.newest} }

// asked notes that a request of next was answered, or never will be. If nothing is known that was
// not known before it, the next try is after a twentieth of the timeout.
func (c *clock) asked(e *Evidence, before Learned, now time.Duration) {
	if before == c.learned(e) {
		c.asking.due = max(c.asking.due, now+c.timeout/20)
	}
}
