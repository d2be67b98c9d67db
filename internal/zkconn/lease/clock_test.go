package lease

import (
	"slices"
	"testing"
	"time"

	"github.com/go-curator/curator/internal/jute"
)

// In these tests the session timeout T is 100 s, so that seconds are hundredths of it.
const percent = time.Second

// exchangeAt is a request in a script: when it was sent and answered, in hundredths of T.
type exchangeAt struct {
	op             jute.Op
	sent, answered time.Duration
	refused        bool
}

// proofsOf returns what a script proves: the time up to which the leader is known to have heard of
// the session, after each answer; -1 for nothing new. The connect request was sent at 1 and
// answered at 1. Requests do not overlap.
func proofsOf(e *Evidence, script []exchangeAt) (proved []time.Duration) {
	e.connected(100*percent, percent, percent)
	for _, x := range script {
		s := e.stamp(x.sent*percent, x.sent*percent)
		p, ok := e.answer(s, x.op, !x.refused, func() time.Duration { return x.answered * percent })
		if !ok {
			p.heard = -percent
		}
		proved = append(proved, p.heard/percent)
	}
	return proved
}

type script struct {
	syncProof bool
	script    []exchangeAt
	want      []time.Duration
}

func wantProofs(t *testing.T, scripts map[string]script) {
	for name, c := range scripts {
		t.Run(name, func(t *testing.T) {
			if got := proofsOf(&Evidence{syncProof: c.syncProof}, c.script); !slices.Equal(got, c.want) {
				t.Fatalf("proved %d, want %d", got, c.want)
			}
		})
	}
}

const (
	aPing, aRead, aSync = jute.OpPing, jute.OpGetData, jute.OpSync
	aWrite, aMulti      = jute.OpSetData, jute.OpMulti
)

func TestRuleS1TwoRequests(t *testing.T) {
	wantProofs(t, map[string]script{
		"a sync and then a transaction": {
			false, []exchangeAt{{aPing, 10, 11, false}, {aSync, 40, 41, false}, {aMulti, 41, 42, false}}, []time.Duration{-1, -1, 10},
		},
		"the transaction is refused for its session": {
			false, []exchangeAt{{aPing, 10, 11, false}, {aSync, 40, 41, false}, {aMulti, 41, 42, true}}, []time.Duration{-1, -1, -1},
		},
		"the sync is refused": {
			false, []exchangeAt{{aPing, 10, 11, false}, {aSync, 40, 41, true}, {aMulti, 41, 42, false}}, []time.Duration{-1, -1, 1},
		},
		"two syncs": {
			false, []exchangeAt{{aPing, 10, 11, false}, {aSync, 40, 41, false}, {aSync, 41, 42, false}}, []time.Duration{-1, -1, -1},
		},
	})
}

func TestRuleS3WhatIsProved(t *testing.T) {
	wantProofs(t, map[string]script{
		"a request of any kind": {
			false, []exchangeAt{{aRead, 12, 13, false}, {aSync, 40, 41, false}, {aWrite, 41, 42, false}}, []time.Duration{-1, -1, 12},
		},
		"the youngest that was answered 0.27 T before": {
			false, []exchangeAt{{aRead, 10, 11, false}, {aRead, 12, 13, false}, {aRead, 14, 15, false}, {aSync, 40, 41, false}, {aWrite, 41, 42, false}},
			[]time.Duration{-1, -1, -1, -1, 12},
		},
		"not one that was sent before and answered later": {
			false, []exchangeAt{{aRead, 10, 20, false}, {aSync, 40, 41, false}, {aWrite, 41, 42, false}}, []time.Duration{-1, -1, 1},
		},
		"by writes alone": {
			false, []exchangeAt{{aWrite, 10, 11, false}, {aWrite, 40, 41, false}, {aWrite, 42, 43, false}}, []time.Duration{1, -1, 10},
		},
	})
}

func TestRuleS5Handshake(t *testing.T) {
	wantProofs(t, map[string]script{
		"a write":           {false, []exchangeAt{{aRead, 2, 3, false}, {aWrite, 4, 5, false}}, []time.Duration{-1, 1}},
		"a read and a sync": {false, []exchangeAt{{aRead, 2, 3, false}, {aSync, 4, 5, false}}, []time.Duration{-1, -1}},
	})
}

func TestRuleS9TwoSyncs(t *testing.T) {
	wantProofs(t, map[string]script{
		"with the option": {
			true, []exchangeAt{{aPing, 10, 11, false}, {aSync, 40, 41, false}, {aSync, 41, 42, false}}, []time.Duration{-1, 1, 10},
		},
	})
}

// A second request must be sent behind the answer to the first one.
func TestRuleS1OneBehindTheOther(t *testing.T) {
	e := &Evidence{}
	proofsOf(e, []exchangeAt{{jute.OpPing, 10, 11, false}})
	now := func() time.Duration { return 41 * percent }
	together := e.stamp(40*percent, 40*percent)
	e.answer(together, jute.OpSync, true, now)
	if p, ok := e.answer(together, jute.OpMulti, true, now); ok && p.heard > percent {
		t.Errorf("a transaction in the same write as the sync proves %v", p.heard)
	}
}

// The machine sleeps between an answer and a request: what the clock adds for that is no distance
// between the two at the server, which may have been asleep as well.
func TestRuleS3OfASleepingMachine(t *testing.T) {
	e := &Evidence{}
	proofsOf(e, []exchangeAt{{jute.OpPing, 10, 11, false}})
	first := e.stamp(60*percent, 12*percent)
	if first.first.heard > percent {
		t.Errorf("%v is proved by a request that was sent right after the answer", first.first.heard)
	}
}

// What is kept for the proofs does not grow with the requests.
func TestRuleS3IsSampled(t *testing.T) {
	e := &Evidence{}
	e.connected(100*percent, percent, percent)
	for at := 2 * percent; at < 400*percent; at += percent / 50 {
		s := e.stamp(at, at)
		e.answer(s, jute.OpGetData, true, func() time.Duration { return at })
	}
	if n := len(e.answered); n > 140 {
		t.Errorf("%d exchanges are kept", n)
	}
}

// A ping just ahead of a request hides it only within 0.005 T, or the next proof would be so old that the deadline came
// nearer than 0.27 T.
func TestRuleS3CloseTogether(t *testing.T) {
	e := &Evidence{}
	e.connected(100*percent, percent, percent)
	for _, at := range []time.Duration{10 * percent, 10*percent + percent/2} {
		e.answer(e.stamp(at, at), jute.OpPing, true, func() time.Duration { return at })
	}
	wantClock(t, "what the next request may prove", e.stamp(40*percent, 40*percent).first.heard, 10.5)
}

func newClock() *clock {
	s := &clock{}
	s.begin(1, 100*percent, 100*percent/8, percent)
	s.usage.wanted, s.usage.users = true, 1
	return s
}

func (s *clock) proveAt(now, asked, heard time.Duration) {
	s.prove(proof{heard: heard * percent, asked: asked * percent}, now*percent, 0)
}

// What is wanted is in hundredths of T.
func wantClock(t *testing.T, what string, got time.Duration, want float64) {
	t.Helper()
	if got != time.Duration(want*float64(percent)) {
		t.Errorf("%s is %v, want %v", what, got, want)
	}
}

// The next proof is asked for 0.3 T after the last one, and earlier if that one was old; clients
// that were started together drift apart.
func TestRuleS2WhenABeatIsDue(t *testing.T) {
	s := newClock()
	wantClock(t, "the first", s.asking.due, 31)
	s.proveAt(32, 31, 2)
	wantClock(t, "the next", s.asking.due, 61)
	wantClock(t, "what it is to prove", s.asking.next, 31-100./64)
	s.proveAt(62, 61, 8)
	wantClock(t, "the one after an old proof", s.asking.due, 68)
	wantClock(t, "what it is to prove", s.asking.next, 8+100./16)
	s.prove(proof{heard: 60 * percent, asked: 68 * percent}, 69*percent, 2*percent)
	wantClock(t, "one with jitter", s.asking.due, 96)
}

// Proofs are asked for as long as the session is used, and for one T after.
func TestRuleS2OnlyWhileInUse(t *testing.T) {
	s := newClock()
	s.use(10 * percent)
	s.unuse(20 * percent)
	if !s.proving(500 * percent) {
		t.Error("no proofs while the session is used")
	}
	s.unuse(500 * percent)
	if !s.proving(600*percent) || s.proving(601*percent) {
		t.Error("want proofs for one T after the last use, and no longer")
	}
	if !s.use(700*percent) || s.use(700*percent) {
		t.Error("want proofs to begin with the first use")
	}
	wantClock(t, "the first proof", s.asking.due, 703.125)
}

// The deadline is what was proved + T - margin, and T/8 is the margin.
func TestRuleS4Deadline(t *testing.T) {
	s := newClock()
	wantClock(t, "the deadline of a new session", s.deadline(), 88.5)
	s.proveAt(42, 41, 12)
	wantClock(t, "the deadline", s.deadline(), 99.5)
	s.proveAt(43, 42, 11)
	wantClock(t, "the deadline after an older proof", s.deadline(), 99.5)
}

// A session that comes into use is relied on for an answered write, for T/8, and for no longer
// than a proof with that write would have it.
func TestRuleS4OfTheFirstUse(t *testing.T) {
	idle := func() *clock {
		s := newClock()
		s.unuse(2 * percent)
		s.proving(200 * percent)
		s.use(300 * percent)
		return s
	}
	s := idle()
	s.wrote(Stamp{Sent: 300 * percent, first: proof{heard: 260 * percent}}, 301*percent)
	wantClock(t, "the deadline", s.deadline(), 312.5)
	s.proveAt(305, 303, 270)
	wantClock(t, "the deadline after a proof", s.deadline(), 357.5)
	s.wrote(Stamp{Sent: 350 * percent, first: proof{heard: 320 * percent}}, 351*percent)
	wantClock(t, "the deadline after another write", s.deadline(), 357.5)

	s = idle()
	s.wrote(Stamp{Sent: 300 * percent, first: proof{heard: 215 * percent}}, 301*percent)
	wantClock(t, "the deadline after a silence", s.deadline(), 302.5)

	s = idle()
	s.suspect()
	s.wrote(Stamp{Sent: 300 * percent, first: proof{heard: 299 * percent}}, 301*percent)
	wantClock(t, "the deadline after too long a silence", s.deadline(), 88.5)
}

// A session that comes into use while it is young has a deadline, which is reported when it passes;
// one that was idle for long has none to report.
func TestRuleS4IsReported(t *testing.T) {
	fresh := &clock{}
	fresh.begin(1, 100*percent, 100*percent/8, percent)
	fresh.use(2 * percent)
	if fresh.takePassed(88*percent) || !fresh.takePassed(89*percent) || fresh.takePassed(90*percent) {
		t.Error("want the deadline of a new session to be reported once, when it passes")
	}
	idle := &clock{}
	idle.begin(1, 100*percent, 100*percent/8, percent)
	idle.use(200 * percent)
	if idle.takePassed(201 * percent) {
		t.Error("a deadline is reported that nobody has relied on")
	}
	idle.wrote(Stamp{Sent: 202 * percent, first: proof{heard: 180 * percent}}, 203*percent)
	if idle.takePassed(214*percent) || !idle.takePassed(215*percent) {
		t.Error("want the deadline after a write to be reported when it passes")
	}
	idle.proveAt(216, 215, 190)
	wantClock(t, "the deadline after one proof", idle.deadline(), 88.5) // two are needed
}

// After the deadline has passed while the session was used, or a silence of that length, one proof
// is not enough.
func TestRuleS6TwoProofs(t *testing.T) {
	for name, begin := range map[string]func(*clock){
		"the deadline has passed": func(*clock) {},
		"a silence":               (*clock).suspect,
	} {
		t.Run(name, func(t *testing.T) {
			s := newClock()
			begin(s)
			s.proveAt(95, 93, 90)
			wantClock(t, "the deadline after one proof", s.deadline(), 88.5)
			s.proveAt(96, 94, 91)
			wantClock(t, "the deadline after another that was asked for before", s.deadline(), 88.5)
			s.proveAt(130, 125, 97)
			wantClock(t, "the deadline after the second", s.deadline(), 184.5)
		})
	}
}

// T is the smallest that any server of the session has granted.
func TestRuleS7SmallestTimeout(t *testing.T) {
	s := newClock()
	s.reconnected(200*percent, 25*percent, 50*percent)
	wantClock(t, "the deadline with a longer timeout", s.deadline(), 88.5)
	wantClock(t, "the next proof", s.asking.due, 50)
	s.reconnected(40*percent, 5*percent, 51*percent)
	wantClock(t, "the deadline with a shorter timeout", s.deadline(), 36)
}
