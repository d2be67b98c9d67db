package check

import (
	"cmp"
	"path"
	"slices"

	"github.com/go-curator/curator/internal/chaos/history"
)

// never is the zxid of what has not happened.
const never = 1<<63 - 1

// member is a member's node in a double barrier, as the servers have committed it.
type member struct {
	path      string
	session   int64
	created   int64 // the zxid
	removed   int64 // the zxid, or never
	removedBy int64 // the session that has deleted it; 0 if it went with its own one
	round     *round
}

// round is one that was opened: by the node "ready", which counts the nodes that are older.
type round struct {
	opened  int64 // the zxid
	members []*member
}

// committedMembers returns the members' nodes of the barrier at a path, in the order of their
// creation. Each has the first round that has counted it, if there is one.
func committedMembers(events []history.Event, barrier string) (all []*member) {
	var committed []history.Event
	for _, e := range events {
		switch e.Kind {
		case history.Created, history.Deleted, history.Over:
			committed = append(committed, e)
		}
	}
	slices.SortStableFunc(committed, func(a, b history.Event) int { return cmp.Compare(a.Value, b.Value) })
	var present []*member
	remove := func(e history.Event, by int64, gone func(m *member) bool) {
		present = slices.DeleteFunc(present, func(m *member) bool {
			if gone(m) {
				m.removed, m.removedBy = e.Value, by
				return true
			}
			return false
		})
	}
	for _, e := range committed {
		switch {
		case e.Kind == history.Over:
			remove(e, 0, func(m *member) bool { return m.session == e.Session })
		case path.Dir(e.Node) != barrier:
		case path.Base(e.Node) == "ready":
			if e.Kind == history.Created {
				open(e.Value, present)
			}
		case e.Kind == history.Created:
			m := &member{path: e.Node, session: e.Session, created: e.Value, removed: never}
			all, present = append(all, m), append(present, m)
		default:
			remove(e, e.Session, func(m *member) bool { return m.path == e.Node })
		}
	}
	return all
}

// open makes a round of those who are present.
func open(zxid int64, present []*member) {
	r := &round{opened: zxid, members: slices.Clone(present)}
	for _, m := range present {
		if m.round == nil {
			m.round = r
		}
	}
}
