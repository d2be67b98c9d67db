package framework

import (
	"fmt"

	"github.com/go-curator/curator/framework/listen"
)

// lostOutcomes has what a listener of CuratorListenable gets instead of events for which its queue has no
// room. An outcome is that of an operation that the program has begun, and there is no other way to learn
// it: all are kept. Events of watches become one WatchReset for each kind of watch of a node.
type lostOutcomes struct {
	all    []Event
	resets map[lostWatch]bool
}

// lostWatch is a watch, as far as its events tell.
type lostWatch struct {
	path     string
	children bool
}

func newLostOutcomes() listen.Backlog[Event] { return &lostOutcomes{resets: map[lostWatch]bool{}} }

func (l *lostOutcomes) Add(e Event) {
	w := e.Watched
	switch {
	case w == nil:
	case w.Type.IsRemoval(): // the watch may be set again
		delete(l.resets, lostWatch{w.Path, w.Type == ChildWatchRemoved})
	default:
		watch := lostWatch{w.Path, w.Type == NodeChildrenChanged}
		if l.resets[watch] {
			return
		}
		l.resets[watch] = true
		e.Watched = &WatchedEvent{Type: WatchReset, Path: w.Path}
	}
	l.all = append(l.all, e)
}

func (l *lostOutcomes) Take() []Event { return l.all }

// lostErrors counts the errors for which the queue of a listener has no room.
type lostErrors struct {
	n    int
	last error
}

func newLostErrors() listen.Backlog[error] { return &lostErrors{} }

func (l *lostErrors) Add(err error) { l.n, l.last = l.n+1, err }

func (l *lostErrors) Take() []error {
	if l.n > 1 {
		return []error{fmt.Errorf("%d errors while a listener was blocked; the last: %w", l.n, l.last)}
	}
	return []error{l.last}
}
