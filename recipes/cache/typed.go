package cache

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync/atomic"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/zkclient"
	"github.com/go-curator/curator/internal/zkconn"
	"github.com/go-curator/curator/recipes/internal/pathtree"
)

// ErrSkip is returned by a decoder for a node without a value, such as a node that exists only
// as a parent.
var ErrSkip = errors.New("the node has no value")

// Typed is a view of a cache that has values instead of data. Every node is decoded once for
// each change. All methods may be called from several goroutines. A nil Typed is empty.
//
// Java: CachedModeledFramework; its counterpart in package modeled uses this type.
type Typed[T any] struct {
	cache  *CuratorCache
	decode func(node ChildData) (T, error)
	tree   *pathtree.Tree[decoded[T]] // of the cache's goroutine
	root   atomic.Pointer[pathtree.Node[decoded[T]]]
}

// decoded is what a view keeps of a node.
type decoded[T any] struct {
	stat  zkconn.Stat
	value T
	err   error // why there is no value; nil if there is one
}

// Node is a node of a view. The value is shared: it must not be changed.
//
// Java: ZNode.
type Node[T any] struct {
	Path  string
	Stat  framework.Stat
	Value T
}

// NewTyped returns a view of c. It returns framework.ErrAlreadyStarted if c is started, and
// framework.ErrInvalidOption for a nil c or decode. decode is called by one goroutine, once for
// each change, and delays the cache while it runs. A node for which it fails has no value in
// the view, not even its former one, and is listed by Failed. A node for which it returns
// ErrSkip is left out silently. A decode function from a codec.Codec:
//
//	func(node cache.ChildData) (Limits, error) { return limits.Decode(node.Data) }
//
// Java: CachedModeledFramework, ModelSerializer.
func NewTyped[T any](c *CuratorCache, decode func(node ChildData) (T, error)) (*Typed[T], error) {
	switch {
	case c == nil || c.client == nil:
		return nil, fmt.Errorf("%w: NewTyped: the cache is nil", framework.ErrInvalidOption)
	case decode == nil:
		return nil, fmt.Errorf("%w: NewTyped: decode is nil", framework.ErrInvalidOption)
	}
	t := &Typed[T]{cache: c, decode: decode, tree: pathtree.New[decoded[T]](c.paths.root)}
	if err := c.publisher.add(t); err != nil {
		return nil, fmt.Errorf("view of the cache of %s: %w", c.paths.root, err)
	}
	return t, nil
}

// change decodes a node that was created or has changed.
func (t *Typed[T]) change(c pathtree.Change[content], data []byte, hidden bool) {
	if c.New == nil {
		t.tree.Delete(c.Old.Path())
		return
	}
	d := decoded[T]{stat: c.New.Value.stat, err: ErrSkip}
	if !hidden {
		node := childData(c.New)
		node.Data = data
		d.value, d.err = t.decode(node)
	}
	if d.err != nil {
		var none T
		d.value = none
	}
	t.tree.Put(c.New.Path(), d, true)
}

func (t *Typed[T]) show() { t.root.Store(t.tree.Publish()) }

func (t *Typed[T]) reset() { t.tree = pathtree.New[decoded[T]](t.cache.paths.root) }

// contents returns the nodes of the view.
func (t *Typed[T]) contents() *pathtree.Node[decoded[T]] {
	if t == nil {
		return nil
	}
	return t.root.Load()
}

// nodeOf returns a node for the user, and whether it has a value.
func nodeOf[T any](n *pathtree.Node[decoded[T]]) (Node[T], bool) {
	if n == nil || n.Value.err != nil {
		return Node[T]{}, false
	}
	return Node[T]{Path: n.Path(), Stat: zkclient.UserStat[framework.Stat](&n.Value.stat), Value: n.Value.value}, true
}

// Get returns the node at path, and whether it exists and has a value.
//
// Java: CachedModeledFramework.read.
func (t *Typed[T]) Get(path string) (Node[T], bool) { return nodeOf(t.contents().Find(path)) }

// All iterates over the nodes that have values, all of one Snapshot, in its order.
//
// Java: CachedModeledFramework.list.
func (t *Typed[T]) All() iter.Seq2[string, Node[T]] {
	return func(yield func(string, Node[T]) bool) {
		for n := range t.contents().All() {
			if node, ok := nodeOf(n); ok && !yield(node.Path, node) {
				return
			}
		}
	}
}

// Children iterates over the names and nodes of the children of path that have values.
//
// Java: CachedModeledFramework.children.
func (t *Typed[T]) Children(path string) iter.Seq2[string, Node[T]] {
	return func(yield func(string, Node[T]) bool) {
		for n := range t.contents().Find(path).Children() {
			if node, ok := nodeOf(n); ok && !yield(n.Name(), node) {
				return
			}
		}
	}
}

// Failed iterates over the paths of nodes that could not be decoded, with the errors. It goes
// through all nodes.
//
// Java: none.
func (t *Typed[T]) Failed() iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		for n := range t.contents().All() {
			if err := n.Value.err; err != nil && !errors.Is(err, ErrSkip) && !yield(n.Path(), err) {
				return
			}
		}
	}
}

// TypedEvent is one change of a view. A node that can no longer be decoded is deleted in the
// view.
//
// Java: ModeledCacheListener.
type TypedEvent[T any] struct {
	Type EventType
	Path string
	Old  Node[T] // zero for NodeCreated
	New  Node[T] // zero for NodeDeleted
}

// Updates is CuratorCache.Updates for the view: first the present nodes, then changes, all
// changes of one Snapshot in one step, in the same order. The first step may be empty. There is no
// event for NodeUnreadable.
//
// Java: CachedModeledFramework.listenable.
func (t *Typed[T]) Updates(ctx context.Context) iter.Seq[[]TypedEvent[T]] {
	return func(yield func([]TypedEvent[T]) bool) {
		if t == nil {
			return
		}
		var last *pathtree.Node[decoded[T]]
		first := true
		var now *pathtree.Node[decoded[T]]
		for _, told := range t.cache.states(ctx, func() { now = t.contents() }) {
			events := changesOf(last, now, told)
			last = now
			if (first || len(events) > 0) && !yield(events) {
				return
			}
			first = false
		}
	}
}

// changesOf returns what differs between two versions of a view.
func changesOf[T any](from, to *pathtree.Node[decoded[T]], told deletions) (events []TypedEvent[T]) {
	for _, c := range ordered(from, to, func(d *decoded[T]) *zkconn.Stat { return &d.stat }, told) {
		before, was := nodeOf(c.Old)
		after, is := nodeOf(c.New)
		switch {
		case was && is:
			events = append(events, TypedEvent[T]{NodeChanged, after.Path, before, after})
		case was:
			events = append(events, TypedEvent[T]{Type: NodeDeleted, Path: before.Path, Old: before})
		case is:
			events = append(events, TypedEvent[T]{Type: NodeCreated, Path: after.Path, New: after})
		}
	}
	return events
}
