package cache

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/go-curator/curator/framework/listen"
	"github.com/go-curator/curator/internal/zkconn"
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
	return ordered(before.root, s.root, func(c *content) *zkconn.Stat { return &c.stat }, told)
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

// ListenerBuilder makes a listener of functions for single kinds of events, as Java's
// CuratorCacheListener.builder does, for ported programs. It is a value: every step returns a
// copy. Events without a function are ignored; several functions for one event are called in
// the order of the steps. A nil function does nothing.
//
//	cache.Listenable().Add(cache.NewListener().ForDeletes(forget).AfterInitialized().Build())
//
// New programs use CuratorCache.Updates, or a switch on Event.Type.
//
// Java: CuratorCacheListenerBuilder.
type ListenerBuilder struct {
	fns   []func(ctx context.Context, event Event)
	after bool
}

// NewListener returns a builder without functions.
//
// Java: CuratorCacheListener.builder.
func NewListener() ListenerBuilder { return ListenerBuilder{} }

// on returns a copy with one more function.
func (b ListenerBuilder) on(t EventType, fn func(ctx context.Context, event Event)) ListenerBuilder {
	b.fns = append(slices.Clip(b.fns), func(ctx context.Context, event Event) {
		if event.Type == t {
			fn(ctx, event)
		}
	})
	return b
}

// ForCreates calls fn for every NodeCreated.
//
// Java: forCreates.
func (b ListenerBuilder) ForCreates(fn func(ctx context.Context, node ChildData)) ListenerBuilder {
	if fn == nil {
		return b
	}
	return b.on(NodeCreated, func(ctx context.Context, e Event) { fn(ctx, e.New) })
}

// ForChanges calls fn for every NodeChanged.
//
// Java: forChanges.
func (b ListenerBuilder) ForChanges(fn func(ctx context.Context, before, node ChildData)) ListenerBuilder {
	if fn == nil {
		return b
	}
	return b.on(NodeChanged, func(ctx context.Context, e Event) { fn(ctx, e.Old, e.New) })
}

// ForDeletes calls fn for every NodeDeleted.
//
// Java: forDeletes.
func (b ListenerBuilder) ForDeletes(fn func(ctx context.Context, before ChildData)) ListenerBuilder {
	if fn == nil {
		return b
	}
	return b.on(NodeDeleted, func(ctx context.Context, e Event) { fn(ctx, e.Old) })
}

// ForInitialized calls fn for Initialized.
//
// Java: forInitialized.
func (b ListenerBuilder) ForInitialized(fn func(ctx context.Context)) ListenerBuilder {
	if fn == nil {
		return b
	}
	return b.on(Initialized, func(ctx context.Context, _ Event) { fn(ctx) })
}

// AfterInitialized drops the events that come before Initialized. A listener that is added to a
// loaded cache gets no Initialized, and so gets no events.
//
// Java: afterInitialized.
func (b ListenerBuilder) AfterInitialized() ListenerBuilder {
	b.after = true
	return b
}

// Build returns the listener. Add it to one cache only, because it stores whether Initialized
// has come.
//
// Java: build.
func (b ListenerBuilder) Build() func(ctx context.Context, event Event) {
	fns, silent := b.fns, b.after // a listener is called by one goroutine at a time
	return func(ctx context.Context, event Event) {
		silent = silent && event.Type != Initialized
		if silent {
			return
		}
		for _, fn := range fns {
			fn(ctx, event)
		}
	}
}

// lostEvents has what a listener gets instead of events for which its queue has no room: what has become of
// each node since, as Updates says it. There is at most one deletion and one creation or change for each node,
// and the last event of another kind, so its size is that of the cache and of the nodes that could not be read
// meanwhile, however many events there are.
//
// A creation stays at its place, so that parents come before their children. A node that changes again, or is
// deleted, comes where that has happened.
type lostEvents struct {
	n     int // events so far
	nodes map[string]lostNode
}

// lostNode is what has happened to one node.
type lostNode struct {
	deleted placedEvent // of the node that the listener knows
	present placedEvent // NodeCreated, or NodeChanged
	other   placedEvent // the last one of another kind
}

// placedEvent is an event with its place among all; the zero value is none.
type placedEvent struct {
	Event
	place int
}

func newLostEvents() listen.Backlog[Event] { return &lostEvents{nodes: map[string]lostNode{}} }

// Add merges an event with what has happened to its node before.
func (l *lostEvents) Add(e Event) {
	l.n++
	node := l.nodes[e.Path]
	switch e.Type {
	case NodeCreated:
		node.present = placedEvent{e, l.n}
	case NodeChanged:
		node.change(placedEvent{e, l.n})
	case NodeDeleted:
		node.delete(placedEvent{e, l.n})
	default:
		node.other = placedEvent{e, l.n}
	}
	if node.deleted.place+node.present.place+node.other.place == 0 {
		delete(l.nodes, e.Path)
		return
	}
	l.nodes[e.Path] = node
}

func (n *lostNode) change(e placedEvent) {
	switch n.present.Type {
	case NodeCreated:
		n.present.New = e.New
	case NodeChanged:
		e.Old = n.present.Old
		n.present = e
	default:
		n.present = e
	}
}

// delete forgets a node that the listener does not know.
func (n *lostNode) delete(e placedEvent) {
	switch n.present.Type {
	case NodeCreated:
	case NodeChanged:
		e.Old = n.present.Old
		n.deleted = e
	default:
		n.deleted = e
	}
	n.present = placedEvent{}
}

// Take returns what has happened, in the order of the places.
func (l *lostEvents) Take() []Event {
	var all []placedEvent
	for _, node := range l.nodes {
		for _, e := range []placedEvent{node.deleted, node.present, node.other} {
			if e.place > 0 {
				all = append(all, e)
			}
		}
	}
	slices.SortFunc(all, func(a, b placedEvent) int { return cmp.Compare(a.place, b.place) })
	events := make([]Event, len(all))
	for i, e := range all {
		events[i] = e.Event
	}
	return events
}
