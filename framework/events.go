package framework

import (
	"context"
	"fmt"

	"github.com/go-curator/curator/framework/listen"
)

// Event is an event of CuratorListenable. All listeners share its slices, and must not change
// them. Java: CuratorEvent.
type Event struct {
	Op   string // the operation, "watched" or "closing"
	Path string // as the operation was given it; of the watched event

	// What the operation has returned; zero if it returns none, or has failed.

	Name     string     // of create: the path of the node, relative to the namespace
	Data     []byte     // of getData, getConfig and reconfig
	Stat     *Stat      // of the node; of exists, nil if there is none
	Children []string   // of getChildren
	ACL      []ACL      // of getACL
	Results  []OpResult // of multi and batch; also if it has failed: see OpResult.Err

	Err     error         // why the operation has failed
	Watched *WatchedEvent // the event of Watched, else nil

	ctx context.Context
}

// Context returns a context with the values of InBackground's context, such as a trace. It
// never ends. For other events its values are those of Start's context.
//
// Java: getContext.
func (e Event) Context() context.Context {
	if e.ctx == nil {
		return context.Background()
	}
	return e.ctx
}

// outcome fills in what an operation has returned. stat is where it has stored the Stat, nil
// without one.
func (e *Event) outcome(result any, stat *Stat, err error) {
	e.Err = err
	if results, ok := result.([]OpResult); ok {
		e.Results = results
	}
	if err != nil {
		return
	}
	exists := true
	switch r := result.(type) {
	case string:
		e.Name = r
	case []byte:
		e.Data = r
	case []string:
		e.Children = r
	case []ACL:
		e.ACL = r
	case Stat:
		e.Stat = &r
	case bool:
		exists = r
	}
	if stat != nil && exists {
		s := *stat // the other is the user's
		e.Stat = &s
	}
}

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
