package demo

import (
	"slices"
	"time"
)

// Events returns the events from number from on, and the number of the next event. The first event
// has the number 0. Only the last 256 events are kept.
func (f *Fleet) Events(from int) (events []Event, next int) {
	f.diary.mu.Lock()
	defer f.diary.mu.Unlock()
	next = f.diary.dropped + len(f.diary.events)
	first := min(max(from-f.diary.dropped, 0), len(f.diary.events))
	return slices.Clone(f.diary.events[first:]), next
}

// Changed returns a channel that is closed at the next event. Call it before Events, so that no event
// is missed.
func (f *Fleet) Changed() <-chan struct{} {
	f.diary.mu.Lock()
	defer f.diary.mu.Unlock()
	return f.diary.changed
}

// Elapsed returns the time since Start, 0 before Start.
func (f *Fleet) Elapsed() time.Duration {
	f.diary.mu.Lock()
	defer f.diary.mu.Unlock()
	if f.diary.begun.IsZero() {
		return 0
	}
	return time.Since(f.diary.begun)
}
