package model

import "slices"

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
	var found []Kind
	add := func(kind Kind, list ...class) {
		if d.live(list...) > 0 {
			found = append(found, kind)
		}
	}
	if d.ids*2 > d.counts[lockNode] {
		add(Election, lockNode)
	} else {
		add(Lock, lockNode)
	}
	add(ReadWrite, readNode, writeNode)
	add(Election, latchNode)
	add(Queue, itemNode, simpleItem)
	add(Claims, claimNode)
	switch {
	case d.live(kazooNode) > 0:
		return Unclear, "It has nodes of a lock of kazoo. Curator's locks ignore these, so the two do not exclude each other."
	case len(found) > 1:
		return Unclear, "It has nodes of different kinds of recipes, which do not exclude each other."
	case len(found) == 1:
		return found[0], ""
	}
	return membersKind(d, before), ""
}

// membersKind returns the kind of a node whose children are neither contenders nor items.
func membersKind(d *dir, before Kind) Kind {
	uuids, members := d.live(uuidNode), d.live(memberNode)
	switch {
	case d.live(instanceNode) > 0:
		return Services
	case d.live(readyNode) > 0 && members == 0 || uuids > 0 && members == 0:
		return DoubleBarrier
	case members+uuids > 0:
		return Group
	case isFree(before):
		return before
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

// Names of the nodes of a semaphore.
const (
	leasesName = "leases"
	locksName  = "locks"
)

func (x *index) isPartOfSemaphore(path string) bool {
	parent, name := split(path)
	return (name == leasesName || name == locksName) && x.isSemaphore(parent)
}

// isSemaphore reports whether the node at path is a semaphore in Java's layout, and not another node
// with children of these names.
func (x *index) isSemaphore(path string) bool {
	d := x.dirs[path]
	if path == "/" || d == nil || d.children[leasesName] == nil {
		return false
	}
	leases, locks := x.dirs[join(path, leasesName)], x.dirs[join(path, locksName)]
	switch {
	case leases != nil:
		return leases.live(leaseNode) > 0
	case locks != nil:
		return locks.live(lockNode) > 0
	}
	return d.children[locksName] != nil
}

// holders returns the nodes of the holders of the lock at path.
func (x *index) holders(path string, kind Kind) (found []*child) {
	d := x.dirs[path]
	first := func(list ...class) {
		d.each(func(c *child) bool { found = append(found, c); return false }, list...)
	}
	switch kind {
	case Lock:
		first(lockNode)
	case Election:
		first(lockNode, latchNode)
	case ReadWrite:
		return readWriteHolders(d)
	case Semaphore:
		waits := x.waitingLease(path)
		x.dirs[join(path, leasesName)].each(func(c *child) bool {
			if c != waits {
				found = append(found, c)
			}
			return true
		}, leaseNode)
	}
	return found
}

// readWriteHolders returns the writer that is first, or the readers before the first writer. A reader
// with the same number as a writer was downgraded from it.
func readWriteHolders(d *dir) (found []*child) {
	writer := ""
	d.each(func(c *child) bool {
		switch {
		case writer != "" && c.order != writer:
			return false
		case c.class == readNode:
			found = append(found, c)
			return true
		}
		ahead := slices.ContainsFunc(found, func(other *child) bool { return other.order != c.order })
		if writer == "" && !ahead {
			found = append(found, c)
		}
		writer = c.order
		return true
	}, readNode, writeNode)
	return found
}

// waitingLease returns the lease that waits until another is returned, or nil. Its owner is the holder
// of the semaphore's lock: the first node below locks.
func (x *index) waitingLease(path string) (last *child) {
	var first *child
	x.dirs[join(path, locksName)].each(func(c *child) bool { first = c; return false }, lockNode)
	if first == nil {
		return nil
	}
	x.dirs[join(path, leasesName)].each(func(c *child) bool { last = c; return true }, leaseNode)
	if last == nil || last.node.Session != first.node.Session || last.node.Czxid < first.node.Czxid {
		return nil
	}
	return last
}

// queueOf returns the node whose children wait for the lock at path, and the classes of contenders.
func (x *index) queueOf(path string, kind Kind) (*dir, []class) {
	switch kind {
	case Lock:
		return x.dirs[path], []class{lockNode}
	case Election:
		return x.dirs[path], []class{lockNode, latchNode}
	case ReadWrite:
		return x.dirs[path], []class{readNode, writeNode}
	case Semaphore:
		return x.dirs[join(path, locksName)], []class{lockNode}
	}
	return nil, nil
}

// parts returns the classes of children that a recipe without waiters consists of.
func parts(kind Kind) []class {
	switch kind {
	case Queue:
		return []class{itemNode, simpleItem}
	case Claims:
		return []class{claimNode}
	case DoubleBarrier:
		return []class{uuidNode}
	case Group:
		return []class{memberNode, uuidNode}
	case Services:
		return []class{instanceNode}
	}
	return nil
}
