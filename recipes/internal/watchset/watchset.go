// Package watchset waits until one of several one-shot watches fires.
//
// Recipes wait for more than one node at a time: a lock watches its own node and nodes ahead
// of it, a barrier watches "ready" and its first member, a semaphore watches its leases and
// its mutex. A [Set] holds these watches and wakes one goroutine when any of them fires.
// Watches that are still needed after the goroutine has read the nodes again are kept.
// [Set.Close] gives back every remaining watch.
package watchset

import (
	"iter"
	"slices"
	"sync"

	"github.com/go-curator/curator/internal/wait"
	"github.com/go-curator/curator/internal/zkconn"
)

// Kind is what a watch is about.
type Kind int8

// The kinds.
const (
	Data     Kind = iota // the data or the deletion of a node that should exist
	Exists               // the creation of a node that should not exist
	Children             // the children of a node
)

// Want is one watch to be set. Tag is the caller's: it says why the node is watched.
type Want struct {
	Path string
	Kind Kind
	Tag  int8
}

// Watch is one watch of a Set, or one that was taken out of a Set.
type Watch struct {
	zkconn.Watch
	Want
	set *Set

	mu    sync.Mutex
	event zkconn.EventType        // 0 until it has fired
	owner func(zkconn.WatchEvent) // gets the event; nil while the watch belongs to the set
}

// Set has the watches of one wait. One goroutine uses it. The watches fire on other goroutines.
type Set struct {
	wake    wait.Signal
	watches []*Watch
}

// New returns an empty set.
func New() *Set { return &Set{wake: wait.NewSignal()} }

// C receives a value after a watch has fired, and after Wake.
func (s *Set) C() <-chan struct{} { return s.wake }

// Wake wakes the goroutine that waits on C.
func (s *Set) Wake() { s.wake.Set() }

// Backward yields the watches in the reverse order of their Wants.
func (s *Set) Backward() iter.Seq[*Watch] {
	return func(yield func(*Watch) bool) {
		for _, w := range slices.Backward(s.watches) {
			if !yield(w) {
				return
			}
		}
	}
}

// AnyFired reports whether a watch has fired.
func (s *Set) AnyFired() bool {
	return slices.ContainsFunc(s.watches, func(w *Watch) bool { return w.Fired() != 0 })
}

// OnlyReset reports whether the set is empty, or all of its watches ended with their
// connection.
func (s *Set) OnlyReset() bool {
	return !slices.ContainsFunc(s.watches, func(w *Watch) bool { return w.Fired() != zkconn.WatchReset })
}

// ArmTogether returns one request that sets all watches. None of them may be set yet. A watch
// whose node has changed since the transaction seen fires before the reply. Call Forget when
// the request fails.
func (s *Set) ArmTogether(wants []Want, seen int64) *zkconn.Call {
	room := make([]Watch, len(wants)) // one allocation for all
	s.watches = make([]*Watch, len(wants))
	var present, missing []*zkconn.Watch
	for i, want := range wants {
		w := s.init(&room[i], want)
		s.watches[i] = w
		if want.Kind == Exists {
			missing = append(missing, &w.Watch)
		} else {
			present = append(present, &w.Watch)
		}
	}
	return zkconn.SetWatches(seen, present, missing)
}

// Forget drops watches that were never set.
func (s *Set) Forget() { s.watches = nil }

// Read is a read that sets a watch.
type Read struct {
	*Watch
	Call *zkconn.Call
}

// ArmByReading makes wants the watches of the set. It returns the reads that set the missing
// watches, in the order of wants, and the watches that are no longer needed. Call Keep for each
// read that has an answer.
func (s *Set) ArmByReading(wants []Want) (reads []Read, idle []*Watch) {
	idle = s.watches
	s.watches = make([]*Watch, 0, len(wants))
	for _, want := range wants {
		i := slices.IndexFunc(idle, func(w *Watch) bool { return w.Want == want && w.Fired() == 0 })
		if i >= 0 {
			s.watches = append(s.watches, idle[i])
			idle = slices.Delete(idle, i, i+1)
			continue
		}
		w := s.init(new(Watch), want)
		s.watches = append(s.watches, w)
		reads = append(reads, Read{w, ReadCall(want, &w.Watch)})
	}
	return reads, idle
}

// Keep drops the watch of a read that did not set it.
func (s *Set) Keep(r Read, set bool) {
	if !set {
		s.watches = slices.DeleteFunc(s.watches, func(w *Watch) bool { return w == r.Watch })
	}
}

// Take removes the first watch with the tag from the set. It returns nil if there is none.
func (s *Set) Take(tag int8) *Watch {
	i := slices.IndexFunc(s.watches, func(w *Watch) bool { return w.Tag == tag })
	if i < 0 {
		return nil
	}
	w := s.watches[i]
	s.watches = slices.Delete(s.watches, i, i+1)
	return w
}

// Close empties the set and gives its watches back, except those for which leave returns
// true.
func (s *Set) Close(conn *zkconn.Conn, leave func(w *Watch) bool) {
	for _, w := range s.watches {
		if leave == nil || !leave(w) {
			conn.Unwatch(&w.Watch)
		}
	}
	s.watches = nil
}

func (s *Set) init(w *Watch, want Want) *Watch {
	w.set = s
	return w.init(want)
}

func (w *Watch) init(want Want) *Watch {
	w.Want = want
	kind := zkconn.WatchData
	if want.Kind == Children {
		kind = zkconn.WatchChildren
	}
	w.Init(want.Path, kind, w.fire)
	return w
}

// NewOwned returns a watch outside any set. owner gets its event.
func NewOwned(want Want, owner func(zkconn.WatchEvent)) *Watch {
	return (&Watch{owner: owner}).init(want)
}

// HandTo gives the watch to owner. If the watch has fired already, owner gets the event
// immediately and HandTo returns true.
func (w *Watch) HandTo(owner func(zkconn.WatchEvent)) (fired bool) {
	w.mu.Lock()
	w.owner = owner
	event := w.event
	w.mu.Unlock()
	if event != 0 {
		owner(zkconn.WatchEvent{Type: event, Path: w.Want.Path})
	}
	return event != 0
}

// Fired returns the type of the watch's event, 0 before it has fired.
func (w *Watch) Fired() zkconn.EventType {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.event
}

// fire runs with locks of the session layer held, so it only passes the event on.
func (w *Watch) fire(e zkconn.WatchEvent) {
	w.mu.Lock()
	w.event = e.Type
	owner := w.owner
	w.mu.Unlock()
	if owner != nil {
		owner(e)
	} else {
		w.set.Wake()
	}
}

// ReadCall returns the read of a node that sets watch. A nil watch is not set.
func ReadCall(want Want, watch *zkconn.Watch) *zkconn.Call {
	switch want.Kind {
	case Exists:
		return zkconn.Exists(want.Path, watch)
	case Children:
		return zkconn.List(want.Path, watch)
	}
	return zkconn.GetData(want.Path, watch)
}
