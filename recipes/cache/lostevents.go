package cache

import (
	"cmp"
	"slices"

	"github.com/go-curator/curator/framework/listen"
)

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
