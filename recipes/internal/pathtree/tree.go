// Package pathtree is a tree of nodes by path, with immutable versions.
//
// One goroutine changes a [Tree]. [Tree.Publish] returns its present root: a [Node] and all
// nodes below it, which never change again and may be read by any goroutine, without a lock.
// Two versions share their equal parts. So a version costs the nodes on the way to changed
// nodes, and [Diff] of two versions costs about the same.
//
// The children of a node are a B-tree, ordered by name, so changing or finding one of very many
// children takes only a few steps.
package pathtree

import (
	"iter"
	"strings"
)

// Node is a node of a version of a tree. It does not change.
type Node[V any] struct {
	Value V

	path     string
	children *chunk[V]
	epoch    uint64 // see chunk
	below    int32  // how many nodes below are shown
	accepted bool
}

// Path returns the path of the node.
func (n *Node[V]) Path() string { return n.path }

// Name returns the last part of the path.
func (n *Node[V]) Name() string { return n.path[strings.LastIndexByte(n.path, '/')+1:] }

// Shown reports whether the node, or one below it, is accepted; see Tree.Put.
func (n *Node[V]) Shown() bool { return n.accepted || n.below > 0 }

// Len returns the number of shown nodes, the node itself and those below it. It is zero for
// nil.
func (n *Node[V]) Len() int {
	switch {
	case n == nil:
		return 0
	case n.Shown():
		return int(n.below) + 1
	default:
		return 0
	}
}

// names returns where the names of children begin in their paths.
func (n *Node[V]) names() int {
	if n.path == "/" {
		return 1
	}
	return len(n.path) + 1
}

// step splits what is left of a path at its first slash.
func step(rest string) (name, behind string) {
	name, behind, _ = strings.Cut(rest, "/")
	return name, behind
}

// below returns what path has behind the path of the root, and whether it is there or below.
func below(root, path string) (rest string, ok bool) {
	switch {
	case path == root:
		return "", true
	case root == "/":
		return path[min(len(path), 1):], strings.HasPrefix(path, "/")
	}
	rest, ok = strings.CutPrefix(path, root)
	return rest[min(len(rest), 1):], ok && strings.HasPrefix(rest, "/")
}

// Find returns the node at a path, nil if there is none. The receiver may be nil.
func (n *Node[V]) Find(path string) *Node[V] {
	if n == nil {
		return nil
	}
	rest, ok := below(n.path, path)
	if !ok || strings.HasSuffix(rest, "/") {
		return nil
	}
	for rest != "" && n != nil {
		var name string
		name, rest = step(rest)
		n = n.children.find(name, n.names())
	}
	return n
}

// Children yields the children that are shown, in the order of their names. The receiver may be
// nil.
func (n *Node[V]) Children() iter.Seq[*Node[V]] {
	return func(yield func(*Node[V]) bool) {
		if n != nil {
			n.children.each(func(child *Node[V]) bool { return !child.Shown() || yield(child) })
		}
	}
}

// EveryChild is Children with the nodes that are not shown.
func (n *Node[V]) EveryChild() iter.Seq[*Node[V]] {
	return func(yield func(*Node[V]) bool) {
		if n != nil {
			n.children.each(yield)
		}
	}
}

// All yields the node and all nodes below it that are shown, parents before their children and
// otherwise in the order of names. The receiver may be nil.
func (n *Node[V]) All() iter.Seq[*Node[V]] {
	return func(yield func(*Node[V]) bool) { n.all((*Node[V]).Shown, yield) }
}

// Every is All with the nodes that are not shown.
func (n *Node[V]) Every() iter.Seq[*Node[V]] {
	return func(yield func(*Node[V]) bool) { n.all(func(*Node[V]) bool { return true }, yield) }
}

func (n *Node[V]) all(wanted func(*Node[V]) bool, yield func(*Node[V]) bool) bool {
	if n == nil || !wanted(n) {
		return true
	}
	return yield(n) && n.children.each(func(child *Node[V]) bool { return child.all(wanted, yield) })
}

// Tree is a tree that one goroutine changes.
type Tree[V any] struct {
	root  *Node[V]
	top   string // the path of the root
	epoch uint64
}

// New returns an empty tree whose root will have that path.
func New[V any](root string) *Tree[V] { return &Tree[V]{top: root, epoch: 1} }

// Root returns the present root, nil if there is none. It may change with the tree.
func (t *Tree[V]) Root() *Node[V] { return t.root }

// Publish returns the present root, nil if there is none. The returned nodes never change.
func (t *Tree[V]) Publish() *Node[V] {
	t.epoch++
	return t.root
}

// Get returns the present node at a path, nil if there is none. It may change with the tree.
func (t *Tree[V]) Get(path string) *Node[V] { return t.root.Find(path) }

// Put sets the value of the node at a path, and whether the node is accepted. It creates a
// missing node. A node is shown if it or one below it is accepted. If the tree has no parent of
// the node, Put does nothing and returns false.
func (t *Tree[V]) Put(path string, value V, accepted bool) bool {
	rest, ok := below(t.top, path)
	if !ok || rest != "" && t.root == nil {
		return false
	}
	if rest == "" {
		t.root = t.own(t.root, t.top)
		t.root.Value, t.root.accepted = value, accepted
		return true
	}
	root := t.put(t.root, path, rest, value, accepted)
	if root == nil {
		return false
	}
	t.root = root
	return true
}

// put returns what replaces n when the node at path, which is below n, gets a value; nil if the
// parent is missing.
func (t *Tree[V]) put(n *Node[V], path, rest string, value V, accepted bool) *Node[V] {
	name, rest := step(rest)
	child := n.children.find(name, n.names())
	shown := child.Len()
	if rest == "" {
		child = t.own(child, path)
		child.Value, child.accepted = value, accepted
	} else if child != nil {
		child = t.put(child, path, rest, value, accepted)
	}
	if child == nil {
		return nil
	}
	n = t.own(n, n.path)
	n.children = put(t.edit(n), n.children, child)
	n.below += int32(child.Len() - shown)
	return n
}

// own returns a node that may be changed in place of n, which may be nil.
func (t *Tree[V]) own(n *Node[V], path string) *Node[V] {
	if n == nil {
		return &Node[V]{path: path, epoch: t.epoch}
	}
	if n.epoch == t.epoch {
		return n
	}
	copied := *n
	copied.epoch = t.epoch
	return &copied
}

func (t *Tree[V]) edit(n *Node[V]) edit { return edit{t.epoch, n.names()} }

// Delete removes the node at a path, with the nodes below it, and returns it, nil if there was
// none.
func (t *Tree[V]) Delete(path string) *Node[V] {
	deleted := t.Get(path)
	switch deleted {
	case nil:
	case t.root:
		t.root = nil
	default:
		rest, _ := below(t.top, path)
		t.root = t.delete(t.root, rest, deleted)
	}
	return deleted
}

// delete returns what replaces n when the node at rest, which is there, is taken out below it.
func (t *Tree[V]) delete(n *Node[V], rest string, deleted *Node[V]) *Node[V] {
	name, rest := step(rest)
	n = t.own(n, n.path)
	if rest == "" {
		n.children = remove(t.edit(n), n.children, name)
		n.below -= int32(deleted.Len())
		return n
	}
	child := n.children.find(name, n.names())
	shown := child.Len()
	child = t.delete(child, rest, deleted)
	n.children = put(t.edit(n), n.children, child)
	n.below += int32(child.Len() - shown)
	return n
}
