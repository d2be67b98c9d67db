package pathtree

import (
	"slices"
	"sort"
)

const (
	// maxItems is how many nodes a chunk holds. Changing one copies its chunk and those above.
	maxItems = 63
	minItems = maxItems / 2
)

// chunk is one node of the B-tree that holds the children of a Node.
type chunk[V any] struct {
	items  []*Node[V]
	kids   []*chunk[V] // one more than items; nil in a leaf
	epoch  uint64      // in which it was made: it may be changed in place until that ends
	height uint8       // 0 for a leaf
}

// search returns where a name is, or would be, among the items. from is where names begin in the
// paths of the items.
func (c *chunk[V]) search(name string, from int) (i int, found bool) {
	i = sort.Search(len(c.items), func(i int) bool { return c.items[i].path[from:] >= name })
	return i, i < len(c.items) && c.items[i].path[from:] == name
}

// find returns the node of a name, nil if there is none.
func (c *chunk[V]) find(name string, from int) *Node[V] {
	for c != nil {
		i, found := c.search(name, from)
		if found {
			return c.items[i]
		}
		if c.kids == nil {
			return nil
		}
		c = c.kids[i]
	}
	return nil
}

// each calls yield for all nodes in order, until it returns false.
func (c *chunk[V]) each(yield func(n *Node[V]) bool) bool {
	if c == nil {
		return true
	}
	for i, n := range c.items {
		if c.kids != nil && !c.kids[i].each(yield) || !yield(n) {
			return false
		}
	}
	return c.kids == nil || c.kids[len(c.items)].each(yield)
}

// first returns the node that comes first.
func (c *chunk[V]) first() *Node[V] {
	for c.kids != nil {
		c = c.kids[0]
	}
	return c.items[0]
}

// edit changes the children of one node.
type edit struct {
	epoch uint64
	from  int // where names begin in the paths of the children
}

// own returns a chunk that may be changed in place of c.
func own[V any](e edit, c *chunk[V]) *chunk[V] {
	if c.epoch == e.epoch {
		return c
	}
	copied := &chunk[V]{epoch: e.epoch, height: c.height}
	copied.items = append(make([]*Node[V], 0, len(c.items)+1), c.items...)
	if c.kids != nil {
		copied.kids = append(make([]*chunk[V], 0, len(c.kids)+1), c.kids...)
	}
	return copied
}

// put returns what replaces c, which may be nil, when n is put into it.
func put[V any](e edit, c *chunk[V], n *Node[V]) *chunk[V] {
	if c == nil {
		return &chunk[V]{items: []*Node[V]{n}, epoch: e.epoch}
	}
	left, median, right := insert(e, c, n)
	if median == nil {
		return left
	}
	return &chunk[V]{items: []*Node[V]{median}, kids: []*chunk[V]{left, right}, epoch: e.epoch, height: left.height + 1}
}

// insert puts n into c. When c becomes too large, it is split in two with a median between them.
func insert[V any](e edit, c *chunk[V], n *Node[V]) (left *chunk[V], median *Node[V], right *chunk[V]) {
	i, found := c.search(n.path[e.from:], e.from)
	c = own(e, c)
	switch {
	case found:
		c.items[i] = n
		return c, nil, nil
	case c.kids == nil:
		c.items = slices.Insert(c.items, i, n)
	default:
		left, median, right := insert(e, c.kids[i], n)
		c.kids[i] = left
		if median == nil {
			return c, nil, nil
		}
		c.items = slices.Insert(c.items, i, median)
		c.kids = slices.Insert(c.kids, i+1, right)
	}
	if len(c.items) <= maxItems {
		return c, nil, nil
	}
	at := len(c.items) / 2
	if i == len(c.items)-1 {
		at = len(c.items) - 2 // names often come in order: then chunks stay full
	}
	return split(e, c, at)
}

// split takes the items behind the one at an index from c.
func split[V any](e edit, c *chunk[V], at int) (left *chunk[V], median *Node[V], right *chunk[V]) {
	median = c.items[at]
	right = &chunk[V]{items: slices.Clone(c.items[at+1:]), epoch: e.epoch, height: c.height}
	clear(c.items[at:])
	c.items = c.items[:at]
	if c.kids != nil {
		right.kids = slices.Clone(c.kids[at+1:])
		clear(c.kids[at+1:])
		c.kids = c.kids[:at+1]
	}
	return c, median, right
}

// remove returns what replaces c when the node of a name, which is there, is taken out; nil if
// nothing is left.
func remove[V any](e edit, c *chunk[V], name string) *chunk[V] {
	c = take(e, c, name)
	switch {
	case len(c.items) > 0:
		return c
	case c.kids != nil:
		return c.kids[0]
	default:
		return nil
	}
}

func take[V any](e edit, c *chunk[V], name string) *chunk[V] {
	i, found := c.search(name, e.from)
	c = own(e, c)
	switch {
	case c.kids == nil:
		c.items = slices.Delete(c.items, i, i+1)
		return c
	case found:
		c.kids[i], c.items[i] = takeLast(e, c.kids[i])
	default:
		c.kids[i] = take(e, c.kids[i], name)
	}
	balance(e, c, i)
	return c
}

// takeLast takes out the last node.
func takeLast[V any](e edit, c *chunk[V]) (*chunk[V], *Node[V]) {
	c = own(e, c)
	last := len(c.items) - 1
	if c.kids == nil {
		n := c.items[last]
		c.items = slices.Delete(c.items, last, last+1)
		return c, n
	}
	kid, n := takeLast(e, c.kids[last+1])
	c.kids[last+1] = kid
	balance(e, c, last+1)
	return c, n
}

// balance sees to it that the kid at an index of c, which may be changed, has enough items: it is
// merged with a neighbour, or gets an item of the neighbour.
func balance[V any](e edit, c *chunk[V], i int) {
	if len(c.kids[i].items) >= minItems {
		return
	}
	i = max(i-1, 0) // the left one of the two
	left, right := own(e, c.kids[i]), own(e, c.kids[i+1])
	c.kids[i], c.kids[i+1] = left, right
	switch {
	case len(left.items)+1+len(right.items) <= maxItems:
		left.items = append(append(left.items, c.items[i]), right.items...)
		left.kids = append(left.kids, right.kids...)
		c.items = slices.Delete(c.items, i, i+1)
		c.kids = slices.Delete(c.kids, i+1, i+2)
	case len(left.items) < len(right.items):
		left.items = append(left.items, c.items[i])
		c.items[i] = right.items[0]
		right.items = slices.Delete(right.items, 0, 1)
		if right.kids != nil {
			left.kids = append(left.kids, right.kids[0])
			right.kids = slices.Delete(right.kids, 0, 1)
		}
	default:
		last := len(left.items) - 1
		right.items = slices.Insert(right.items, 0, c.items[i])
		c.items[i] = left.items[last]
		left.items = slices.Delete(left.items, last, last+1)
		if left.kids != nil {
			right.kids = slices.Insert(right.kids, 0, left.kids[last+1])
			left.kids = slices.Delete(left.kids, last+1, last+2)
		}
	}
}
