package cache

import (
	"maps"
	"slices"

	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/recipes/internal/pathtree"
)

// EventType is the kind of an Event.
//
// Java: CuratorCacheListener.Type.
type EventType int

// The kinds of events. A node that was deleted and created again gives two events.
const (
	// NodeCreated says that New is in the cache. Java: NODE_CREATED, CHILD_ADDED, NODE_ADDED.
	NodeCreated EventType = iota + 1
	// NodeChanged says that New has replaced Old. Java: NODE_CHANGED, CHILD_UPDATED,
	// NODE_UPDATED.
	NodeChanged
	// NodeDeleted says that Old has left the cache. Java: NODE_DELETED, CHILD_REMOVED,
	// NODE_REMOVED.
	NodeDeleted
	// Initialized says that all nodes of the first load were reported. Listeners get it once.
	// Java: initialized, INITIALIZED.
	Initialized
	// NodeUnreadable says that the server goes on refusing reads of the node at Path, such as with
	// framework.ErrTooLarge, five times or for 30 s. Reads that are lost with a connection do not
	// count. Old, which the cache has of it, stays in the cache and may be out of date; it is zero if
	// the cache has nothing. What is wrong is in Err. The cache follows all other nodes, but no
	// Snapshot is Exact until NodeReadable. It tries the node again after each change, and every
	// 30 s. Java: none.
	NodeUnreadable
	// NodeReadable says that the node at Path can be read again, does not exist any more, or may not
	// be read, so that the cache leaves it out. What it is now is in New, and in events of its own if
	// it has changed or gone. Java: none.
	NodeReadable
)

// String returns Java's name, such as NODE_CREATED.
func (t EventType) String() string {
	switch t {
	case NodeCreated:
		return "NODE_CREATED"
	case NodeChanged:
		return "NODE_CHANGED"
	case NodeDeleted:
		return "NODE_DELETED"
	case Initialized:
		return "INITIALIZED"
	case NodeUnreadable:
		return "NODE_UNREADABLE"
	case NodeReadable:
		return "NODE_READABLE"
	default:
		return "UNKNOWN"
	}
}

// Event is one change of a cache.
//
// Java: the arguments of CuratorCacheListener.event.
type Event struct {
	Type EventType
	Path string    // "" for Initialized
	Old  ChildData // zero for NodeCreated
	New  ChildData // zero for NodeDeleted
	Err  error     // why reads fail, of NodeUnreadable; nil else
}

// Update is a Snapshot and the changes since the previous Update.
//
// Java: none.
type Update struct {
	Snapshot Snapshot
	Events   []Event // in the order of events, see CuratorCache.Listenable
}

// eventOf returns what is told of a change.
func eventOf(c pathtree.Change[content]) Event {
	switch {
	case c.Old == nil:
		return Event{Type: NodeCreated, Path: c.New.Path(), New: childData(c.New)}
	case c.New == nil:
		return Event{Type: NodeDeleted, Path: c.Old.Path(), Old: childData(c.Old)}
	default:
		return Event{Type: NodeChanged, Path: c.New.Path(), Old: childData(c.Old), New: childData(c.New)}
	}
}

// hidden tells whether a change is one of a root that does not belong to the contents.
func (s Snapshot) hidden(c pathtree.Change[content], before Snapshot) bool {
	return s.topless && (c.New != nil && c.New == s.root || c.Old != nil && c.Old == before.root)
}

// ordered returns what has changed in the tree since another snapshot of the same cache. told has the
// deletions that events have told since then.
func (s Snapshot) ordered(before Snapshot, told deletions) []placed[content] {
	return ordered(before.root, s.root, func(c *content) *jute.Stat { return &c.stat }, told)
}

// since returns what is told of the changes since another snapshot of the same cache.
func (s Snapshot) since(before Snapshot, told deletions) []Event {
	events := s.readableSince(before)
	for _, c := range s.ordered(before, told) {
		if !s.hidden(c.Change, before) {
			events = append(events, eventOf(c.Change))
		}
	}
	return append(events, s.unreadableSince(before)...)
}

// readableSince returns the nodes that could not be read before and can be read now.
func (s Snapshot) readableSince(before Snapshot) (events []Event) {
	for _, path := range slices.Sorted(maps.Keys(before.unread)) {
		if _, still := s.unread[path]; !still {
			node, _ := s.Get(path)
			events = append(events, Event{Type: NodeReadable, Path: path, New: node})
		}
	}
	return events
}

// unreadableSince returns the nodes that could be read before and cannot be read now.
func (s Snapshot) unreadableSince(before Snapshot) (events []Event) {
	for _, path := range slices.Sorted(maps.Keys(s.unread)) {
		if _, already := before.unread[path]; !already {
			node, _ := s.Get(path)
			events = append(events, Event{Type: NodeUnreadable, Path: path, Old: node, Err: s.unread[path]})
		}
	}
	return events
}
