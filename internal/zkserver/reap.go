package zkserver

import (
	"slices"
	"time"
)

// reap removes the containers whose last child has gone, and the timed nodes without
// children that have not been written for their time to live: each in a transaction of
// its own. A container that never had a child stays.
func (st *store) reap(now time.Time) {
	var ended []string
	for path, n := range st.tree {
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
		parent, _ := parentOf(path)
		tx := st.begin(0, nil)
		tx.detach(path, st.tree.get(parent), st.tree.get(path))
		tx.commit()
	}
}
