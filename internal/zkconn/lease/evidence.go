package lease

import (
	"time"

	"github.com/go-curator/curator/internal/jute"
)

// proof says that the leader has heard of the session.
type proof struct {
	heard time.Duration // no earlier than this; it is the time of sending of a request
	asked time.Duration // when the first of the two requests was sent that prove it
}

// Evidence is what the answers on one connection prove (rules S1, S3 and S5). It does no I/O and
// has no locks.
//
// Two requests make a proof. When the first one is answered, the server has told the leader which
// sessions it had heard of. The second one, a write, shows that the leader still led when it was sent.
// Any suitable request serves, so a busy client needs hardly any requests only for proofs.
type Evidence struct {
	timeout   time.Duration
	syncProof bool // a sync serves as the second request, too (S9)
	// answered are samples of the requests that were answered, the oldest first, as far as a first
	// request may still need them.
	answered []exchange
	// first is what a second request proves that is sent now.
	first proof
	// proved is what was proved last.
	proved time.Duration
}

// NewEvidence returns the evidence of a connection, none. With syncProof a sync serves as the second
// request of a proof, too (S9).
func NewEvidence(syncProof bool) Evidence { return Evidence{syncProof: syncProof} }

// exchange is a request and its answer.
type exchange struct {
	sent     time.Duration // by the clock of the session
	answered time.Duration // by the clock that stands still while the machine sleeps
}

// Stamp is what is known of a request when it is sent.
type Stamp struct {
	Sent   time.Duration // before the write began: the server cannot have heard of it earlier
	first  proof         // what it may prove with a second request
	second proof         // what it proves as a second request
}

// connected notes the answer to the connect request. A leader has confirmed the session, which
// a write on this connection proves to be the true one.
func (e *Evidence) connected(timeout, sent, awake time.Duration) {
	e.timeout = timeout
	e.first = proof{heard: sent, asked: sent}
	e.answered = append(e.answered[:0], exchange{sent, awake})
}

// stamp returns the stamp of requests that are sent now. awake is the time by the clock that stands
// still while the machine sleeps: it never shows more than has passed between two events.
func (e *Evidence) stamp(now, awake time.Duration) Stamp {
	s := Stamp{Sent: now, first: proof{asked: now}, second: e.first}
	drop := -1
	for i, x := range e.answered {
		if x.answered+spacing(e.timeout) > awake {
			break
		}
		s.first.heard, drop = x.sent, i
	}
	if drop > 0 {
		e.answered = append(e.answered[:0], e.answered[drop:]...)
	}
	return s
}

// answer notes the answer to a request, and returns what it proves, if that is something new.
func (e *Evidence) answer(s Stamp, op jute.Op, ok bool, awake func() time.Duration) (p proof, proved bool) {
	sample := sampling(e.timeout)
	if n := len(e.answered); n == 0 || s.Sent >= e.answered[n-1].sent+sample {
		e.answered = append(e.answered, exchange{s.Sent, awake()})
	}
	write := writes(op)
	if !ok || !write && op != jute.OpSync {
		return proof{}, false
	}
	if s.first.heard >= e.first.heard {
		e.first = s.first
	}
	if !write && !e.syncProof || s.second.heard == 0 || s.second.heard < e.proved+sample && e.proved != 0 {
		return proof{}, false
	}
	e.proved = s.second.heard
	return s.second, true
}

// better returns when a first request can be sent that leads to a proof of a time at or after
// heard. It is in the past if it can be sent now.
func (e *Evidence) better(heard time.Duration) (awake time.Duration, possible bool) {
	for _, x := range e.answered {
		if x.sent >= heard {
			return x.answered + spacing(e.timeout), true
		}
	}
	return 0, false
}

// Renews tells whether the server that answers a request has heard of the session by it. Servers
// handle credentials by themselves, and do not count them.
func Renews(op jute.Op) bool { return op != jute.OpAuth && op != jute.OpSASL }

// writes tells whether a request is proposed by the leader. A transaction is, even one that fails.
func writes(op jute.Op) bool {
	switch op {
	case jute.OpCreate, jute.OpCreate2, jute.OpCreateTTL, jute.OpCreateContainer,
		jute.OpDelete, jute.OpDeleteContainer, jute.OpSetData, jute.OpSetACL, jute.OpMulti, jute.OpReconfig:
		return true
	}
	return false
}

// spacing is how long before the first request of a proof another one must have been answered.
func spacing(timeout time.Duration) time.Duration { return timeout * 27 / 100 }

// sampling is how far apart the requests are sent that are kept as samples, and what is proved with them. A proof may be
// that much older than the newest request would allow, if a ping went out just ahead of it, and the deadline that much
// nearer than 0.275 of the timeout.
func sampling(timeout time.Duration) time.Duration { return timeout / 512 }
