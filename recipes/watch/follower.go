package watch

import (
	"sync"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/framework/listen"
	"github.com/go-curator/curator/internal/background"
	"github.com/go-curator/curator/internal/wait"
)

// follower has the events that one loop over Events has not seen yet.
type follower struct {
	wake wait.Signal

	mu     sync.Mutex
	events background.Bounded[framework.WatchedEvent]
}

func (w *PersistentWatcher) newFollower() *follower {
	backlog := func() background.Backlog[framework.WatchedEvent] { return w.newLostEvents() }
	return &follower{wake: wait.NewSignal(), events: background.NewBounded(listen.MaxEvents, backlog)}
}

func (f *follower) add(e framework.WatchedEvent) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.events.Add(e)
	f.wake.Set()
}

// next takes the first event.
func (f *follower) next() (e framework.WatchedEvent, ok bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.events.Next()
}

// lostEvents are the events for which a queue has no room: they become one WatchReset.
type lostEvents struct{ path string }

func (w *PersistentWatcher) newLostEvents() listen.Backlog[framework.WatchedEvent] {
	return lostEvents{w.path}
}

func (lostEvents) Add(framework.WatchedEvent) {}

func (l lostEvents) Take() []framework.WatchedEvent {
	return []framework.WatchedEvent{{Type: framework.WatchReset, Path: l.path}}
}
