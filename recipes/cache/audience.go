package cache

import (
	"sync"

	"github.com/go-curator/curator/recipes/internal/pathtree"
)

// audience are those who are told of versions of the contents.
type audience struct {
	mu    sync.Mutex
	views []view // that are told of every version
	fixed bool   // no view may be added
	loops map[*loop]struct{}
}

// view is told of every version of the contents, by one goroutine.
type view interface {
	// change gets one change. hidden says that the node does not belong to the contents.
	change(c pathtree.Change[content], data []byte, hidden bool)
	// show makes the changes since the last call visible.
	show()
	// reset forgets all changes. Nothing was shown yet.
	reset()
}

// loop is a loop over updates, which has seen a version.
type loop struct {
	before Snapshot
	told   deletions // since then, of nodes of that version
}

// note takes note of the deletions in a new version: the first one of a node.
func (l *loop) note(told deletions) {
	for path, d := range told {
		if n := l.before.root.Find(path); n == nil || n.Value.stat.Czxid != d.czxid {
			continue
		}
		if l.told == nil {
			l.told = deletions{}
		}
		l.told[path] = d
	}
}

// enter adds a loop, which leave ends.
func (a *audience) enter() (l *loop, leave func()) {
	l = &loop{}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.loops == nil {
		a.loops = map[*loop]struct{}{}
	}
	a.loops[l] = struct{}{}
	return l, func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		delete(a.loops, l)
	}
}
