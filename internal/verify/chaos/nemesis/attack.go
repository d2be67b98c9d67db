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

func workerStopped(ctx context.Context, a *attack) bool  { return a.stop(ctx, a.Workers) }
func foreignStopped(ctx context.Context, a *attack) bool { return a.stop(ctx, a.Foreign) }
func workerKilled(ctx context.Context, a *attack) bool   { return a.kill(ctx, a.Workers) }
func foreignKilled(ctx context.Context, a *attack) bool  { return a.kill(ctx, a.Foreign) }

// stop has a worker stand still, half of the time for longer than its session.
func (a *attack) stop(ctx context.Context, workers []*fleet.Member) (made bool) {
	if len(workers) == 0 {
		return false
	}
	m := some(a.random, workers)
	m.Use(func() {
		a.begin("%s", m.Name())
		made = m.Stop() == nil
		if a.random.IntN(2) == 0 {
			a.last(ctx, a.Session*5/4, a.Session*2)
		} else {
			a.last(ctx, 0, a.Session)
		}
		made = m.Continue() == nil && made
	})
	return made
}

// kill ends a worker, and starts another one in its place.
func (a *attack) kill(ctx context.Context, workers []*fleet.Member) (made bool) {
	if len(workers) == 0 {
		return false
	}
	m := some(a.random, workers)
	m.Use(func() {
		a.begin("%s", m.Name())
		m.Kill()
		_ = wait.For(ctx, a.Session/8) // then it is started at once
		a.last(ctx, 0, 0)
		if err := m.Start(); err != nil {
			panic(Broken{err.Error()})
		}
		made = true
	})
	return made
}

// offsets are what wall clocks are set to. They are so far apart that the time of a transaction, which is
// that of its leader's clock, leads to the right time: see RightTimes of package replay.
func offsets() []time.Duration {
	return []time.Duration{
		0, 30 * time.Second, -30 * time.Second, 10 * time.Minute, -10 * time.Minute, 3 * time.Hour, -3 * time.Hour, 40 * time.Hour,
	}
}

// wallClock steps the clock of a process, forward or back. It stays so until another step.
func wallClock(_ context.Context, a *attack) bool {
	if len(a.Clocks) == 0 {
		return false
	}
	c, offset := some(a.random, a.Clocks), some(a.random, offsets())
	a.begin("%s is ahead by %v", c.Name, offset)
	return a.set(c, offset) == nil
}

// set sets a clock, and notes it.
func (t Target) set(c Clock, offset time.Duration) error {
	t.Note(history.Event{At: history.Now(), Kind: history.Stepped, Process: c.Name, Value: int64(offset)})
	return c.Set(offset)
}

// rightClocks sets all clocks to the right time.
func (t Target) rightClocks() {
	for _, c := range t.Clocks {
		if err := t.set(c, 0); err != nil {
			t.Note(history.Event{At: history.Now(), Kind: history.Failed, Text: "set the clock of " + c.Name + ": " + err.Error()})
		}
	}
}
