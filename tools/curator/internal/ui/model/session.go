package model

import (
	"cmp"
	"maps"
	"slices"
)

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
