package modeled

import (
	"context"
	"fmt"
	"iter"
	"sync"

	"golang.org/x/sync/singleflight"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/zkclient"
	"github.com/go-curator/curator/recipes/cache"
	"github.com/go-curator/curator/recipes/internal/options"
)

// CachedModeledFramework reads from a cache of all nodes at a path and below it. Writes go to
// the server, through the ModeledFramework. To read a write back, call Await with the returned
// Stat.Mzxid first. It is behind the server, see package cache, and can still be read after
// Close. All methods may be called from several goroutines. Models are shared, so they must not
// be changed. A nil CachedModeledFramework is empty and cannot be started.
//
// Java: CachedModeledFramework.
type CachedModeledFramework[T any] struct {
	modeled ModeledFramework[T]
	cache   *cache.CuratorCache
	typed   *cache.Typed[T]
	flights singleflight.Group // of reads, by their paths
	reads   reads
}

var _ framework.Component = (*CachedModeledFramework[any])(nil)

// Cached returns a framework that reads from memory: the nodes at the path and below, up to the
// first parameter if it has some. Call its Start. Cached does no I/O. Nodes without data count
// as parents, which have no model. Errors: framework.ErrInvalidPath, framework.ErrNotStarted
// for a nil client, framework.ErrInvalidOption for a spec without a codec and a nil option.
//
// Java: cached.
func (m ModeledFramework[T]) Cached(opts ...CachedOption) (*CachedModeledFramework[T], error) {
	cfg, err := newCachedConfig(opts)
	if err != nil {
		return nil, err
	}
	root, err := m.WithPath(m.spec.Path.fixed()).path()
	if err != nil {
		return nil, err
	}
	c := &CachedModeledFramework[T]{modeled: m}
	// The spec's own compression is left to decode, because mere parents are not compressed.
	if c.cache, err = cache.NewCuratorCache(m.client, root, cfg.cache...); err != nil {
		return nil, err
	}
	c.typed, err = cache.NewTyped(c.cache, func(node cache.ChildData) (model T, err error) {
		model, parent, err := m.decode(node.Path, node.Data)
		if parent {
			err = cache.ErrSkip
		}
		return model, err
	})
	return c, err
}

// inner returns the cache and its view, nil for a nil receiver.
func (c *CachedModeledFramework[T]) inner() (*cache.CuratorCache, *cache.Typed[T]) {
	if c == nil {
		return nil, nil
	}
	return c.cache, c.typed
}

// Start loads the nodes and begins to follow them; see framework.Component and
// cache.CuratorCache.Start. Before it returns, memory is empty. With WithStartInBackground it does not
// wait.
//
// Java: start.
func (c *CachedModeledFramework[T]) Start(ctx context.Context) error {
	inner, _ := c.inner()
	return inner.Start(ctx)
}

// Close stops following, and ends the reads of ReadThrough; the contents stay. See
// framework.Component.
//
// Java: close.
func (c *CachedModeledFramework[T]) Close(ctx context.Context) error {
	inner, _ := c.inner()
	if inner != nil && ctx != nil {
		c.reads.close()
	}
	return inner.Close(ctx)
}

// Get returns the node at path from memory, and whether it exists and has a model. It takes no
// lock and does not wait. For a path with parameters, or an invalid one, it finds no node.
//
// Java: read, readAsZNode.
func (c *CachedModeledFramework[T]) Get(path ZPath) (ZNode[T], bool) {
	_, typed := c.inner()
	text, err := path.Path()
	if err != nil {
		return ZNode[T]{}, false
	}
	node, ok := typed.Get(text)
	if !ok {
		return ZNode[T]{}, false
	}
	return nodeOf(node), true
}

func nodeOf[T any](node cache.Node[T]) ZNode[T] {
	if node.Path == "" {
		return ZNode[T]{}
	}
	return ZNode[T]{Path: known(node.Path), Stat: node.Stat, Model: node.Value}
}

// ReadThrough is Get, but reads a missing node from the server. That node is not kept in
// memory. Callers that miss the same node share one read, which continues when one of them
// gives up. It may have begun before the call, so call Await first to read your own write.
// Errors: those of ModeledFramework.Read, ctx's, and, for a node that is not in memory,
// framework.ErrClosed after Close.
//
// Java: readThrough, readThroughAsZNode.
func (c *CachedModeledFramework[T]) ReadThrough(ctx context.Context, path ZPath) (ZNode[T], error) {
	if ctx == nil {
		return ZNode[T]{}, zkclient.ErrNilContext
	}
	if node, ok := c.Get(path); ok || c == nil {
		return node, c.orNotStarted()
	}
	text, err := path.Path()
	if err != nil {
		return ZNode[T]{}, err
	}
	if ctx.Err() != nil {
		return ZNode[T]{}, fmt.Errorf("read %s: %w", text, zkclient.ContextError(ctx))
	}
	type result struct {
		node ZNode[T]
		err  error
	}
	read := make(chan result, 1)
	err = c.reads.begin(ctx, func(ctx context.Context) {
		node, err, _ := c.flights.Do(text, func() (any, error) { return c.modeled.WithPath(path).Read(ctx) })
		read <- result{node.(ZNode[T]), err}
	})
	if err != nil {
		return ZNode[T]{}, fmt.Errorf("read %s: %w", text, err)
	}
	select {
	case r := <-read:
		return r.node, r.err
	case <-ctx.Done():
		return ZNode[T]{}, fmt.Errorf("read %s: %w", text, zkclient.ContextError(ctx))
	}
}

// orNotStarted returns framework.ErrNotStarted for a nil receiver.
func (c *CachedModeledFramework[T]) orNotStarted() error {
	if c == nil {
		return framework.ErrNotStarted
	}
	return nil
}

// All iterates over all nodes that have models, of one snapshot, in the order of their paths.
//
// Java: list.
func (c *CachedModeledFramework[T]) All() iter.Seq2[ZPath, ZNode[T]] {
	_, typed := c.inner()
	return nodes(typed.All())
}

// Children iterates over the children of path that have models, by name.
//
// Java: children, childrenAsZNodes.
func (c *CachedModeledFramework[T]) Children(path ZPath) iter.Seq2[ZPath, ZNode[T]] {
	_, typed := c.inner()
	text, err := path.Path()
	if err != nil {
		return func(func(ZPath, ZNode[T]) bool) {}
	}
	return nodes(typed.Children(text))
}

func nodes[T any](of iter.Seq2[string, cache.Node[T]]) iter.Seq2[ZPath, ZNode[T]] {
	return func(yield func(ZPath, ZNode[T]) bool) {
		for _, node := range of {
			if n := nodeOf(node); !yield(n.Path, n) {
				return
			}
		}
	}
}

// Failed iterates over the nodes that could not be decoded, with their errors, which match
// codec.ErrDecode. No other method returns these nodes.
//
// Java: ModeledCacheListener.handleException.
func (c *CachedModeledFramework[T]) Failed() iter.Seq2[ZPath, error] {
	_, typed := c.inner()
	return func(yield func(ZPath, error) bool) {
		for path, err := range typed.Failed() {
			if !yield(known(path), err) {
				return
			}
		}
	}
}

// Await is cache.CuratorCache.Await: it waits until the memory has every change up to zxid, such
// as the Stat.Mzxid that a Set has returned.
//
// Java: none.
func (c *CachedModeledFramework[T]) Await(ctx context.Context, zxid int64) error {
	inner, _ := c.inner()
	return inner.Await(ctx, zxid)
}

// Change is one change of a node: Before is zero for a new node, Node is zero for a node that
// was deleted or can no longer be decoded.
//
// Java: ModeledCacheListener.
type Change[T any] struct {
	Path         ZPath
	Before, Node ZNode[T]
}

// Updates iterates over changes: first all present nodes, then changes, as cache.Typed.Updates
// does. It ends with ctx or with Close.
//
// Java: listenable, ModeledCacheListener.postInitializedOnly.
func (c *CachedModeledFramework[T]) Updates(ctx context.Context) iter.Seq[[]Change[T]] {
	_, typed := c.inner()
	return func(yield func([]Change[T]) bool) {
		for events := range typed.Updates(ctx) {
			changes := make([]Change[T], len(events))
			for i, e := range events {
				changes[i] = Change[T]{Path: known(e.Path), Before: nodeOf(e.Old), Node: nodeOf(e.New)}
			}
			if !yield(changes) {
				return
			}
		}
	}
}

// reads are goroutines that read for callers, and do not end with one of them. The zero value is
// ready.
type reads struct {
	running sync.WaitGroup

	mu      sync.Mutex
	closed  bool
	last    int
	cancels map[int]context.CancelCauseFunc // of those that run
}

// begin runs read on a goroutine of its own. Its context has the values of ctx, and ends with
// close. After close begin returns framework.ErrClosed.
func (r *reads) begin(ctx context.Context, read func(ctx context.Context)) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return framework.ErrClosed
	}
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	if r.cancels == nil {
		r.cancels = map[int]context.CancelCauseFunc{}
	}
	r.last++
	id := r.last
	r.cancels[id] = cancel
	r.running.Go(func() {
		defer r.ended(id)
		read(ctx)
	})
	return nil
}

func (r *reads) ended(id int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.cancels[id](nil)
	delete(r.cancels, id)
}

// close ends what runs, and joins it.
func (r *reads) close() {
	r.mu.Lock()
	r.closed = true
	for _, cancel := range r.cancels {
		cancel(framework.ErrClosed)
	}
	r.mu.Unlock()
	r.running.Wait()
}

// CachedOption is an option of Cached. A nil CachedOption is refused with framework.ErrInvalidOption.
type CachedOption interface{ apply(*cachedConfig) error }

type cachedOption func(*cachedConfig) error

func (o cachedOption) apply(c *cachedConfig) error { return o(c) }

// cachedConfig has the options of the cache.
type cachedConfig struct{ cache []cache.Option }

func newCachedConfig(opts []CachedOption) (cachedConfig, error) {
	c := cachedConfig{cache: []cache.Option{cache.WithoutData()}}
	err := options.Apply(&c, opts, CachedOption.apply)
	return c, err
}

// WithStartInBackground has Start return before the nodes are loaded, so a program may start before
// its servers; see cache.WithStartInBackground. Until then memory is empty, ReadThrough reads from
// the server, Await waits, and Updates does not begin.
//
// Java: start, which does not wait.
func WithStartInBackground() CachedOption {
	return cachedOption(func(c *cachedConfig) error {
		c.cache = append(c.cache, cache.WithStartInBackground())
		return nil
	})
}
