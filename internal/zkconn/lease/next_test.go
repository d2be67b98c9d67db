package lease

import (
	"testing"
	"time"

	"github.com/go-curator/curator/internal/jute"
)

// What next asks for, and when, if a client sends only pings and then comes into use.
func TestRuleS1AndS2Next(t *testing.T) {
	var c clock
	e := NewEvidence(false)
	c.begin(1, 100*percent, marginOf(100*percent, 0), percent)
	e.connected(100*percent, percent, percent)
	answer := func(op jute.Op, at time.Duration) {
		s := e.stamp(at*percent, at*percent)
		if p, ok := e.answer(s, op, true, func() time.Duration { return at*percent + percent/2 }); ok {
			c.prove(p, at*percent+percent/2, 0)
		}
	}
	want := func(at time.Duration, ask Ask, wait time.Duration) {
		t.Helper()
		if a, w := c.next(1, &e, at*percent, at*percent); a != ask || ask == Nothing && w != wait {
			t.Errorf("at %d: %d and %v, want %d and %v", at, a, w, ask, wait)
		}
	}
	want(2, Nothing, never) // nobody relies on the session
	c.use(2 * percent)
	want(2, Nothing, 29*percent)
	if a, _ := c.next(2, &e, 40*percent, 40*percent); a != Nothing {
		t.Error("a request on a connection of another session")
	}
	answer(aPing, 3)
	want(30, Nothing, percent)
	want(31, First, 0) // 0.3 T after the session was asked for, and 0.27 T after the ping's answer
	answer(aSync, 31)
	want(32, Second, 0)
	before := c.learned(&e)
	answer(aMulti, 32)
	if c.doubt.newest.heard != 3*percent {
		t.Errorf("it has proved %v", c.doubt.newest)
	}
	wantClock(t, "the deadline", c.deadline(), 3+100-12.5)
	c.asked(&e, before, 33*percent)
	want(33, Nothing, 28*percent) // 0.3 T after the sync was sent
	c.asked(&e, c.learned(&e), 60*percent)
	want(61, Nothing, 4*percent) // nothing new: a twentieth later
}
