package pathtree

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// value is a generation, which a node that is made again does not share, and a number.
type value struct{ generation, number int }

func compare(from, to *value) Difference {
	switch {
	case from.generation != to.generation:
		return Recreated
	case from.number != to.number:
		return Changed
	default:
		return Same
	}
}

// model is a tree as a map.
type model map[string]entry

type entry struct {
	value
	accepted bool
}

// shown returns the nodes that are shown.
func (m model) shown() map[string]value {
	shown := map[string]value{}
	for path, e := range m {
		if !e.accepted {
			continue
		}
		for above := path; m[above] != (entry{}); above = parent(above) {
			shown[above] = m[above].value
			if above == "/r" {
				break
			}
		}
	}
	return shown
}

func parent(path string) string { return path[:max(strings.LastIndexByte(path, '/'), 1)] }

func (m model) delete(path string) {
	maps.DeleteFunc(m, func(p string, _ entry) bool { return p == path || strings.HasPrefix(p, path+"/") })
}

// random returns the path of a node that is there, or of one that could be.
func (m model) random(r *rand.Rand) string {
	path := "/r"
	for _, wide := range []int{300, 3, 3} {
		if r.IntN(3) == 0 {
			break
		}
		path = fmt.Sprintf("%s/%d", path, r.IntN(wide))
	}
	return path
}

// step changes the tree and the model in the same way.
func change(t *testing.T, r *rand.Rand, tree *Tree[value], m model, n int) {
	t.Helper()
	path := m.random(r)
	if path == "/r" && r.IntN(50) > 0 && len(m) > 0 {
		return
	}
	before, there := m[path]
	if r.IntN(3) == 0 {
		if deleted := tree.Delete(path); (deleted != nil) != there || there && deleted.Value != before.value {
			t.Fatalf("Delete(%q) returned %v", path, deleted)
		}
		m.delete(path)
		return
	}
	e := entry{value{before.generation, n}, r.IntN(4) > 0}
	if !there {
		e.generation = n
	}
	_, parentThere := m[parent(path)]
	put := path == "/r" || parentThere
	if put {
		m[path] = e
	}
	if tree.Put(path, e.value, e.accepted) != put {
		t.Fatalf("Put(%q) returned %t", path, !put)
	}
}

// equal compares a version with what is to be shown in it.
func equal(t *testing.T, root *Node[value], want map[string]value) {
	t.Helper()
	var paths []string
	for n := range root.All() {
		paths = append(paths, n.Path())
		if v, ok := want[n.Path()]; !ok || v != n.Value || root.Find(n.Path()) != n {
			t.Fatalf("%s is %v, want %v", n.Path(), n.Value, v)
		}
	}
	if len(paths) != len(want) || root.Len() != len(want) {
		t.Fatalf("%d nodes, Len %d, want %d", len(paths), root.Len(), len(want))
	}
	order := func(a, b string) int { return slices.Compare(strings.Split(a, "/"), strings.Split(b, "/")) }
	if !slices.IsSortedFunc(paths, order) {
		t.Fatal("not in order")
	}
}

// Trees under random changes equal a map. Versions do not change any more, and what differs
// between any two of them makes a map of the one into one of the other.
func TestRandom(t *testing.T) {
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 1))
		tree, m := New[value]("/r"), model{}
		type version struct {
			root *Node[value]
			want map[string]value
		}
		var versions []version
		for n := range 3000 {
			change(t, r, tree, m, n+1)
			if r.IntN(100) == 0 {
				versions = append(versions, version{tree.Publish(), m.shown()})
			}
		}
		for i, v := range versions {
			equal(t, v.root, v.want)
			other := versions[r.IntN(i+1)]
			applied(t, v.root, other.root, v.want, other.want)
			applied(t, other.root, v.root, other.want, v.want)
		}
	}
}

// applied applies what differs between two versions to a map.
func applied(t *testing.T, from, to *Node[value], have, want map[string]value) {
	t.Helper()
	got := maps.Clone(have)
	Diff(from, to, compare, func(c Change[value]) bool {
		path := ""
		if c.Old != nil {
			path = c.Old.Path()
			if v, ok := got[path]; !ok || v != c.Old.Value {
				t.Fatalf("%s is %v in the map and %v in the change", path, v, c.Old.Value)
			}
		}
		switch {
		case c.New == nil:
			delete(got, path)
			for p := range got {
				if strings.HasPrefix(p, path+"/") {
					t.Fatalf("%s is deleted ahead of %s", path, p)
				}
			}
			return true
		case c.Old == nil:
			path = c.New.Path()
			if _, ok := got[path]; ok {
				t.Fatalf("%s is created and was there", path)
			}
			if _, ok := got[parent(path)]; !ok && path != "/r" {
				t.Fatalf("%s is created ahead of its parent", path)
			}
		case c.Old.Value.generation != c.New.Value.generation || c.Old.Value == c.New.Value:
			t.Fatalf("%s has changed from %v to %v", path, c.Old.Value, c.New.Value)
		}
		got[path] = c.New.Value
		return true
	})
	if !maps.Equal(got, want) {
		t.Fatal("the changes do not lead from one version to the other")
	}
}

// Diff stops when it is told to.
func TestDiffStops(t *testing.T) {
	tree := New[value]("/")
	for _, path := range []string{"/", "/a", "/a/b", "/c"} {
		tree.Put(path, value{}, true)
	}
	for want := range 4 {
		for _, versions := range [][2]*Node[value]{{nil, tree.Root()}, {tree.Root(), nil}} {
			got := 0
			Diff(versions[0], versions[1], compare, func(Change[value]) bool { got++; return got <= want })
			if got != want+1 {
				t.Errorf("%d changes, want %d", got, want+1)
			}
		}
	}
}

// Paths at the edge of a tree.
func TestFind(t *testing.T) {
	for _, top := range []string{"/", "/r", "/r/s"} {
		tree := New[value](top)
		if tree.Put(strings.TrimSuffix(top, "/")+"/a", value{}, true) || tree.Get(top) != nil || tree.Delete(top) != nil {
			t.Errorf("%s: an empty tree has nodes", top)
		}
		tree.Put(top, value{}, true)
		child := strings.TrimSuffix(top, "/") + "/a"
		if !tree.Put(child, value{number: 1}, true) || tree.Put(child+"/b/c", value{}, true) {
			t.Errorf("%s: a child is refused, or an orphan is not", top)
		}
		if n := tree.Get(child); n == nil || n.Name() != "a" || tree.Get(top).Len() != 2 {
			t.Errorf("%s: the child is not found", top)
		}
		for _, path := range []string{"", "x", "/x", "/rr", "/r/ss", child + "/", child + "/b", child + "a"} {
			if tree.Get(path) != nil {
				t.Errorf("%s: there is a node at %q", top, path)
			}
		}
		var none *Node[value]
		if none.Find(top) != nil || none.Len() != 0 || len(slices.Collect(none.All())) != 0 || len(slices.Collect(none.Children())) != 0 {
			t.Error("no version at all has nodes")
		}
	}
}

// wide returns a tree whose root has n children.
func wide(n int) *Tree[value] {
	tree := New[value]("/r")
	tree.Put("/r", value{}, true)
	for i := range n {
		tree.Put(fmt.Sprintf("/r/%07d", i), value{}, true)
	}
	return tree
}

// A change of a node with very many children, a version of it and the difference cost few
// allocations and little memory, and so does a node.
func TestCost(t *testing.T) {
	const n = 70_000
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	tree := wide(n)
	runtime.GC()
	runtime.ReadMemStats(&after)
	if each := (after.HeapAlloc - before.HeapAlloc) / n; each > 100 {
		t.Errorf("%d bytes for each child with its path, 16 of which are its value and 16 its path", each)
	}
	last := tree.Publish()
	changes := 0
	runtime.ReadMemStats(&before)
	allocations := testing.AllocsPerRun(1000, func() {
		changes++
		tree.Put("/r/0035000", value{number: changes}, true)
		version := tree.Publish()
		told := 0
		Diff(last, version, compare, func(Change[value]) bool { told++; return true })
		if told != 1 {
			t.Fatalf("%d changes", told)
		}
		last = version
	})
	runtime.ReadMemStats(&after)
	if each := (after.TotalAlloc - before.TotalAlloc) / 1001; allocations > 30 || each > 5000 {
		t.Errorf("%v allocations and %d bytes for a change", allocations, each)
	}
	if allocations := testing.AllocsPerRun(1000, func() { last.Find("/r/0035000") }); allocations > 0 {
		t.Errorf("%v allocations for Find", allocations)
	}
	runtime.KeepAlive(tree)
}

func BenchmarkFind(b *testing.B) {
	root := wide(100_000).Publish()
	paths := make([]string, 1<<10)
	for i := range paths {
		paths[i] = fmt.Sprintf("/r/%07d", rand.IntN(100_000))
	}
	for i := 0; b.Loop(); i++ {
		if root.Find(paths[i%len(paths)]) == nil {
			b.Fatal("not found")
		}
	}
}

func BenchmarkChange(b *testing.B) {
	tree := wide(100_000)
	last := tree.Publish()
	for i := 0; b.Loop(); i++ {
		tree.Put(fmt.Sprintf("/r/%07d", i%100_000), value{number: i + 1}, true)
		version := tree.Publish()
		Diff(last, version, compare, func(Change[value]) bool { return true })
		last = version
	}
}
