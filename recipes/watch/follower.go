package watch

import (
	"sync"

	"github.com/go-curator/curator/framework"
)

// follower has the events that one loop over Events has not seen yet.
type follower struct {
	wake chan struct{} // has room for one signal

	mu     sync.Mutex
	events []framework.WatchedEvent
}

func (f *follower) add(e framework.WatchedEvent) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.events = append(f.events, e)
	select {
	case f.wake <- struct{}{}:
	default:
	}
}

func (f *follower) take() []framework.WatchedEvent {
	f.mu.Lock()
	defer f.mu.Unlock()
	events := f.events
	f.events = nil
	return events
}
