package watch

import (
	"context"
	"iter"
	"sync"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/framework/listen"
	"github.com/go-curator/curator/internal/wait"
)

// Listenable takes listeners for the events, which have paths of the client.
// framework.WatchReset comes after every reconnect, because changes may have been missed. To
// miss no event, add listeners before Start.
//
// Up to 65,536 events wait for a listener that is slow. When more come, they are dropped until it has
// got those that wait; it then gets one framework.WatchReset, and later events behind that.
//
// Java: getListenable and getResetListenable; there the queue has no limit.
func (w *PersistentWatcher) Listenable() listen.Listenable[framework.WatchedEvent] {
	if w == nil {
		return listen.Listenable[framework.WatchedEvent]{}
	}
	return w.events.Listenable()
}

// Events iterates over the events after the beginning of the loop, until ctx ends, Close is
// called or the client is closed. Events during the loop body are queued, up to the limit of
// Listenable, with one framework.WatchReset for those that were dropped; events that are still queued at
// the end are dropped. Several loops may run at the same time, each with all events. A loop may begin
// before Start.
//
// Java: none.
func (w *PersistentWatcher) Events(ctx context.Context) iter.Seq[framework.WatchedEvent] {
	return func(yield func(framework.WatchedEvent) bool) {
		if w == nil || w.api == nil || ctx == nil {
			return
		}
		f := &follower{wake: wait.NewSignal(), reset: w.reset()}
		w.add(f)
		defer w.remove(f)
		for {
			select {
			case <-f.wake:
			case <-ctx.Done():
				return
			case <-w.over:
				return
			case <-w.client.Done():
				return // without a watch nothing else tells of it
			}
			for e, ok := f.next(); ok; e, ok = f.next() {
				if w.finished() || ctx.Err() != nil || !yield(e) {
					return
				}
			}
		}
	}
}

// tell hands an event to the listeners and the loops.
func (w *PersistentWatcher) tell(event framework.WatchedEvent) {
	w.events.Notify(event)
	w.mu.Lock()
	defer w.mu.Unlock()
	for f := range w.followers {
		f.add(event)
	}
}

// end ends Events.
func (w *PersistentWatcher) end() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.ended {
		w.ended = true
		close(w.over)
	}
}

func (w *PersistentWatcher) finished() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.ended
}

func (w *PersistentWatcher) add(f *follower) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.followers[f] = struct{}{}
}

func (w *PersistentWatcher) remove(f *follower) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.followers, f)
}

// follower has the events that one loop over Events has not seen yet.
type follower struct {
	wake  wait.Signal
	reset framework.WatchedEvent // stands for the events for which there was no room

	mu     sync.Mutex
	events []framework.WatchedEvent
	lost   bool // there was no room for an event since events was empty
}

func (f *follower) add(e framework.WatchedEvent) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.lost = f.lost || len(f.events) == listen.MaxEvents; !f.lost {
		f.events = append(f.events, e)
	}
	f.wake.Set()
}

// next takes the first event.
func (f *follower) next() (e framework.WatchedEvent, ok bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case len(f.events) > 0:
		e = f.events[0]
		clear(f.events[:1]) // or the array would keep its path alive
		f.events = f.events[1:]
		return e, true
	case f.lost:
		f.lost = false
		return f.reset, true
	}
	f.events = nil // also its array
	return e, false
}

// reset is the event that stands for events that were lost.
func (w *PersistentWatcher) reset() framework.WatchedEvent {
	return framework.WatchedEvent{Type: framework.WatchReset, Path: w.path}
}

// lostEvents are the events for which the queue of a listener has no room: they become one WatchReset.
type lostEvents struct{ reset framework.WatchedEvent }

func (w *PersistentWatcher) newLostEvents() listen.Backlog[framework.WatchedEvent] {
	return lostEvents{w.reset()}
}

func (lostEvents) Add(framework.WatchedEvent) {}

func (l lostEvents) Take() []framework.WatchedEvent { return []framework.WatchedEvent{l.reset} }
