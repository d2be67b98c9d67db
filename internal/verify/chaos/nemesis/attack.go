package nemesis

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/verify/chaos/fleet"
	"github.com/go-curator/curator/internal/verify/chaos/history"
	"github.com/go-curator/curator/internal/wait"
	"github.com/go-curator/curator/tools/curatortest"
)

// Target is what is attacked.
type Target struct {
	Servers  *curatortest.Ensemble
	Workers  []*fleet.Member
	Foreign  []*fleet.Member // workers that are not ours
	Operator *framework.Client
	Locks    []string // the paths below which an operator deletes nodes
	Clocks   []Clock  // the wall clocks that can be stepped
	Session  time.Duration
	Tick     time.Duration
	// SessionOf returns the session that a worker had last, 0 for none.
	SessionOf func(worker string) int64
	Note      func(history.Event)
}

// Clock is the wall clock of a server or a worker. Set has it be ahead of the right time.
type Clock struct {
	Name string
	Set  func(offset time.Duration) error
}

// Broken is what a test's stand-in panics with when a fault cannot be made.
type Broken struct{ Text string }

// attack is one fault that is being made.
type attack struct {
	Target
	kind   string
	random *rand.Rand
}

func (a *attack) note(kind history.Kind, text string) {
	a.Note(history.Event{At: history.Now(), Kind: kind, Text: a.kind + " " + text})
}

// begin notes that the fault begins, and where.
func (a *attack) begin(format string, args ...any) {
	a.note(history.Fault, fmt.Sprintf(format, args...))
}

// last waits for a random time between two, or until ctx ends, and notes that the fault is over.
func (a *attack) last(ctx context.Context, least, most time.Duration) {
	_ = wait.For(ctx, least+time.Duration(a.random.Float64()*float64(most-least))) // then it is healed at once
	a.note(history.Healed, "")
}

// some returns one of several.
func some[T any](random *rand.Rand, all []T) T { return all[random.IntN(len(all))] }
