package tree

import (
	"cmp"
	"maps"
	"slices"
	"time"
)

// EndSession removes a session and its ephemeral nodes, oldest first, in one transaction.
func (st *State) EndSession(now time.Time, sess *Session) {
	tx := st.begin(now, sess.id, nil)
	paths := slices.SortedFunc(maps.Keys(sess.ephemerals), func(a, b string) int {
		return cmp.Or(cmp.Compare(st.nodes.get(a).czxid, st.nodes.get(b).czxid), cmp.Compare(a, b))
	})
	for _, path := range paths {
		tx.remove(path)
	}
	delete(st.sessions, sess.id)
	tx.commit()
}

// Reap removes the containers whose last child has gone, and the timed nodes without
// children that have not been written for their time to live: each in a transaction of
// its own. A container that never had a child stays.
func (st *State) Reap(now time.Time) {
	var ended []string
	for path, n := range st.nodes {
		if len(n.children) > 0 {
			continue
		}
		idle := now.Sub(time.UnixMilli(n.mtime))
		if n.kind == container && n.creates > 0 || n.kind == timed && idle > n.ttl {
			ended = append(ended, path)
		}
	}
	slices.Sort(ended)
	for _, path := range ended {
		tx := st.begin(now, 0, nil)
		tx.remove(path)
		tx.commit()
	}
}
