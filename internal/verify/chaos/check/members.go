package check

import (
	"cmp"
	"path"
	"slices"

	"github.com/go-curator/curator/internal/layout"
	"github.com/go-curator/curator/internal/verify/chaos/history"
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
	removed int64 // the zxid of the deletion of "ready", or never
	members []*member
}

// over returns the zxid from which on nobody may come to the round any more: "ready" is gone, or all
// whom it had counted are, and it is left of a round that died.
func (r *round) over() int64 {
	gone := int64(0)
	for _, m := range r.members {
		gone = max(gone, m.removed)
	}
	return min(r.removed, gone)
}

// committedRounds returns the members' nodes of the barrier at a path, by their paths, and its rounds.
// Each node has the first round that has counted it, if there is one.
func committedRounds(events []history.Event, barrier string) (all map[string]*member, rounds []*round) {
	var committed []history.Event
	for _, e := range events {
		switch e.Kind {
		case history.Created, history.Deleted, history.Over:
			committed = append(committed, e)
		}
	}
	slices.SortStableFunc(committed, func(a, b history.Event) int { return cmp.Compare(a.Value, b.Value) })
	all = map[string]*member{}
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
		case path.Base(e.Node) == layout.ReadyName:
			if e.Kind == history.Created {
				rounds = append(rounds, open(e.Value, present))
			} else if len(rounds) > 0 {
				rounds[len(rounds)-1].removed = e.Value
			}
		case e.Kind == history.Created:
			m := &member{path: e.Node, session: e.Session, created: e.Value, removed: never}
			all[m.path], present = m, append(present, m)
		default:
			remove(e, e.Session, func(m *member) bool { return m.path == e.Node })
		}
	}
	return all, rounds
}

// open makes a round of those who are present.
func open(zxid int64, present []*member) *round {
	r := &round{opened: zxid, removed: never, members: slices.Clone(present)}
	for _, m := range present {
		if m.round == nil {
			m.round = r
		}
	}
	return r
}
