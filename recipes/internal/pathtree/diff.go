package pathtree

import "strings"

// Change is a node that differs in two versions. Old is nil if it was created, and New if it was
// deleted.
type Change[V any] struct{ Old, New *Node[V] }

// Difference is how two values of one node differ.
type Difference int8

// The differences.
const (
	Same Difference = iota
	Changed
	// Recreated says that the node was deleted and created again. Diff yields two changes for it.
	Recreated
)

// Diff yields the differences of two versions of a tree, each of which may be nil. A created
// node comes before the nodes below it, a deleted node comes after them. Only shown nodes
// count. It stops when yield returns false.
func Diff[V any](from, to *Node[V], compare func(from, to *V) Difference, yield func(Change[V]) bool) {
	d := differ[V]{compare, yield}
	d.nodes(from, to)
}

type differ[V any] struct {
	compare func(from, to *V) Difference
	yield   func(Change[V]) bool
}

// nodes compares two versions of one node. It returns false to stop.
func (d *differ[V]) nodes(from, to *Node[V]) bool {
	if from == to {
		return true
	}
	was, is := from.Len() > 0, to.Len() > 0
	difference := Same
	if was && is {
		difference = d.compare(&from.Value, &to.Value)
	}
	switch {
	case was && is && difference != Recreated:
		return (difference == Same || d.yield(Change[V]{from, to})) && d.children(from, to)
	case was && !d.deleted(from):
		return false
	case is:
		return d.created(to)
	}
	return true
}

func (d *differ[V]) created(n *Node[V]) bool {
	for n := range n.All() {
		if !d.yield(Change[V]{New: n}) {
			return false
		}
	}
	return true
}

func (d *differ[V]) deleted(n *Node[V]) bool {
	for child := range n.Children() {
		if !d.deleted(child) {
			return false
		}
	}
	return d.yield(Change[V]{Old: n})
}

// children compares the children of two versions of a node. Chunks that both have are skipped.
func (d *differ[V]) children(from, to *Node[V]) bool {
	if from.children == to.children {
		return true
	}
	a, b := newCursor(from.children), newCursor(to.children)
	for {
		x, inX := a.head()
		y, inY := b.head()
		switch {
		case x == nil && y == nil && inX == nil && inY == nil:
			return true
		case inX != nil && inX == inY:
			a.skip()
			b.skip()
		case inX != nil && inY != nil:
			if inX.height >= inY.height {
				a.descend()
			}
			if inY.height >= inX.height {
				b.descend()
			}
		case inX != nil && (y == nil || order(y, inX.first()) >= 0):
			a.descend()
		case inY != nil && (x == nil || order(x, inY.first()) >= 0):
			b.descend()
		default:
			if !d.pair(&a, &b, x, y) {
				return false
			}
		}
	}
}

// pair compares the two heads, of which each is a node, or lies behind the other, and takes the
// one that comes first, or both.
func (d *differ[V]) pair(a, b *cursor[V], x, y *Node[V]) bool {
	switch c := order(x, y); {
	case y == nil || x != nil && c < 0:
		a.skip()
		return d.nodes(x, nil)
	case x == nil || c > 0:
		b.skip()
		return d.nodes(nil, y)
	default:
		a.skip()
		b.skip()
		return d.nodes(x, y)
	}
}

// order compares the names of two siblings. It is 0 if one is nil.
func order[V any](x, y *Node[V]) int {
	if x == nil || y == nil || x == y {
		return 0
	}
	return strings.Compare(x.path, y.path) // they differ in their names alone
}

// cursor goes through the chunks of a B-tree in order. Its head is a chunk, which it can skip or
// descend into, or a node.
type cursor[V any] struct{ stack []position[V] }

// position is a place in a chunk. In a leaf, next counts nodes; elsewhere it counts chunks, which
// have even numbers, and nodes.
type position[V any] struct {
	chunk *chunk[V]
	next  int
}

func newCursor[V any](c *chunk[V]) cursor[V] {
	if c == nil {
		return cursor[V]{}
	}
	return cursor[V]{[]position[V]{{c, 0}}}
}

// head returns the chunk or the node that comes next; neither at the end.
func (c *cursor[V]) head() (n *Node[V], in *chunk[V]) {
	for len(c.stack) > 0 {
		top := c.stack[len(c.stack)-1]
		switch items := top.chunk.items; {
		case top.chunk.kids == nil && top.next < len(items):
			return items[top.next], nil
		case top.chunk.kids == nil || top.next > 2*len(items):
			c.stack = c.stack[:len(c.stack)-1]
		case top.next%2 == 0:
			return nil, top.chunk.kids[top.next/2]
		default:
			return items[top.next/2], nil
		}
	}
	return nil, nil
}

// skip goes behind the head.
func (c *cursor[V]) skip() { c.stack[len(c.stack)-1].next++ }

// descend goes into the head, which is a chunk.
func (c *cursor[V]) descend() {
	_, in := c.head()
	c.skip()
	c.stack = append(c.stack, position[V]{in, 0})
}
