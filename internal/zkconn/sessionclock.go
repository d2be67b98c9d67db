package zkconn

import "time"

// What a client may believe of its session, and why, is in docs/session.md. The rules S1 to S10
// are cited here by number; docs/rules.md has their tests.

// A proof says that the leader has heard of the session.
type proof struct {
	heard time.Duration // no earlier than this; it is the time of sending of a request
	asked time.Duration // when the first of the two requests was sent that prove it
}

// sessionClock says until when the session can be relied on (rules S2, S4, S6 and S7). Times are
// by Conn.clock. It does no I/O and has no locks.
type sessionClock struct {
	session int64
	timeout time.Duration // the smaller of what was granted at the session's creation and now (S7)
	margin  time.Duration
	proof   proof // that counts

	newest proof         // that was seen: it does not count while gap is set
	gap    bool          // the leader may have begun to end the session: one proof is not enough (S6)
	first  time.Duration // when the first proof after the gap was seen; zero for none

	wanted   bool          // proofs are asked for
	users    int           // how many want them
	unused   time.Duration // since when nobody does
	starting bool          // they are wanted, and there has been none since
	stale    bool          // the deadline had passed by then, so that nobody has relied on it
	brief    time.Duration // the deadline meanwhile, zero for none
	due      time.Duration // when the next proof is to be asked for
	next     time.Duration // what it is to prove at least
	nearest  time.Duration // the least time that was left when there was a proof, see takeNearest
	reported time.Duration // the deadline of which it was reported that it has passed
}

// The fractions of the session timeout that the rules name.
func (s *sessionClock) period() time.Duration { return s.timeout * 30 / 100 }
func (s *sessionClock) oldest() time.Duration { return s.timeout * 60 / 100 }

// spacing is how long before the first request of a proof another one must have been answered.
func spacing(timeout time.Duration) time.Duration { return timeout * 27 / 100 }

// passed tells whether the deadline has passed by which somebody relies on the session, and was
// not reported.
func (s *sessionClock) passed(now time.Duration) bool {
	if d := s.deadline(); now < d || d == s.reported || !s.proving(now) || s.stale {
		return false
	}
	s.reported = s.deadline()
	return true
}

// takeNearest returns how near the deadline was since it was called last.
func (s *sessionClock) takeNearest(now time.Duration) time.Duration {
	least := min(s.nearest, s.deadline()-now)
	s.nearest = s.timeout
	return least
}

// briefly is how long the session is relied on for an answered write alone.
func (s *sessionClock) briefly() time.Duration { return s.timeout / 8 }

// begin starts the clock of a new session, whose creation is a proof (S5).
func (s *sessionClock) begin(session int64, timeout, margin, sent time.Duration) {
	created := proof{heard: sent, asked: sent}
	*s = sessionClock{
		session: session, timeout: timeout, margin: margin, proof: created, newest: created,
		wanted: s.wanted, users: s.users, unused: s.unused, nearest: timeout,
	}
	s.schedule(0)
}

// reconnected notes another connection of the session, on which the server grants a timeout.
// The answer to the connect request proves nothing by itself (S5).
func (s *sessionClock) reconnected(timeout, margin, now time.Duration) {
	if timeout < s.timeout {
		s.timeout, s.margin = timeout, margin
	}
	s.due, s.next = now, min(s.next, now)
}

// deadline returns when the session cannot be relied on any more, unless there is another proof
// (S4).
func (s *sessionClock) deadline() time.Duration {
	return max(s.proof.heard+s.timeout-s.margin, s.brief)
}

// prove notes a proof. jitter, at most a fiftieth of the timeout, spreads the requests of many
// clients.
func (s *sessionClock) prove(p proof, now, jitter time.Duration) {
	if p.heard <= s.newest.heard {
		return
	}
	s.nearest = min(s.nearest, s.deadline()-now)
	s.newest = p
	if s.wanted && !s.stale && now >= s.deadline() {
		s.suspect()
	}
	switch {
	case !s.gap:
		s.proof = p
	case s.first == 0:
		s.first = now
	case p.asked >= s.first:
		s.proof, s.gap = p, false
	}
	if !s.gap {
		if s.starting {
			s.nearest = s.timeout // nobody relied on the session before
		}
		s.starting, s.stale, s.brief = false, false, 0
	}
	s.schedule(jitter)
}

// suspect notes that the leader had so much reason to end the session that it may have begun to.
// It takes the session off its list first and marks it as closing afterwards. A request that
// comes between the two succeeds, and the session ends all the same (S6).
func (s *sessionClock) suspect() {
	if !s.gap {
		s.gap, s.first, s.brief = true, 0, 0
	}
}

// schedule sets when the next proof is to be asked for, and what it must prove (S2). As a rule a proof
// proves the sending of the one before. If a proof was old when it was asked for, the next one is due
// earlier.
func (s *sessionClock) schedule(jitter time.Duration) {
	p := s.newest
	if p.asked-p.heard > s.oldest()-spacing(s.timeout) {
		s.due, s.next = p.heard+s.oldest()-jitter, p.heard+s.timeout/16
		return
	}
	s.due, s.next = p.asked+s.period()-jitter, p.asked-s.timeout/64
}

// wrote notes the answer to a write. sent is when the write was sent, and first what it proves together
// with a later request. A session that has just come into use is relied on for a short time because of
// the write alone, since the session certainly lived when the write was done.
func (s *sessionClock) wrote(sent time.Duration, first proof) {
	if s.starting && !s.gap {
		s.brief = max(s.brief, min(sent+s.briefly(), first.heard+s.timeout-s.margin))
		s.stale = s.stale && s.brief <= sent
	}
}

// use notes that somebody relies on the session from now on, or waits to. A lock that is held for a
// short time needs no proof of its own, so the first proof is not asked for immediately.
func (s *sessionClock) use(now time.Duration) (wake bool) {
	s.users++
	if s.wanted {
		return false
	}
	s.wanted, s.starting, s.stale = true, true, now >= s.deadline()
	s.due = max(s.due, now+s.timeout/32)
	return true
}

// unuse undoes use.
func (s *sessionClock) unuse(now time.Duration) {
	if s.users--; s.users == 0 {
		s.unused = now
	}
}

// proving tells whether proofs are to be asked for: as long as somebody relies on the session,
// and for a while after, so that the next one finds a proof that is young enough.
func (s *sessionClock) proving(now time.Duration) bool {
	if s.wanted && s.users == 0 && now-s.unused > s.timeout {
		s.wanted, s.starting, s.stale, s.brief = false, false, false, 0
	}
	return s.wanted
}

// maxMargin bounds the margin, so that a proof that comes in time is early enough.
func maxMargin(timeout time.Duration) time.Duration { return timeout * 3 / 10 }
