package cache

import (
	"cmp"
	"iter"
	"slices"
	"strings"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/zkclient"
	"github.com/go-curator/curator/internal/zkconn"
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
	stat zkconn.Stat
	data []byte
}

// compare tells how two versions of a node differ.
func compare(from, to *content) pathtree.Difference { return compareStats(&from.stat, &to.stat) }

// compareStats compares the times, too: servers that have lost their data give the same zxids again.
func compareStats(from, to *zkconn.Stat) pathtree.Difference {
	switch {
	case from.Czxid != to.Czxid, from.Ctime != to.Ctime:
		return pathtree.Recreated
	case from.Mzxid != to.Mzxid, from.Mtime != to.Mtime:
		return pathtree.Changed
	default:
		return pathtree.Same
	}
}

// childrenChanged tells whether children of a node may have come or gone. Up to the zxid base they are known.
func childrenChanged(was, is *zkconn.Stat, base int64) bool {
	return is.Pzxid > base || is.Pzxid < was.Pzxid || is.Cversion < was.Cversion
}

// childData returns a node for the user.
func childData(n *pathtree.Node[content]) ChildData {
	return ChildData{Path: n.Path(), Stat: zkclient.UserStat[framework.Stat](&n.Value.stat), Data: n.Value.data}
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

// moment is when a change was made, as far as the cache knows. The zero value is that of a deletion
// which is only seen by the absence of the node: it comes first.
type moment struct {
	zxid  int64
	phase phase
	event int // of the phase behind: deletions come in the order of their events
}

// phase orders the changes with one zxid.
type phase int8

const (
	deleting phase = iota // a node may be created again in the transaction that deletes it
	changing
	behind // a deletion whose zxid the server does not tell: it has come behind the change with that zxid
)

func (m moment) compare(other moment) int {
	return cmp.Or(cmp.Compare(m.zxid, other.zxid), cmp.Compare(m.phase, other.phase), cmp.Compare(m.event, other.event))
}

func earliest(a, b moment) moment {
	if b.compare(a) < 0 {
		return b
	}
	return a
}

func latest(a, b moment) moment {
	if b.compare(a) > 0 {
		return b
	}
	return a
}

// deletion is the deletion of a node that an event has told.
type deletion struct {
	czxid int64 // of the node
	at    moment
}

// deletions are by path.
type deletions map[string]deletion

// placed is a change with its moment.
type placed[V any] struct {
	pathtree.Change[V]
	at moment
}

// ordered returns what differs between two versions in the order in which it was done, as far as that
// is known from zxids and from the events of deletions. Parents are created before their children
// and deleted behind them.
func ordered[V any](from, to *pathtree.Node[V], stat func(*V) *zkconn.Stat, told deletions) []placed[V] {
	var all []placed[V]
	differs := func(a, b *V) pathtree.Difference { return compareStats(stat(a), stat(b)) }
	deleted := false
	var above ancestors
	pathtree.Diff(from, to, differs, func(c pathtree.Change[V]) bool {
		p := placed[V]{Change: c}
		switch {
		case c.New == nil:
			deleted = true
		case c.Old == nil:
			p.at = moment{zxid: stat(&c.New.Value).Czxid, phase: changing}
			if parent, ok := above.parent(c.New.Path()); ok {
				p.at = latest(p.at, parent)
			}
			above.add(c.New.Path(), p.at)
		default:
			p.at = moment{zxid: stat(&c.New.Value).Mzxid, phase: changing}
		}
		all = append(all, p)
		return true
	})
	if deleted {
		placeDeletions(all, to, stat, told)
	}
	slices.SortStableFunc(all, func(a, b placed[V]) int { return a.at.compare(b.at) })
	return all
}

// placeDeletions sets the moments of deletions.
func placeDeletions[V any](all []placed[V], to *pathtree.Node[V], stat func(*V) *zkconn.Stat, told deletions) {
	var above ancestors
	unshown := map[string]bool{} // they exist, but led to a node that has gone
	for i := len(all) - 1; i >= 0; i-- {
		if all[i].New != nil {
			continue
		}
		path, czxid := all[i].Old.Path(), stat(&all[i].Old.Value).Czxid
		now := to.Find(path)
		if now != nil && stat(&now.Value).Czxid == czxid {
			unshown[path] = true
			continue
		}
		var at moment
		if d := told[path]; d.czxid == czxid {
			at = d.at
		}
		if now != nil {
			at = earliest(at, moment{zxid: stat(&now.Value).Czxid, phase: deleting})
		}
		if parent, ok := above.parent(path); ok {
			at = earliest(at, parent)
		}
		above.add(path, at)
		all[i].at = at
	}
	if len(unshown) == 0 {
		return
	}
	children := map[string]moment{} // the last moment of a child
	for i := range all {
		if all[i].New != nil {
			continue
		}
		path := all[i].Old.Path()
		if unshown[path] {
			all[i].at = children[path]
		}
		parent := parentOf(path)
		children[parent] = latest(children[parent], all[i].at)
	}
}

// ancestors are the nodes on the way to one, while nodes are visited that come before those below
// them.
type ancestors []struct {
	path string
	at   moment
}

// parent returns the moment of the parent of a node, if the parent is among those visited.
func (a *ancestors) parent(path string) (at moment, ok bool) {
	parent := parentOf(path)
	for len(*a) > 0 {
		last := len(*a) - 1
		if n := (*a)[last]; n.path == parent {
			return n.at, true
		}
		*a = (*a)[:last] // the nodes below it were visited
	}
	return moment{}, false
}

func (a *ancestors) add(path string, at moment) {
	*a = append(*a, struct {
		path string
		at   moment
	}{path, at})
}

// stream is what the events since the last version tell of the order of changes.
type stream struct {
	events  int            // how many there were of nodes
	told    deletions      // since the last version
	unknown []undated      // of these, in the order of their events
	early   map[string]int // the last events of nodes whose parents were not known, by path
}

// undated is a deletion whose event has no zxid, as before ZooKeeper 3.9.
type undated struct {
	path  string
	event int
	zxid  int64 // of a change whose event has come before it
}

// ignored takes note of an event of a node whose parent is not known, but may be found by a read that
// is under way.
func (s *stream) ignored(path string) {
	if s.early == nil {
		s.early = map[string]int{}
	}
	s.early[path] = s.events
}

// deletedAt takes note of the deletion of a node that is in the tree. last is the zxid of the last reply.
func (s *stream) deletedAt(path string, czxid, zxid, last int64) {
	if _, again := s.told[path]; again {
		return // the node that was shown is the one before
	}
	if s.told == nil {
		s.told = deletions{}
	}
	if zxid > 0 {
		s.told[path] = deletion{czxid, moment{zxid: zxid, phase: deleting}}
		return
	}
	s.told[path] = deletion{czxid, moment{zxid: last, phase: behind, event: s.events}}
	s.unknown = append(s.unknown, undated{path, s.events, last})
}

// changedAt takes note of a change with that zxid. event is the one that has told it, 0 for none that
// the cache has acted on: deletions that were told later were made later.
func (s *stream) changedAt(path string, event int, zxid int64) {
	if event = max(event, s.early[path]); event == 0 {
		return
	}
	i, _ := slices.BinarySearchFunc(s.unknown, event, func(u undated, event int) int { return cmp.Compare(u.event, event) })
	if i < len(s.unknown) {
		s.unknown[i].zxid = max(s.unknown[i].zxid, zxid)
	}
}

// take returns the deletions since the last call.
func (s *stream) take() deletions {
	var zxid int64
	for _, u := range s.unknown {
		zxid = max(zxid, u.zxid)
		d := s.told[u.path]
		d.at.zxid = zxid
		s.told[u.path] = d
	}
	told := s.told
	s.told, s.unknown, s.early = nil, nil, nil
	return told
}

// parentOf returns the path of the parent of a node that is not the root of the server.
func parentOf(path string) string { return path[:max(strings.LastIndexByte(path, '/'), 1)] }
