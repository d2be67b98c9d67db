package lease

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/go-curator/curator/internal/jute"
)

// The states and what leads from one to another.
func TestStates(t *testing.T) {
	const margin = 100 * percent / 8
	begun := func() *clock {
		c := new(clock)
		c.begin(1, 100*percent, margin, percent)
		return c
	}
	inUse := func() *clock {
		c := begun()
		c.use(2 * percent)
		return c
	}
	proof := func(heard, asked time.Duration) proof {
		return proof{heard: heard * percent, asked: asked * percent}
	}
	for _, step := range []struct {
		what string
		from *clock
		do   func(*clock)
		now  time.Duration
		want state
	}{
		{"no session", new(clock), func(*clock) {}, 1, none},
		{"a session has ended without a successor", begun(), (*clock).end, 2, ended},
		{"a new session", begun(), func(*clock) {}, 88, believed},
		{"the deadline passes, and nobody relied on it", begun(), func(*clock) {}, 89, unproved},
		{"it comes into use after that", begun(), func(c *clock) { c.use(90 * percent) }, 91, unproved},
		{"one proof", begun(), func(c *clock) { c.use(90 * percent); c.prove(proof(60, 91), 92*percent, 0) }, 93, believed},
		{
			"one young write", begun(),
			func(c *clock) {
				c.use(90 * percent)
				c.wrote(Stamp{Sent: 91 * percent, first: proof(60, 91)}, 92*percent)
			}, 93, believed,
		},
		{
			"a young write when the deadline has passed in use", inUse(),
			func(c *clock) { c.wrote(Stamp{Sent: 88 * percent, first: proof(60, 88)}, 89*percent) }, 90, expired,
		},
		{
			"one ahead of it", inUse(),
			func(c *clock) { c.wrote(Stamp{Sent: 80 * percent, first: proof(50, 80)}, 81*percent) }, 90, believed,
		},
		{"the deadline passes in use", inUse(), func(*clock) {}, 89, expired},
		{"one proof after that", inUse(), func(c *clock) { c.prove(proof(60, 91), 92*percent, 0) }, 93, expired},
		{
			"two proofs after that", inUse(),
			func(c *clock) { c.prove(proof(60, 91), 92*percent, 0); c.prove(proof(62, 93), 94*percent, 0) }, 95, believed,
		},
		{"a silence, and nobody relied on it", begun(), (*clock).suspect, 89, expired},
		{"another connection", inUse(), func(c *clock) { c.reconnected(100*percent, margin, 50*percent) }, 51, believed},
		{
			"another connection with a shorter timeout", inUse(),
			func(c *clock) { c.reconnected(40*percent, 5*percent, 50*percent) }, 51, expired,
		},
		{"a new session after the end", begun(), func(c *clock) { c.end(); c.begin(2, 100*percent, margin, 50*percent) }, 51, believed},
	} {
		step.do(step.from)
		if got := step.from.state(step.now * percent); got != step.want {
			t.Errorf("%s: state %d, want %d", step.what, got, step.want)
		}
	}
}

// history is a random life of a clock, as a Session leads it.
type history struct {
	clock
	*rand.Rand
	evidence Evidence
	now      time.Duration
	heard    time.Duration // when the last acknowledged request was sent
	sent     Stamp         // of the request that is under way
	proofs   int           // new ones since belief has ended
}

// step does something, and returns what.
func (h *history) step() (what string) {
	const margin = 100 * percent / 8
	switch h.IntN(9) {
	case 0:
		h.sent = h.evidence.stamp(h.now, h.now)
		return "a request is sent"
	case 1, 2, 3:
		h.answer([]jute.Op{aPing, aRead, aSync, aSync, aWrite, aMulti, aMulti}[h.IntN(7)])
		h.sent = h.evidence.stamp(h.now, h.now)
		return "it is answered, and another one sent"
	case 4:
		h.use(h.now)
		return "use"
	case 5:
		if h.usage.users > 0 {
			h.unuse(h.now)
		}
		return "unuse"
	case 6:
		h.proving(h.now)
		return "proving"
	case 7:
		h.reconnected(100*percent, margin, h.now)
		h.evidence.connected(h.timeout, h.now, h.now)
		h.sent = h.evidence.stamp(h.now, h.now)
		return reconnect
	}
	if h.over {
		h.begin(h.session+1, 100*percent, margin, h.now)
		h.evidence.connected(100*percent, h.now, h.now)
		h.heard = h.now
		h.sent = h.evidence.stamp(h.now, h.now)
		return begin
	}
	if h.IntN(10) == 0 {
		h.end()
	}
	return "end, or nothing"
}

const reconnect, begin = "another connection", "a new session"

// answer has the request that is under way be one of that kind, and answered.
func (h *history) answer(op jute.Op) {
	doubted := h.doubt.gap
	if h.sent.Sent-h.heard >= h.silence() {
		h.suspect()
	}
	h.heard = max(h.heard, h.sent.Sent)
	if !h.over && writes(op) {
		h.wrote(h.sent, h.now)
	}
	p, proved := h.evidence.answer(h.sent, op, true, func() time.Duration { return h.now })
	fresh := proved && !h.over && p.heard > h.doubt.newest.heard
	if fresh {
		h.prove(p, h.now, 0)
	}
	if !doubted && h.doubt.gap {
		h.proofs = 0 // those before do not count
	}
	if fresh {
		h.proofs++
	}
}

// In every history: a doubt (S6) arises only behind the deadline; another connection leaves belief as it is; from expired
// two proofs lead to believed, or a new session, and from ended only that.
func TestStatesOfHistories(t *testing.T) {
	for seed := range uint64(20_000) {
		h := &history{Rand: rand.New(rand.NewPCG(39, seed)), evidence: NewEvidence(seed%2 == 0), now: percent, heard: percent}
		h.begin(1, 100*percent, marginOf(100*percent, 0), h.now)
		h.evidence.connected(100*percent, h.now, h.now)
		h.sent = h.evidence.stamp(h.now, h.now)
		after := believed
		for range 60 {
			h.now += time.Duration(1+h.IntN(40)) * percent
			before := h.state(h.now)
			if before == believed || after == believed {
				h.proofs = 0
			}
			what := h.step()
			after = h.state(h.now)
			switch {
			case h.doubt.gap && h.now < h.deadline():
				t.Fatalf("history %d, %s: at %v there is a doubt, and the deadline is %v", seed, what, h.now, h.deadline())
			case what == reconnect && after != before,
				before == expired && after == believed && what != begin && h.proofs < 2,
				before == ended && after != ended && what != begin,
				before == unproved && after == believed && h.proofs == 0 && what != begin && !h.usage.starting:
				t.Fatalf("history %d at %v, %s: from state %d to %d, with %d proofs", seed, h.now, what, before, after, h.proofs)
			}
		}
	}
}
