package cache_test

import (
	"cmp"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/recipes/cache"
)

// history is what a writer has done, transaction by transaction. Each sets a node outside the
// cache, too, which tells its zxid.
type history struct {
	f      *fixture
	marker string

	mu    sync.Mutex
	now   map[string]nodeThen
	done  []transaction
	count int
}

// nodeThen is a node as it was at some time.
type nodeThen struct {
	data         string
	czxid, mzxid int64
}

// transaction has what it has set, and with nil what it has deleted.
type transaction struct {
	zxid    int64
	changes map[string]*nodeThen
}

func newHistory(f *fixture) *history {
	return &history{f: f, marker: f.other, now: map[string]nodeThen{}}
}

// random returns a path in a small tree.
func (h *history) random(r *rand.Rand) string {
	path := h.f.root
	for depth := range 3 {
		if r.IntN(4) == 0 && (depth > 0 || r.IntN(5) == 0) {
			break
		}
		path = fmt.Sprintf("%s/%d", path, r.IntN(5))
	}
	return path
}

// step makes a random transaction of a few changes. It returns its zxid, 0 if there was nothing to
// do.
func (h *history) step(r *rand.Rand) int64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	op := h.f.writer.TransactionOp()
	next := maps.Clone(h.now)
	var ops []framework.Op
	touched := map[string]*nodeThen{}
	for range 1 + r.IntN(4) {
		path := h.random(r)
		h.count++
		data := fmt.Sprint(h.count)
		node, there := next[path]
		_, parent := next[path[:strings.LastIndexByte(path, '/')]]
		hasChildren := slices.ContainsFunc(slices.Collect(maps.Keys(next)), func(p string) bool { return strings.HasPrefix(p, path+"/") })
		switch {
		case !there && (parent || path == h.f.root):
			ops = append(ops, op.Create().WithData([]byte(data)).ForPath(path))
			node = nodeThen{data: data}
		case there && !hasChildren && r.IntN(3) > 0:
			ops = append(ops, op.Delete().ForPath(path))
			delete(next, path)
			touched[path] = nil
			if r.IntN(2) == 0 {
				continue
			}
			ops = append(ops, op.Create().WithData([]byte(data)).ForPath(path)) // the same version, another node
			node = nodeThen{data: data}
		case there:
			ops = append(ops, op.SetData().ForPath(path, []byte(data)))
			node.data, node.mzxid = data, 0
		default:
			continue
		}
		next[path] = node
		touched[path] = &node
	}
	if len(ops) == 0 {
		return 0
	}
	ops = append(ops, op.SetData().ForPath(h.marker, nil))
	results, err := h.f.writer.Transaction().ForOperations(h.f.Context(), ops...)
	if err != nil {
		h.f.Error(err)
		return 0
	}
	t := transaction{results[len(results)-1].Stat.Mzxid, touched}
	for path, node := range touched {
		if node == nil {
			continue
		}
		node.mzxid = cmp.Or(node.mzxid, t.zxid)
		node.czxid = cmp.Or(node.czxid, t.zxid)
		next[path] = *node
	}
	h.now = next
	h.done = append(h.done, t)
	return t.zxid
}

// last returns the zxid of the last transaction.
func (h *history) last() int64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.done[len(h.done)-1].zxid
}

// replay compares snapshots with the tree that there was at their zxids. Snapshots come in order.
type replay struct {
	h       *history
	next    int // transaction
	tree    map[string]nodeThen
	checked int
	zxid    int64
}

func (h *history) replay() *replay { return &replay{h: h, tree: map[string]nodeThen{}} }

// check compares an exact snapshot; one that is not exact it compares with nothing.
func (p *replay) check(s cache.Snapshot, wants func(path string) bool) {
	p.h.f.Helper()
	if s.Zxid() < p.zxid {
		p.h.f.Errorf("a snapshot of zxid %d behind one of %d", s.Zxid(), p.zxid)
	}
	p.zxid = s.Zxid()
	if !s.Exact() {
		return
	}
	p.checked++
	for ; p.next < len(p.h.done) && p.h.done[p.next].zxid <= s.Zxid(); p.next++ {
		for path, node := range p.h.done[p.next].changes {
			if node == nil {
				delete(p.tree, path)
			} else {
				p.tree[path] = *node
			}
		}
	}
	compareTree(p.h.f, fmt.Sprintf("exact at zxid %d", s.Zxid()), maps.Collect(s.All()), p.tree, wants)
}

// compareTree compares contents with those nodes of a tree that are wanted.
func compareTree(f *fixture, what string, got map[string]cache.ChildData, tree map[string]nodeThen, wants func(path string) bool) {
	f.Helper()
	n := 0
	for path, want := range tree {
		if !wants(path) {
			continue
		}
		n++
		if node, ok := got[path]; !ok || string(node.Data) != want.data || node.Stat.Czxid != want.czxid || node.Stat.Mzxid != want.mzxid {
			f.Errorf("%s: %s is %q (%d, %d) in the cache and %+v at the server", what, path, node.Data, node.Stat.Czxid, node.Stat.Mzxid, want)
		}
	}
	if len(got) != n {
		f.Errorf("%s: %d nodes in the cache, %d at the server", what, len(got), n)
	}
}
