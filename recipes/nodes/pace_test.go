package nodes

import (
	"testing"
	"time"

	"github.com/go-curator/curator/internal/wait"
)

// A pause that nothing shortens is over when its time has passed, also if a signal comes just then: events end
// the next pause again.
func TestFixedPauseEnds(t *testing.T) {
	p, wake := newPace(false), wait.NewSignal()
	for range 1000 {
		p.pause, p.fixed = 1, true
		wake.Set()
		for p.pause > 0 {
			p.sleep(t.Context(), wake, time.Time{})
		}
		if p.fixed {
			t.Fatal("the next pause is fixed, too")
		}
	}
}
