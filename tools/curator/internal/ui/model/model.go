// Package model turns the nodes of a tree into recipes: which node is a lock, an election or a
// queue, who holds it, who waits in which order, and who held it before. It has no I/O and no
// clock: its caller passes changes with the times at which they were seen. The same changes
// give the same contents. A Model is for one goroutine at a time.
//
// Recipes are recognised by the names of their nodes, as Curator writes them, and if names are
// not enough by the data. docs/ui.md lists what cannot be known. In addition:
//
//   - A LeaderSelector has the nodes of a mutex. It counts as an election if its nodes have an
//     id. A DistributedBarrier is a plain node: it is recognised only if its name, or its
//     parent's, has the word barrier. A counter is a node with four or eight bytes that are no
//     text.
//   - An InterProcessSemaphore has the nodes of a mutex. All holders but the first are shown as
//     waiters.
//   - A client that takes a lease of an InterProcessSemaphoreV2 is a waiter until its lease is granted,
//     although the lease has a node already.
//   - The maximum of a semaphore is known only to its users. It is inferred while somebody waits.
//   - The server does not record when a waiter became a holder. The model uses the time at
//     which the change was seen.
//   - A contender that was first in the queue and is gone at the next change counts as a former
//     holder, although it may have given up.
package model

import (
	"cmp"
	"maps"
	"slices"
	"time"
)

// historyLength is the number of ended holds that History returns at most.
const historyLength = 100

// Model has the recipes of a tree.
type Model struct {
	index   *index
	recipes map[string]*recipe
	history []Hold // ended holds, the oldest first
	holds   int    // the number of ended holds
	changed map[string]bool
	waiting map[string]bool // semaphores whose maximum may be inferred soon
	skew    time.Duration   // how far this machine's clock is ahead of the server's
	skewed  bool            // skew was measured
}

// New returns a Model of an empty tree.
func New() *Model {
	return &Model{index: newIndex(), recipes: map[string]*recipe{}, changed: map[string]bool{}, waiting: map[string]bool{}}
}

// step is the state of one Apply.
type step struct {
	moment
	fresh map[*Node]bool // nodes that were created in this step
}

// Apply applies changes that were seen at the time now. live is false for the first contents of the
// tree, and for changes during a loss of the connection: the model then does not know since when
// somebody holds a lock.
func (m *Model) Apply(now time.Time, live bool, changes []Change) {
	s := &step{fresh: map[*Node]bool{}}
	var deleted []*Node
	touched := map[string]bool{}
	for _, c := range changes {
		if c.Deleted {
			deleted = append(deleted, c.Node)
			continue
		}
		old := m.index.nodes[c.Node.Path]
		if created := old == nil || old.Czxid != c.Node.Czxid; created {
			s.fresh[c.Node] = true
			if live {
				m.measure(now, c.Node)
			}
		} else if c.Node.Facts.Asked { // the request has replaced the data of the node
			n := *c.Node
			n.Facts = old.Facts
			n.Facts.Asked = true
			c.Node = &n
		}
		m.index.put(c.Node)
		mark(touched, c.Node.Path)
	}
	s.moment = m.moment(now, live)
	m.delete(s, deleted, touched)
	for path := range touched {
		m.refresh(s, path)
	}
}

// mark adds the paths of the recipes that a node may belong to: its own, its parent's, and for a
// semaphore that of its parent's parent.
func mark(touched map[string]bool, path string) {
	for range 3 {
		touched[path] = true
		if path, _ = split(path); path == "" {
			return
		}
	}
}

// delete removes nodes, those of one queue in their order. So when several contenders held a lock one
// after the other and are all gone, each of them gets its hold in the history.
func (m *Model) delete(s *step, nodes []*Node, touched map[string]bool) {
	type leaving struct {
		node          *Node
		parent, order string
	}
	list := make([]leaving, 0, len(nodes))
	for _, n := range nodes {
		parent, name := split(n.Path)
		_, order := classify(name, n)
		list = append(list, leaving{n, parent, order})
	}
	slices.SortStableFunc(list, func(a, b leaving) int {
		return cmp.Or(cmp.Compare(a.parent, b.parent), cmp.Compare(a.order, b.order))
	})
	for _, l := range list {
		if now := m.index.nodes[l.node.Path]; now == nil || now.Czxid != l.node.Czxid {
			continue // the path has another node now
		}
		m.index.remove(l.node)
		mark(touched, l.node.Path)
		if r := m.recipes[l.parent]; r != nil && s.seen && r.hold(tokenOf(l.node)) != nil {
			m.refresh(s, l.parent)
		}
	}
}

// moment returns the moment of changes that were seen at the time now.
func (m *Model) moment(now time.Time, live bool) moment {
	const trifle = 2 * time.Second // the measured skew contains the delay of the change on its way
	skew := m.skew
	if skew.Abs() < trifle {
		skew = 0
	}
	return moment{now, live, skew}
}

// measure measures the skew with a node that was just created.
func (m *Model) measure(now time.Time, n *Node) {
	if d := now.Sub(n.Created); !m.skewed || d < m.skew {
		m.skew, m.skewed = d, true
	}
}

// Skew returns how far this machine's clock is ahead of the server's, 0 if that is below two seconds
// or not known.
func (m *Model) Skew() time.Duration { return m.moment(time.Time{}, true).skew }

// refresh updates the recipe at a path.
func (m *Model) refresh(s *step, path string) {
	r := m.recipes[path]
	before := None
	if r != nil {
		before = r.kind
	}
	kind, problem := m.index.kindOf(path, before)
	if kind != before {
		if r != nil {
			m.end(r.settle(nil, s.moment, nil))
			delete(m.recipes, path)
		}
		if r = nil; kind != None {
			r = &recipe{path: path, kind: kind}
			m.recipes[path] = r
		}
		m.changed[path] = true
	}
	if r == nil {
		return
	}
	r.problem = problem
	m.changed[path] = true
	m.end(r.settle(m.index.holders(path, kind), s.moment, func(n *Node) bool { return s.fresh[n] }))
	if kind == Semaphore {
		m.observe(r, s.now)
	}
}

func (m *Model) observe(r *recipe, now time.Time) {
	was := r.max
	if r.observe(m.index.semaphore(r.path).Undecided != nil, now) {
		m.waiting[r.path] = true
	} else {
		delete(m.waiting, r.path)
	}
	if r.max != was {
		m.changed[r.path] = true
	}
}

// end adds holds to the history.
func (m *Model) end(list []*Hold) {
	for _, h := range list {
		m.holds++
		h.Number = m.holds
		m.history = append(m.history, *h)
	}
	if n := len(m.history); n > 2*historyLength {
		m.history = slices.Clone(m.history[n-historyLength:])
	}
}

// Tick updates the values that are inferred when time passes: the maximums of semaphores.
func (m *Model) Tick(now time.Time) {
	for path := range m.waiting {
		if r := m.recipes[path]; r != nil && r.kind == Semaphore {
			m.observe(r, now)
		} else {
			delete(m.waiting, path)
		}
	}
}

// Delta has the changes of recipes.
type Delta struct {
	Recipes []Recipe // new and changed recipes, ordered by path
	Gone    []string // paths of recipes that exist no more
}

// Take returns the changes since its last call.
func (m *Model) Take() Delta {
	d := Delta{Recipes: []Recipe{}, Gone: []string{}}
	for _, path := range slices.Sorted(maps.Keys(m.changed)) {
		if r := m.recipes[path]; r != nil {
			d.Recipes = append(d.Recipes, m.show(r))
		} else {
			d.Gone = append(d.Gone, path)
		}
	}
	clear(m.changed)
	return d
}

func (m *Model) show(r *recipe) Recipe {
	return m.index.show(r, m.moment(time.Time{}, true), 0, Summary)
}

// Recipes returns all recipes, ordered by path.
func (m *Model) Recipes() []Recipe {
	all := make([]Recipe, 0, len(m.recipes))
	for _, path := range slices.Sorted(maps.Keys(m.recipes)) {
		all = append(all, m.show(m.recipes[path]))
	}
	return all
}

// Recipe returns the recipe at a path, with at most count holders and count waiters, from number from
// on.
func (m *Model) Recipe(path string, from, count int) (Recipe, bool) {
	r := m.recipes[path]
	if r == nil {
		return Recipe{}, false
	}
	return m.index.show(r, m.moment(time.Time{}, true), from, count), true
}

// History returns the last ended holds with numbers above after, the oldest first.
func (m *Model) History(after int) []Hold {
	list := m.history[max(0, len(m.history)-historyLength):]
	i, _ := slices.BinarySearchFunc(list, after+1, func(h Hold, n int) int { return cmp.Compare(h.Number, n) })
	return append([]Hold{}, list[i:]...) // not nil, so that it is not null in JSON
}

// Node returns the node at a path, and whether there is one.
func (m *Model) Node(path string) (*Node, bool) {
	n := m.index.nodes[path]
	return n, n != nil
}

// Len returns the number of nodes.
func (m *Model) Len() int { return len(m.index.nodes) }
