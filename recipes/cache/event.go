package cache

import (
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
}

// Update is a Snapshot and the changes since the previous Update.
//
// Java: none.
type Update struct {
	Snapshot Snapshot
	Events   []Event // parents before children when created, behind them when deleted
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

// since returns what has changed since another snapshot of the same cache.
func (s Snapshot) since(before Snapshot) (events []Event) {
	pathtree.Diff(before.root, s.root, compare, func(c pathtree.Change[content]) bool {
		if !s.hidden(c, before) {
			events = append(events, eventOf(c))
		}
		return true
	})
	return events
}
