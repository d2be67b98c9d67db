package cache

import (
	"iter"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/recipes/internal/pathtree"
)

// ChildData is a node in a cache. Its data is the cache's own, and must not be changed.
//
// Data and Stat come from one read after the last change of the node's data. Changes of its
// children and of its ACL do not update them: Pzxid, Cversion, NumChildren and Aversion are
// those of that read.
//
// Java: ChildData.
type ChildData struct {
	Path string
	Stat framework.Stat
	Data []byte // nil with WithoutData, and without data
}

// content is what a cache keeps of a node.
type content struct {
	stat jute.Stat
	data []byte
}

// compare tells how two versions of a node differ.
func compare(from, to *content) pathtree.Difference { return compareStats(&from.stat, &to.stat) }

// compareStats compares the times, too: servers that have lost their data give the same zxids again.
func compareStats(from, to *jute.Stat) pathtree.Difference {
	switch {
	case from.Czxid != to.Czxid, from.Ctime != to.Ctime:
		return pathtree.Recreated
	case from.Mzxid != to.Mzxid, from.Mtime != to.Mtime:
		return pathtree.Changed
	default:
		return pathtree.Same
	}
}

// childData returns a node for the user.
func childData(n *pathtree.Node[content]) ChildData {
	return ChildData{Path: n.Path(), Stat: userStat(&n.Value.stat), Data: n.Value.data}
}

func userStat(s *jute.Stat) framework.Stat {
	return framework.Stat{
		Czxid: s.Czxid, Mzxid: s.Mzxid, Pzxid: s.Pzxid,
		Ctime: time.UnixMilli(s.Ctime), Mtime: time.UnixMilli(s.Mtime),
		Version: s.Version, Cversion: s.Cversion, Aversion: s.Aversion,
		EphemeralOwner: s.EphemeralOwner, DataLength: s.DataLength, NumChildren: s.NumChildren,
	}
}

// Snapshot is a cache's contents at one moment. It does not change. The zero value is empty.
//
// Java: none.
type Snapshot struct {
	root    *pathtree.Node[content] // nil for none
	zxid    int64
	exact   bool
	topless bool             // the root does not belong to the contents, its children do
	unread  map[string]error // the nodes that cannot be read at present, see NodeUnreadable
}

// node returns the node at path, nil if there is none to be seen.
func (s Snapshot) node(path string) *pathtree.Node[content] {
	n := s.root.Find(path)
	if n == nil || !n.Shown() || s.topless && n == s.root {
		return nil
	}
	return n
}

// Get returns the node at path, and whether it exists. It allocates nothing and takes no lock.
func (s Snapshot) Get(path string) (ChildData, bool) {
	n := s.node(path)
	if n == nil {
		return ChildData{}, false
	}
	return childData(n), true
}

// Exists reports whether there was a node at path. It is also true for the node of
// NewPathChildrenCache, which is not in the cache itself, so it tells a node without children from no
// node.
//
// Java: TreeCache.getCurrentChildren, which returns null for no node.
func (s Snapshot) Exists(path string) bool {
	return s.node(path) != nil || s.topless && s.root != nil && path == s.root.Path()
}

// Len returns the number of nodes.
//
// Java: size.
func (s Snapshot) Len() int {
	n := s.root.Len()
	if s.topless && n > 0 {
		n--
	}
	return n
}

// All iterates over paths and nodes, every node after its parent and otherwise in the order of
// their names.
//
// Java: stream.
func (s Snapshot) All() iter.Seq2[string, ChildData] {
	return func(yield func(string, ChildData) bool) {
		for n := range s.root.All() {
			if !(s.topless && n == s.root) && !yield(n.Path(), childData(n)) {
				return
			}
		}
	}
}

// Children iterates over the names and nodes of the children of path, in the order of
// their names; there are none if it is not in the cache, see Exists. The node of
// NewPathChildrenCache has children although it is not in the cache itself.
//
// Java: getCurrentChildren.
func (s Snapshot) Children(path string) iter.Seq2[string, ChildData] {
	return func(yield func(string, ChildData) bool) {
		for n := range s.root.Find(path).Children() {
			if !yield(n.Name(), childData(n)) {
				return
			}
		}
	}
}

// Zxid returns a zxid up to which every change is in the snapshot, except those of nodes that cannot
// be read, see NodeUnreadable. It rises from snapshot to snapshot, unless the servers lose their
// data; it is zero before the cache is loaded.
func (s Snapshot) Zxid() int64 { return s.zxid }

// Exact reports whether the snapshot is the tree that the server had at Zxid, without any later
// change. It is false after WithMaxLag has passed while changes come in without a pause, while reads
// of a node fail, see NodeUnreadable, and always with servers that have no persistent watches. Nodes
// that the client may not read do not count: they are not in the cache.
func (s Snapshot) Exact() bool { return s.exact }
