package nodes_test

import (
	"testing"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/suite"
)

// The requests of a kept node in peace: one read after a reconnect, one write at the end, and none
// in between. TestRuleK1 has those of Start, TestSetData those of a change, TestTTLTraffic those
// of a node with a time to live.
func TestTraffic(t *testing.T) {
	for _, f := range families {
		t.Run(f.name, func(t *testing.T) {
			suite.EachOf(t, backendsOf(f), func(t *testing.T, b *suite.Backend) {
				e := newEnv(t, b)
				e.keep(f.mode, f.opts...)
				e.start()
				before := e.traffic()
				e.quiet()
				if n := e.traffic().minus(before); n != (traffic{}) {
					t.Errorf("an idle node took %+v", n)
				}
				for range 3 {
					before = e.traffic()
					e.network.Cut()
					suite.Eventually(t, "the look", func() bool { return e.traffic().minus(before).reads > 0 })
					e.quiet()
					if n := e.traffic().minus(before); n != (traffic{reads: 1}) {
						t.Errorf("a reconnect took %+v", n)
					}
				}
				before = e.traffic()
				e.closed()
				if n := e.traffic().minus(before); b.Virtual && n != (traffic{writes: 1}) { // else the look may still be on its way
					t.Errorf("Close took %+v", n)
				}
			})
		})
	}
}

// A new session takes one write and one read, as Start does.
func TestTrafficOfNewSession(t *testing.T) {
	suite.EachOf(t, withRealServer, func(t *testing.T, b *suite.Backend) {
		e := newEnv(t, b)
		e.directory()
		e.keep(framework.Ephemeral)
		e.start()
		before := e.traffic()
		e.network.Expire(t)
		e.untilOwned(ours)
		e.quiet()
		if n := e.traffic().minus(before); n != (traffic{writes: 1, reads: 1}) {
			t.Errorf("a new session took %+v", n)
		}
		e.closed()
	})
}
