package model

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

// Owned is a node that ends with its session.
type Owned struct {
	Node   string `json:"node"`
	Recipe string `json:"recipe,omitempty"` // the path of what it is a part of
	Kind   Kind   `json:"kind"`
	Holds  bool   `json:"holds"`           // a lock or an election
	Place  int    `json:"place,omitempty"` // in the queue, 1 is the first waiter
	Next   string `json:"next,omitempty"`  // who gets it then, if somebody is known to wait
	Token  string `json:"token"`
	Since  int64  `json:"since"`
}

// maxOwned is how many nodes of a session are told.
const maxOwned = 1000

// Session returns the nodes that a session owns by path, a thousand at most, and how many there are.
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

// places finds contenders in their queues.
type places struct {
	m    *Model
	seen map[string]map[string]int // by the path of the recipe, then by node
}

func (p places) of(n *Node) Owned {
	o := Owned{Node: n.Path, Token: tokenOf(n), Since: p.m.moment(n.Created, true).ms(n.Created)}
	parent, name := split(n.Path)
	if grandparent, _ := split(parent); p.m.index.isSemaphore(grandparent) && (strings.HasSuffix(parent, "/"+leasesName) || strings.HasSuffix(parent, "/"+locksName)) {
		parent = grandparent
	}
	r := p.m.recipes[parent]
	if r == nil {
		return o
	}
	o.Recipe, o.Kind = r.path, r.kind
	o.Holds = r.hold(o.Token) != nil
	if o.Holds {
		o.Next = p.next(r)
	} else if class, _ := classify(name, n); class != leaseNode {
		o.Place = p.queue(r)[n.Path]
	}
	return o
}

// queue returns the places of those who wait.
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

// next returns the name of the first one who waits, or the node's.
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
