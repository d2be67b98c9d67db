package zkconn

import (
	"slices"
	"strings"
	"sync"

	"github.com/go-curator/curator/internal/jute"
)

// Subscription is a persistent watch: it gets every change of a node, and if it is recursive every
// change below it, until it is given back. It outlives connections and sessions: on a new connection
// it is set before all other requests, and gets WatchReset.
type Subscription struct {
	path      string
	recursive bool
	fn        func(WatchEvent)

	// subscriptions.mu guards the rest.
	known      bool // it is in the list of its path
	prev, next *Subscription
}

// NewSubscription returns a subscription for [Conn.Subscribe]. A subscription that is not recursive
// gets NodeChildrenChanged of the node. A recursive one gets the creations and deletions of nodes
// instead. fn is called like that of a [Watch]: it must only pass the event on.
func NewSubscription(path string, recursive bool, fn func(WatchEvent)) *Subscription {
	return &Subscription{path: path, recursive: recursive, fn: fn}
}

// subscriptions are those of a Conn. A server keeps one mode for a path and connection, the one that
// was asked for last, and a one-shot watch is such a mode, too. So the client asks for the mode with
// the most events, and serves everybody from it. A recursive watch has no event for changed children:
// the client derives that from the creations and deletions of the children.
//
// mu is taken after the other locks. Changes are made under the lock of the connection in use, too, so
// that they happen together with the requests that they need.
type subscriptions struct {
	mu     sync.Mutex
	byPath map[string]*Subscription // the newest of its path, the others follow
}

// add adds a subscription, unless it is there already.
func (s *subscriptions) add(sub *Subscription) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if sub.known {
		return
	}
	if s.byPath == nil {
		s.byPath = map[string]*Subscription{}
	}
	if sub.next = s.byPath[sub.path]; sub.next != nil {
		sub.next.prev = sub
	}
	s.byPath[sub.path] = sub
	sub.known = true
}

// remove reports whether there was the subscription.
func (s *subscriptions) remove(sub *Subscription) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !sub.known {
		return false
	}
	switch {
	case sub.prev != nil:
		sub.prev.next = sub.next
	case sub.next != nil:
		s.byPath[sub.path] = sub.next
	default:
		delete(s.byPath, sub.path)
	}
	if sub.next != nil {
		sub.next.prev = sub.prev
	}
	sub.known, sub.prev, sub.next = false, nil, nil
	return true
}

// list yields sub, which may be nil, and those that follow.
func (sub *Subscription) list(yield func(*Subscription) bool) {
	for ; sub != nil; sub = sub.next {
		if !yield(sub) {
			return
		}
	}
}

// paths returns how many paths are watched.
func (s *subscriptions) paths() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.byPath)
}

func (sub *Subscription) anyRecursive() bool {
	for sub := range sub.list {
		if sub.recursive {
			return true
		}
	}
	return false
}

// recursive tells whether the server was asked for the recursive kind; mu is held.
func (s *subscriptions) recursive(path string) bool {
	return s.byPath[path].anyRecursive()
}

// hasPersistentWatch tells whether the server has a persistent watch of a path. A one-shot watch must
// not be set there, because it would replace the persistent one, whose events do for both.
func (s *subscriptions) hasPersistentWatch(path string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.byPath[path] != nil
}

// fire passes an event on to the subscriptions. It returns the parent of the node if the parent's
// children have changed and the server will not say so.
func (s *subscriptions) fire(e WatchEvent) (parentChanged string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.byPath) == 0 {
		return ""
	}
	aboutChildren := e.Type == NodeChildrenChanged
	for sub := range s.byPath[e.Path].list {
		if !sub.recursive || !aboutChildren {
			sub.fn(e)
		}
	}
	if e.Path == "/" || aboutChildren {
		return ""
	}
	for path := e.Path; path != "/"; {
		path = parentOf(path)
		for sub := range s.byPath[path].list {
			if sub.recursive {
				sub.fn(e)
			}
		}
	}
	if e.Type == NodeDataChanged {
		return ""
	}
	parent := parentOf(e.Path)
	if s.recursive(parent) {
		return parent
	}
	return ""
}

func parentOf(path string) string {
	return path[:max(strings.LastIndexByte(path, '/'), 1)]
}

// tell sends all subscriptions an event, each with its own path.
func (s *subscriptions) tell(t EventType) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for path, first := range s.byPath {
		for sub := range first.list {
			sub.fn(WatchEvent{Type: t, Path: path})
		}
	}
}

// tellOf sends the subscriptions of a path an event.
func (s *subscriptions) tellOf(path string, t EventType) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for sub := range s.byPath[path].list {
		sub.fn(WatchEvent{Type: t, Path: path})
	}
}

// restoring returns the requests that set all watches again. Each is small enough for every server.
func (s *subscriptions) restoring(zxid int64) []*Call {
	const most = 128 << 10
	s.mu.Lock()
	defer s.mu.Unlock()
	var calls []*Call
	var req *jute.SetWatches2
	size := 0
	for path, first := range s.byPath {
		if req == nil || size+len(path) > most {
			size = 0
			// A server of 3.8 fails on lists that are missing instead of empty.
			req = &jute.SetWatches2{
				RelativeZxid: zxid, DataWatches: []string{}, ExistWatches: []string{}, ChildWatches: []string{},
				PersistentWatches: []string{}, PersistentRecursiveWatches: []string{},
			}
			calls = append(calls, &Call{Op: jute.OpSetWatches2, Req: req})
		}
		size += 4 + len(path)
		if first.anyRecursive() {
			req.PersistentRecursiveWatches = append(req.PersistentRecursiveWatches, path)
		} else {
			req.PersistentWatches = append(req.PersistentWatches, path)
		}
	}
	return calls
}

// adjusting returns the request that makes the server's watch of a path what is needed now.
func (s *subscriptions) adjusting(path string) *Call {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.byPath[path] == nil {
		return &Call{Op: jute.OpRemoveWatches, Req: &jute.WatchesRequest{Path: path, Type: jute.WatcherAny}}
	}
	mode := jute.ModePersistent
	if s.recursive(path) {
		mode = jute.ModePersistentRecursive
	}
	return &Call{Op: jute.OpAddWatch, Req: &jute.AddWatchRequest{Path: path, Mode: mode}}
}

// conflicts tells whether a persistent watch is on the path of one of the watches of SetWatches.
func (s *subscriptions) conflicts(call *Call) bool {
	has := func(watch *Watch) bool { return s.hasPersistentWatch(watch.path) }
	return slices.ContainsFunc(call.present, has) || slices.ContainsFunc(call.missing, has)
}
