package model

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/go-curator/curator/internal/layout"
)

// Summary is the maximum number of holders, and of waiters, of a Recipe in Recipes and Take.
const Summary = 20

// show returns a recipe with at most count holders and count waiters, from number from on.
func (x *index) show(r *recipe, m moment, from, count int) Recipe {
	shown := Recipe{
		Path: r.path, Kind: r.kind, Holders: []Contender{}, Waiters: []Contender{}, Problem: r.problem,
		Grants: r.grants, Granted: r.granted, Max: r.max, Most: r.most,
	}
	switch r.kind {
	case Counter, Barrier:
		x.showLeaf(&shown, m)
		return shown
	case Lock, ReadWrite, Semaphore, Election:
		x.showQueue(&shown, r, m, from, count)
		return shown
	}
	d := x.dirs[r.path]
	classes := parts(r.kind)
	shown.Holding = d.live(classes...)
	i := 0
	d.each(func(c *child) bool {
		if i >= from {
			shown.Holders = append(shown.Holders, contender(c, m))
		}
		i++
		return i < from+count
	}, classes...)
	switch r.kind {
	case DoubleBarrier:
		shown.Open = d.live(layout.ReadyNode) > 0
	case Queue:
		x.showItems(&shown, d, m)
	}
	return shown
}

// showLeaf fills in a recipe that is a single node.
func (x *index) showLeaf(shown *Recipe, m moment) {
	n := x.nodes[shown.Path]
	if n == nil {
		return
	}
	shown.Since = m.ms(n.Modified)
	if shown.Kind == Barrier {
		shown.Since = m.ms(n.Created)
	}
	if n.Facts.Number != nil {
		shown.Value = strconv.FormatInt(*n.Facts.Number, 10)
		shown.Variant = strconv.Itoa(n.Facts.Bits) + " bits"
	}
}

// fewItems is how many items are looked at to find the variant of their queue.
const fewItems = 100

func (x *index) showItems(shown *Recipe, d *dir, m moment) {
	looked := 0
	d.each(func(c *child) bool {
		if looked++; looked == 1 {
			shown.Since = m.ms(c.node.Created)
		}
		it, _ := layout.ParseItem(c.name)
		if it.Kind != layout.PlainItems {
			shown.Variant = string(it.Kind)
		}
		return it.Kind == layout.PlainItems && looked < fewItems // Java puts an item back without its time or id
	}, parts(Queue)...)
}

// showQueue fills in a recipe with holders and waiters.
func (x *index) showQueue(shown *Recipe, r *recipe, m moment, from, count int) {
	d, classes := x.queueOf(r.path, r.kind)
	waiting := d.live(classes...)
	holds := map[string]bool{}
	for i, c := range x.holders(r.path, r.kind) {
		token := tokenOf(c.node)
		holds[token] = true
		shown.Holding++
		if i < from || i >= from+count {
			continue
		}
		held := contender(c, m)
		held.Held, held.Exact = held.Since, false
		if h := r.hold(token); h != nil {
			held.Held, held.Exact = h.From, h.Exact
			held.Name = h.Name
		}
		held.Since = min(held.Since, held.Held)
		shown.Holders = append(shown.Holders, held)
	}
	if r.kind != Semaphore { // the holders of a semaphore are not among the nodes of its queue
		waiting -= shown.Holding
	}
	shown.Waiting = max(waiting, 0)
	i := 0
	d.each(func(c *child) bool {
		if holds[tokenOf(c.node)] {
			return true
		}
		if i >= from {
			shown.Waiters = append(shown.Waiters, contender(c, m))
		}
		i++
		return i < from+count
	}, classes...)
}

// contender returns a child as a Contender.
func contender(c *child, m moment) Contender {
	f := c.node.Facts
	shown := Contender{
		Node: c.node.Path, Name: f.Name, Label: f.Label, Host: f.Host, PID: f.PID, Session: SessionName(c.node.Session),
		Token: tokenOf(c.node), Role: roleOf(c.class), Since: m.ms(c.node.Created), Asked: f.Asked,
		Service: f.Service,
	}
	switch c.class {
	case layout.ItemNode:
		if it, _ := layout.ParseItem(c.name); it.Kind == layout.DelayItems {
			shown.Due = it.Due.UnixMilli()
		}
		shown.Name = c.name
	case layout.SimpleNode, layout.BarrierNode, layout.MemberNode:
		shown.Name = c.name
	case layout.ClaimNode:
		shown.Name = strings.TrimSpace(c.name + " " + f.Name)
	}
	return shown
}

// Owned is an ephemeral node of a session.
type Owned struct {
	Node   string `json:"node"`
	Recipe string `json:"recipe,omitempty"` // the path of the recipe that it belongs to
	Kind   Kind   `json:"kind"`
	Holds  bool   `json:"holds"`           // it holds a lock or the leadership
	Place  int    `json:"place,omitempty"` // its place in the queue, 1 for the first waiter
	Next   string `json:"next,omitempty"`  // the name of the next holder, if somebody waits
	Token  string `json:"token"`
	Since  int64  `json:"since"`
}

// maxOwned is the maximum number of nodes that Session returns.
const maxOwned = 1000

// Session returns the nodes that a session owns, ordered by path, a thousand at most, and their total
// number.
func (m *Model) Session(id int64) (owned []Owned, total int) {
	nodes := m.index.sessions[id]
	owned = []Owned{}
	places := places{m, map[string]map[string]int{}}
	for _, path := range slices.Sorted(maps.Keys(nodes)) {
		if len(owned) == maxOwned {
			break
		}
		owned = append(owned, places.of(nodes[path]))
	}
	return owned, len(nodes)
}

// Sessions returns the number of sessions that own nodes.
func (m *Model) Sessions() int { return len(m.index.sessions) }

// places finds the places of contenders in their queues.
type places struct {
	m    *Model
	seen map[string]map[string]int // places by the path of the recipe, and then by that of the node
}

func (p places) of(n *Node) Owned {
	o := Owned{Node: n.Path, Token: tokenOf(n), Since: p.m.moment(n.Created, true).ms(n.Created)}
	parent, _ := split(n.Path)
	if p.m.index.isPartOfSemaphore(parent) {
		parent, _ = split(parent)
	}
	r := p.m.recipes[parent]
	if r == nil {
		return o
	}
	o.Recipe, o.Kind = r.path, r.kind
	o.Holds = r.hold(o.Token) != nil
	if o.Holds {
		o.Next = p.next(r)
	} else { // 0 for a lease that waits: it is not in the queue
		o.Place = p.queue(r)[n.Path]
	}
	return o
}

// queue returns the places of the waiters by the paths of their nodes.
func (p places) queue(r *recipe) map[string]int {
	if found := p.seen[r.path]; found != nil {
		return found
	}
	found := map[string]int{}
	d, classes := p.m.index.queueOf(r.path, r.kind)
	d.each(func(c *child) bool {
		if r.hold(tokenOf(c.node)) == nil {
			found[c.node.Path] = len(found) + 1
		}
		return true
	}, classes...)
	p.seen[r.path] = found
	return found
}

// next returns the name of the first waiter, or if that is not known its node's name.
func (p places) next(r *recipe) (name string) {
	d, classes := p.m.index.queueOf(r.path, r.kind)
	d.each(func(c *child) bool {
		if r.hold(tokenOf(c.node)) != nil {
			return true
		}
		name = cmp.Or(c.node.Facts.Name, c.name)
		return false
	}, classes...)
	return name
}
