package zk

import (
	"maps"
	"sync"

	"github.com/go-curator/curator/internal/zkconn"
)

// watcher is the watch of a call, and its channel. The channel gets one event and is closed.
type watcher struct {
	zkconn.Watch
	of *watchers
	ch chan Event
}

// fire passes the event on; locks of the session layer are held.
func (w *watcher) fire(e zkconn.WatchEvent) {
	if !w.of.remove(w) {
		return
	}
	ev := Event{Path: w.of.shown(w.Path())}
	switch e.Type {
	case zkconn.WatchSessionLost:
		ev.Type, ev.State, ev.Err = EventNotWatching, StateDisconnected, ErrSessionExpired
	case zkconn.WatchClosed:
		ev.Type, ev.State, ev.Err = EventNotWatching, StateDisconnected, ErrClosing
	default:
		ev.Type, ev.State = EventType(e.Type), StateSyncConnected
	}
	if ev.Type == EventNotWatching {
		w.of.events.ending(ev, w.About())
	} else {
		w.of.events.node(ev, e.EventID)
	}
	w.tell(ev)
}

func (w *watcher) tell(ev Event) {
	w.ch <- ev // it has room
	close(w.ch)
}

// watchers are those of a Conn. It keeps them if its client outlives it, because the session layer does not tell them of
// its end.
type watchers struct {
	events *events
	shown  func(full string) string // the program's path
	kept   bool

	mu  sync.Mutex
	all map[*watcher]struct{} // nil at the end
}

// add keeps a watch that is about to be set.
func (s *watchers) add(w *watcher) {
	if !s.kept {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all != nil {
		s.all[w] = struct{}{}
	}
}

// remove tells whether w is still to be told of its event.
func (s *watchers) remove(w *watcher) bool {
	if !s.kept {
		return true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	_, there := s.all[w]
	delete(s.all, w)
	return there
}

// present returns those that wait for their events.
func (s *watchers) present() map[*watcher]struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.all)
}

// end tells all of them that the Conn is closed.
func (s *watchers) end() {
	s.mu.Lock()
	all := s.all
	s.all = nil
	s.mu.Unlock()
	for w := range all {
		ev := Event{Type: EventNotWatching, State: StateDisconnected, Path: s.shown(w.Path()), Err: ErrClosing}
		s.events.ending(ev, w.About())
		w.tell(ev)
	}
}
