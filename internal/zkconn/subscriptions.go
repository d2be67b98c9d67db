package zkconn

import (
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/go-curator/curator/internal/jute"
)

// Subscription is a persistent watch: it hears of every change of a node, and if it is
// recursive of everything below, until it is given back. It outlives connections and
// sessions: it is put back ahead of all other requests, and told WatchReset.
type Subscription struct {
	path      string
	recursive bool
	fn        func(WatchEvent)
}

// NewSubscription returns a subscription for [Conn.Subscribe]. One that is not recursive
// hears of the node's children, too, one that is hears of created and deleted nodes
// instead. fn is called as that of a [Watch] is: it must only pass the event on.
func NewSubscription(path string, recursive bool, fn func(WatchEvent)) *Subscription {
	return &Subscription{path, recursive, fn}
}

// subscriptions are those of a Conn. A server keeps one mode for a path and connection, the
// last one asked for, and a one-shot watch is such a mode, too. So it is asked for the one
// that hears of the most, and who wants less is served from that: with a recursive watch,
// which says nothing of changed children, they are concluded from what happens to these.
//
// mu is taken behind the others, and what is changed is changed under the lock of the connection in use, too:
// a request and what is known of the server's watches change together.
type subscriptions struct {
	mu     sync.Mutex
	byPath map[string]map[*Subscription]struct{}
}

// add reports whether the subscription is new.
func (s *subscriptions) add(sub *Subscription) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	subs := s.byPath[sub.path]
	if subs == nil {
		subs = map[*Subscription]struct{}{}
		if s.byPath == nil {
			s.byPath = map[string]map[*Subscription]struct{}{}
		}
		s.byPath[sub.path] = subs
	}
	_, known := subs[sub]
	subs[sub] = struct{}{}
	return !known
}

// remove reports whether there was the subscription.
func (s *subscriptions) remove(sub *Subscription) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	subs := s.byPath[sub.path]
	_, known := subs[sub]
	delete(subs, sub)
	if len(subs) == 0 {
		delete(s.byPath, sub.path)
	}
	return known
}

// paths returns how many paths are watched.
func (s *subscriptions) paths() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.byPath)
}

// recursive tells whether the server was asked for the recursive kind; mu is held.
func (s *subscriptions) recursive(path string) bool {
	for sub := range s.byPath[path] {
		if sub.recursive {
			return true
		}
	}
	return false
}

// hasPersistentWatch tells whether the server's persistent watch of a path does for a one-shot
// watch, too. That would be harmful then: it would take the place of the persistent one.
func (s *subscriptions) hasPersistentWatch(path string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.byPath[path]) > 0
}

// fire tells subscriptions of an event. It returns the parent of the node if its children
// have changed and the server does not say so.
func (s *subscriptions) fire(e WatchEvent) (parentChanged string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.byPath) == 0 {
		return ""
	}
	aboutChildren := e.Type == NodeChildrenChanged
	for sub := range s.byPath[e.Path] {
		if !sub.recursive || !aboutChildren {
			sub.fn(e)
		}
	}
	if e.Path == "/" || aboutChildren {
		return ""
	}
	for path := e.Path; path != "/"; {
		path = parentOf(path)
		for sub := range s.byPath[path] {
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

// tell tells all subscriptions, each with its own path.
func (s *subscriptions) tell(t EventType) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for path, subs := range s.byPath {
		for sub := range subs {
			sub.fn(WatchEvent{Type: t, Path: path})
		}
	}
}

// restoring returns the requests that put all watches back, each below a size that every
// server takes.
func (s *subscriptions) restoring(zxid int64) []*Call {
	const most = 128 << 10
	s.mu.Lock()
	defer s.mu.Unlock()
	var calls []*Call
	var req *jute.SetWatches2
	size := 0
	for _, path := range slices.Sorted(maps.Keys(s.byPath)) {
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
		if s.recursive(path) {
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
	if len(s.byPath[path]) == 0 {
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
