package model

import (
	"slices"
	"strings"

	"github.com/go-curator/curator/internal/layout"
)

// kindOf returns the kind of recipe at path, and for Unclear the reason. before is the former kind: a
// lock without contenders is still a lock.
func (x *index) kindOf(path string, before Kind) (kind Kind, problem string) {
	node, d := x.nodes[path], x.dirs[path]
	switch {
	case path == "/" || path == "/zookeeper" || x.isPartOfSemaphore(path):
		return None, ""
	case x.isSemaphore(path):
		return Semaphore, ""
	case d == nil || len(d.children) == 0:
		return leafKind(node, before), ""
	}
	count := d.count()
	kinds := count.Kinds()
	switch {
	case slices.Contains(kinds, layout.KindKazoo):
		return Unclear, "It has nodes of a lock of kazoo. Curator's locks ignore these, so the two do not exclude each other."
	case len(kinds) > 1 || count.MixesLocks():
		return Unclear, "It has nodes of different kinds of recipes, which do not exclude each other."
	case len(kinds) == 1:
		return d.kindNamed(kinds[0]), ""
	case d.live(instanceNode) == 0 && isFree(before):
		return before, ""
	}
	return d.kindNamed(""), ""
}

// kindNamed returns the kind of a node whose children's names belong to a kind, or to none.
func (d *dir) kindNamed(kind string) Kind {
	switch {
	case kind == layout.KindLatch, kind == layout.KindMutex && d.ids*2 > d.counts[layout.LockNode]:
		return Election
	case kind == layout.KindMutex:
		return Lock
	case kind == layout.KindReadWrite:
		return ReadWrite
	case kind == layout.KindQueue:
		return Queue
	case kind == layout.KindClaims:
		return Claims
	case d.live(instanceNode) > 0: // its name may be any text
		return Services
	case kind == layout.KindDoubleBarrier:
		return DoubleBarrier
	case kind == layout.KindGroup:
		return Group
	}
	return None
}

// leafKind returns the kind of a node without children.
func leafKind(node *Node, before Kind) Kind {
	switch {
	case node == nil:
		return None
	case isFree(before):
		return before
	case node.Session != 0:
		return None
	case node.Facts.Number != nil:
		return Counter
	case isBarrier(node.Path):
		return Barrier
	}
	return None
}

// isFree reports whether a recipe of a kind remains one when it has no children.
func isFree(kind Kind) bool {
	return slices.Contains([]Kind{Lock, ReadWrite, Semaphore, Election, Queue, Claims, DoubleBarrier, Group, Services}, kind)
}

// isPartOfSemaphore reports whether the children of the node at path belong to a semaphore.
func (x *index) isPartOfSemaphore(path string) bool {
	parent, name := split(path)
	return (name == layout.LeasesDir || name == layout.LocksDir) && x.isSemaphore(parent)
}

// isSemaphore reports whether the node at path is a semaphore in Java's layout.
func (x *index) isSemaphore(path string) bool {
	if d := x.dirs[path]; d == nil || d.counts[layout.LeasesNode] == 0 || path == "/" {
		return false
	}
	return layout.IsSemaphoreV2(x.dirs[path].count(), x.leases(path).count(), x.dirs[join(path, layout.LocksDir)].count())
}

// leases returns the parent of a semaphore's leases, nil if there are none.
func (x *index) leases(path string) *dir { return x.dirs[join(path, layout.LeasesDir)] }

// semaphore returns the leases of the semaphore at path, and the first waiter.
func (x *index) semaphore(path string) layout.SemaphoreV2 {
	var leases, first []layout.Owned
	owned := func(c *child) layout.Owned {
		return layout.Owned{Name: c.name, Session: c.node.Session, Czxid: c.node.Czxid}
	}
	if d := x.leases(path); d != nil {
		for _, c := range d.children {
			leases = append(leases, owned(c))
		}
	}
	d, classes := x.queueOf(path, Semaphore)
	d.each(func(c *child) bool { first = append(first, owned(c)); return false }, classes...)
	return layout.ReadSemaphoreV2(leases, first)
}

// holders returns the nodes of the holders of the lock at path.
func (x *index) holders(path string, kind Kind) (found []*child) {
	if kind == Semaphore {
		for _, o := range x.semaphore(path).Holders {
			found = append(found, x.leases(path).children[o.Name])
		}
		return found
	}
	rules := layout.KindMutex // those of an election are the same
	if kind == ReadWrite {
		rules = layout.KindReadWrite
	}
	turn := layout.NewTurn(rules, 1)
	d, classes := x.queueOf(path, kind)
	d.each(func(c *child) bool {
		holds, more := turn.Next(c.name)
		if holds {
			found = append(found, c)
		}
		return more
	}, classes...)
	return found
}

// queueOf returns the node whose children wait for the lock at path, and the classes of contenders.
func (x *index) queueOf(path string, kind Kind) (*dir, []layout.Class) {
	switch kind {
	case Lock:
		return x.dirs[path], []layout.Class{layout.LockNode}
	case Election:
		return x.dirs[path], []layout.Class{layout.LockNode, layout.LatchNode}
	case ReadWrite:
		return x.dirs[path], []layout.Class{layout.ReadNode, layout.WriteNode}
	case Semaphore:
		return x.dirs[join(path, layout.LocksDir)], []layout.Class{layout.LockNode}
	}
	return nil, nil
}

// parts returns the classes of children that a recipe without waiters consists of.
func parts(kind Kind) []layout.Class {
	switch kind {
	case Queue:
		return []layout.Class{layout.ItemNode, layout.SimpleNode}
	case Claims:
		return []layout.Class{layout.ClaimNode}
	case DoubleBarrier:
		return []layout.Class{layout.BarrierNode}
	case Group:
		return []layout.Class{layout.MemberNode, layout.BarrierNode}
	case Services:
		return []layout.Class{instanceNode}
	}
	return nil
}

// isBarrier reports whether the name of a node, or that of its parent, says that it is a barrier.
func isBarrier(path string) bool {
	parts := strings.Split(strings.ToLower(path), "/")
	if len(parts) < 2 {
		return false
	}
	return strings.Contains(parts[len(parts)-1], "barrier") || strings.Contains(parts[len(parts)-2], "barrier")
}

// Kind is the kind of a recipe. The values are part of the page's JSON.
type Kind string

// The kinds of recipes. Unclear is a node with children of several kinds, or of a kind that Curator
// does not have.
const (
	None          Kind = ""
	Lock          Kind = "lock"
	ReadWrite     Kind = "read-write"
	Semaphore     Kind = "semaphore"
	Election      Kind = "election"
	Queue         Kind = "queue"
	Claims        Kind = "claims"
	Barrier       Kind = "barrier"
	DoubleBarrier Kind = "double-barrier"
	Group         Kind = "group"
	Services      Kind = "service"
	Counter       Kind = "counter"
	Unclear       Kind = "unclear"
)

// Recipe is the present state of a recipe. Times are in ms since 1970, by this machine's clock.
type Recipe struct {
	Path    string      `json:"path"`
	Kind    Kind        `json:"kind"`
	Variant string      `json:"variant,omitempty"` // the kind of queue, or the bits of a counter
	Holders []Contender `json:"holders"`           // a part of the holders, members, instances or items
	Waiters []Contender `json:"waiters"`           // a part of the waiters, in order
	Holding int         `json:"holding"`           // the number of all holders, members, instances or items
	Waiting int         `json:"waiting"`           // the number of all waiters
	// Max is the number of a semaphore's leases, if it could be inferred, otherwise 0. Most is the
	// greatest number of holders that was seen.
	Max  int `json:"max,omitempty"`
	Most int `json:"most,omitempty"`
	// Value is the number of a counter.
	Value string `json:"value,omitempty"`
	// Open says whether a double barrier is open.
	Open bool `json:"open,omitempty"`
	// Since is when a barrier was set, a counter was changed, or the first item was added.
	Since int64 `json:"since,omitempty"`
	// Grants is the number of grants that were seen, and Granted the time of the last one.
	Grants  int    `json:"grants"`
	Granted int64  `json:"granted,omitempty"`
	Problem string `json:"problem,omitempty"`
}

// Contender is a holder or a waiter of a lock, and in other recipes a member, an instance or an
// item.
type Contender struct {
	Node    string `json:"node"`
	Name    string `json:"name"` // "" if not known
	Label   string `json:"label,omitempty"`
	Host    string `json:"host,omitempty"`
	PID     int    `json:"pid,omitempty"`
	Session string `json:"session"` // hexadecimal, "" for none
	Token   string `json:"token"`   // the fencing token, decimal: it does not fit a JavaScript number
	Role    string `json:"role,omitempty"`
	Since   int64  `json:"since"` // when its node was created
	// Held is since when it holds the lock, 0 for a waiter. Exact is false if it was a holder when
	// it was first seen: it may then have got the lock later than Held.
	Held    int64    `json:"held,omitempty"`
	Exact   bool     `json:"exact,omitempty"`
	Asked   bool     `json:"asked,omitempty"` // it was asked to release the lock
	Due     int64    `json:"due,omitempty"`   // when an item is due
	Service *Service `json:"service,omitempty"`
}

// Hold is one hold of a lock, from its grant to its end.
type Hold struct {
	Number  int    `json:"number"` // of ended holds, from 1 on
	Path    string `json:"path"`
	Kind    Kind   `json:"kind"`
	Name    string `json:"name"`
	Session string `json:"session"`
	Token   string `json:"token"`
	Role    string `json:"role,omitempty"`
	Since   int64  `json:"since"` // when the holder began to wait
	From    int64  `json:"from"`  // when the holder got the lock
	Exact   bool   `json:"exact"` // the grant was seen
	Until   int64  `json:"until"`
	// Next is the name of the next holder. Next and NextToken are "" if nobody waited.
	Next      string `json:"next"`
	NextToken string `json:"nextToken"`
}
