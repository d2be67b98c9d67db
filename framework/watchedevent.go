package framework

// WatchedEvent is one event of a watch.
type WatchedEvent struct {
	Type EventType
	Path string // relative to the namespace of the view that set the watch; that of GetConfig's is always /zookeeper/config
	Zxid int64  // of the change, zero when the server does not tell
}

// EventType is the kind of a WatchedEvent.
type EventType int

// The events of a watch.
const (
	// NodeCreated says that the node was created.
	NodeCreated EventType = iota + 1
	// NodeDeleted says that the node was deleted.
	NodeDeleted
	// NodeDataChanged says that the node's data was set.
	NodeDataChanged
	// NodeChildrenChanged says that a child was created or deleted.
	NodeChildrenChanged
	// WatchReset comes after a reconnect, because changes may have been missed, and when a function
	// was so slow that events of this watch were dropped: see Watcher. Read the node again. Path is
	// that of the watch, also if the watch is recursive.
	WatchReset
	// DataWatchRemoved says that the watch of CheckExists, GetData or GetConfig was removed, by
	// Watches().Remove or RemoveWatchers. It gets no more events. The node has not changed.
	DataWatchRemoved
	// ChildWatchRemoved says the same of a watch of GetChildren.
	ChildWatchRemoved
	// PersistentWatchRemoved says the same of a watch of Watches().Add.
	PersistentWatchRemoved
)

// IsRemoval reports whether the event is about the watch and not about the node:
// DataWatchRemoved, ChildWatchRemoved or PersistentWatchRemoved. A function that sets its watch
// again after every event must check this first, or it undoes the removal.
//
// Java has no counterpart.
func (t EventType) IsRemoval() bool { return t >= DataWatchRemoved && t <= PersistentWatchRemoved }
