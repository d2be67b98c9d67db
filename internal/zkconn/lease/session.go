package lease

import (
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-curator/curator/internal/jute"
)

// Options are those of a Session.
type Options struct {
	Asleep       func() time.Duration // how long the machine has slept, from any beginning; nil asks the system
	Margin       time.Duration        // zero is an eighth of the timeout
	TrustAnswers bool                 // every answer moves the deadline: that is wrong on an ensemble
	Wake         func()               // called when TakePassed or Next is to be called soon; it must not block
}

// Session says until when a client can rely on its session, one session after the other. All of its methods may be
// called on any goroutine. Its mutex is taken last. An [Evidence] that a method takes is of a connection whose lock is
// held.
type Session struct {
	options Options
	elapsed elapsed

	acked   atomic.Int64 // when the last acknowledged request was sent
	silence atomic.Int64 // the time between two such requests that is too long

	mu      sync.Mutex
	clock   clock
	changed chan struct{} // closed when the session can be relied on again or never; nil if nobody waits
}

// Start begins the time. It must be called first.
func (l *Session) Start(o Options) {
	l.options = o
	l.elapsed.start(o.Asleep)
}

// Now returns the time. It is never later than the moment at which it returns, and goes on while the machine sleeps.
func (l *Session) Now() time.Duration { return l.elapsed.now() }

// Begin starts the clock of a session that a server has created, or has confirmed. sent is
// when the connect request was sent.
func (l *Session) Begin(session int64, timeout, sent time.Duration, created bool) {
	if created {
		l.acked.Store(int64(sent))
	} else {
		l.heard(sent)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	margin := marginOf(timeout, l.options.Margin)
	if created {
		l.clock.begin(session, timeout, margin, sent)
		l.tell()
	} else {
		l.clock.reconnected(timeout, margin, l.elapsed.now())
	}
	l.silence.Store(int64(l.clock.silence()))
}

// End notes that the session is over.
func (l *Session) End() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.clock.end()
	l.tell()
}

// Stamp returns what is known of requests that are sent now on the connection of e.
func (l *Session) Stamp(e *Evidence) Stamp { return e.stamp(l.elapsed.now(), l.elapsed.awake()) }

// Connected notes the answer to the connect request of a connection, which was sent then.
func (l *Session) Connected(e *Evidence, timeout, sent time.Duration) {
	e.connected(timeout, sent, l.elapsed.awake())
}

// Answered notes the answer to a request that renews the session, and was sent on a connection of it. ok says that the
// server has not refused it.
func (l *Session) Answered(session int64, e *Evidence, s Stamp, op jute.Op, ok bool) {
	l.heard(s.Sent) // a doubt comes ahead of what the answer proves
	if ok && writes(op) {
		l.wrote(session, s)
	}
	if p, proved := e.answer(s, op, ok, l.elapsed.awake); proved {
		l.prove(session, p)
	}
}

// heard notes that a server has answered a request that was sent at that time. After a long silence
// the session may be about to end.
func (l *Session) heard(sent time.Duration) {
	before := l.acked.Load()
	storeMax(&l.acked, int64(sent))
	if int64(sent)-before < l.silence.Load() {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.clock.suspect()
}

// LastHeard returns when the last acknowledged request was sent.
func (l *Session) LastHeard() time.Duration { return time.Duration(l.acked.Load()) }

// wrote notes that a write was answered, which was sent on a connection of session.
func (l *Session) wrote(session int64, s Stamp) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.clock.live(session) && l.clock.wrote(s, l.elapsed.now()) {
		l.tell() // those who wait look at the deadline
	}
}

// prove notes what the answer to a request has proved, which was sent on a connection of session.
func (l *Session) prove(session int64, p proof) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.clock.live(session) {
		return
	}
	now := l.elapsed.now()
	l.clock.prove(p, now, rand.N(l.clock.maxJitter()+1))
	if l.clock.state(now) == believed {
		l.tell()
	}
}

// Use says that somebody relies on the session, or waits to, until Unuse. As long as somebody
// does, proofs are asked for (S2).
func (l *Session) Use() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.clock.use(l.elapsed.now()) {
		l.options.Wake()
	}
}

// Unuse undoes one Use.
func (l *Session) Unuse() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.clock.unuse(l.elapsed.now())
}

// InUse tells whether somebody relies on the session, or did until a moment ago.
func (l *Session) InUse() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.clock.proving(l.elapsed.now())
}

// at returns the deadline; mu is held.
func (l *Session) at() time.Duration {
	if l.options.TrustAnswers {
		return l.LastHeard() + l.clock.silence()
	}
	return l.clock.deadline()
}

// Deadline returns when belief in a session must end unless there is another proof before (S4). It is in the past when
// nobody has used the session for a while, see Use. ok is false when the session is over already.
func (l *Session) Deadline(session int64) (deadline time.Time, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.clock.live(session) {
		return time.Time{}, false
	}
	return l.elapsed.time(l.at()), true
}

// Margin returns how long before the earliest end of the session at the servers its deadline is.
func (l *Session) Margin() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.clock.margin
}

// TakePassed reports, once for each deadline, that the deadline has passed while somebody relied on the session. wait is
// when to look again.
func (l *Session) TakePassed(now time.Duration) (passed bool, wait time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if at := l.at(); now < at {
		return false, at - now
	}
	return l.clock.takePassed(now), never
}

// Nearest returns how near the deadline was since it was called last.
func (l *Session) Nearest() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.clock.takeNearest(l.elapsed.now())
}

// Await returns nil if the session can be relied on. Otherwise it has a proof asked for, and returns
// a channel that is closed when this may have changed.
func (l *Session) Await() (again <-chan struct{}) {
	now := l.elapsed.now()
	l.mu.Lock()
	defer l.mu.Unlock()
	if now < l.at() {
		return nil
	}
	if l.changed == nil {
		l.changed = make(chan struct{})
	}
	l.clock.hurry(now)
	l.options.Wake()
	return l.changed
}

// Tell wakes those who wait for Await's channel.
func (l *Session) Tell() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.tell()
}

func (l *Session) tell() {
	if l.changed != nil {
		close(l.changed)
		l.changed = nil
	}
}

// Next returns the request that leads to a proof of the session, if it is time, what is known before it, and when to
// look again. e is of the connection in use.
func (l *Session) Next(session int64, e *Evidence) (ask Ask, before Learned, wait time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	before = l.clock.learned(e)
	ask, wait = l.clock.next(session, e, l.elapsed.now(), l.elapsed.awake())
	return ask, before, wait
}

// Asked notes that a request of Next was answered, or never will be. before is what was known ahead of it.
func (l *Session) Asked(e *Evidence, before Learned) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.clock.asked(e, before, l.elapsed.now())
}
