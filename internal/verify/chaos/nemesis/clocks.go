package nemesis

import (
	"context"
	"time"

	"github.com/go-curator/curator/internal/verify/chaos/history"
)

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
