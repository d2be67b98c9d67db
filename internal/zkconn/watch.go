package zkconn

import (
	"iter"
	"sync/atomic"

	"github.com/go-curator/curator/internal/jute"
)

// WatchKind says which changes a watch is about.
type WatchKind int8

// The kinds. Exists and getData share a kind, at the server as here.
const (
	WatchData     WatchKind = WatchKind(jute.WatcherData)
	WatchChildren WatchKind = WatchKind(jute.WatcherChildren)
)

// EventType is what happened to a watched node, or to the watch.
type EventType int32

// The events; the first four have the protocol's numbers.
const (
	NodeCreated EventType = iota + 1
	NodeDeleted
	NodeDataChanged
	NodeChildrenChanged
	// WatchReset: there was another connection meanwhile, the watch is gone: read again.
	WatchReset
	// WatchSessionLost: the session is over, and the watch with it.
	WatchSessionLost
	// WatchClosed: the client is closed.
	WatchClosed
	// WatchSuspended: there is no connection. Only an [Observer] is told.
	WatchSuspended
)

// WatchEvent is the one event of a watch.
type WatchEvent struct {
	Type EventType
	Path string
	Zxid int64 // of the change; -1 from servers that do not tell
	// EventID is the same in all events that one message of the server has caused, and zero in
	// events without a message.
	EventID int64
}

// Watch waits for one event of one node. Waiters for the same node and kind share one
// watch at the server, which is removed with the last of them.
type Watch struct {
	path    string
	kind    WatchKind
	kept    keptState
	missing bool  // the node was missing when the watch was set; of a kept one
	asks    uint8 // requests to set it again that are not answered; of a kept one
	fn      func(WatchEvent)

	over  atomic.Bool                  // fired or given back
	unset atomic.Pointer[func(*Watch)] // gives it back where it is set, or was

	// The lock of the table's connection guards the rest.
	mark       int64 // the EventID of the message that it was fired by; of a kept one that waits see watchTable.keptAnswered
	prev, next *Watch
}

// keptState is where a kept watch is: one that outlives its connection. The lock of the connection guards it.
type keptState int8

const (
	notKept    keptState = iota
	keptAsked            // the server has not answered the read that sets it
	keptServed           // as keptAsked, and the event is that of a persistent watch of the path
	keptAgain            // as keptAsked, and it is to be set again then
	keptSet              // at the server
	keptUnset            // it waits, and the server may not have it, or not yet
	keptFired
)

// maxAsks is how many requests to set a kept watch again are counted.
const maxAsks = 1<<8 - 1

// NewWatch returns a watch for the calls that read path. fn is called at most once, on a goroutine of
// this package that holds locks: it must only pass the event on.
func NewWatch(path string, kind WatchKind, fn func(WatchEvent)) *Watch {
	return new(Watch).Init(path, kind, fn)
}

// Init is NewWatch for a Watch that is a part of another value. w must not be in use.
func (w *Watch) Init(path string, kind WatchKind, fn func(WatchEvent)) *Watch {
	*w = Watch{path: path, kind: kind, fn: fn}
	return w
}

// InitKept is Init for a watch that outlives its connection, as those of the driver do: on the next one of the
// session it is set again, before anything else is sent, and if the node has changed meanwhile it gets the
// event of that. So it never gets WatchReset. It ends with the session. An event that comes before the answer
// to the read that sets it is not for it.
//
// It may get the event of a change that its read has shown already, if a persistent watch of the path is given back, or
// SetWatches sets one, while the connection is just beginning.
func (w *Watch) InitKept(path string, kind WatchKind, fn func(WatchEvent)) *Watch {
	w.Init(path, kind, fn)
	w.kept = keptAsked
	return w
}

// Path returns the path of the node.
func (w *Watch) Path() string { return w.path }

// About returns which changes the watch is about.
func (w *Watch) About() WatchKind { return w.kind }

// fire has the watch get its event, unless it is over.
func (w *Watch) fire(e WatchEvent) {
	if !w.over.Swap(true) {
		w.mark = e.EventID
		if w.kept != notKept {
			w.kept = keptFired
		}
		w.fn(e)
	}
}

// asked tells whether a kept watch waits for the answer to its read.
func (w *Watch) asked() bool { return keptAsked <= w.kept && w.kept <= keptAgain }

// list yields the watches of the list that begins with w, which may be nil, and takes the list apart.
func (w *Watch) list() iter.Seq[*Watch] {
	return func(yield func(*Watch) bool) {
		for w != nil {
			next := w.next
			w.prev, w.next = nil, nil
			if !yield(w) {
				return
			}
			w = next
		}
	}
}
