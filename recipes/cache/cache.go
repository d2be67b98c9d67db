package cache

import (
	"iter"
	"sync/atomic"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/framework/listen"
	"github.com/go-curator/curator/internal/telemetry"
	"github.com/go-curator/curator/internal/zkclient"
	"github.com/go-curator/curator/recipes/internal/lifecycle"
)

// CuratorCache is a copy of a part of the tree. All methods may be called from several
// goroutines. It can still be read after Close. A nil CuratorCache, and the zero value, is
// empty and cannot be started.
//
// Java: CuratorCache, TreeCache.
type CuratorCache struct {
	client *framework.Client
	inside *zkclient.Client
	cfg    config
	paths  paths
	life   lifecycle.Lifecycle

	telemetry *telemetry.Cache
	unmeasure func()   // ends what is measured
	replica   *replica // of the goroutine that Start has begun
	listeners listen.Set[Event]
	state     atomic.Pointer[state]
	stale     atomic.Pointer[time.Time] // nil while the cache is not stale
	asked     atomic.Int64              // the zxid that is waited for, see Await
	wake      atomic.Pointer[func()]    // has the goroutine look at asked

	audience
}

// state is a version of the contents.
type state struct {
	Snapshot
	epoch  int64 // of the servers' data, which the snapshot's zxid is of
	loaded bool
	next   chan struct{} // closed when there is another
}

// NewCuratorCache returns a cache of the node at path and all nodes below it. It does no I/O.
// The node need not exist. Errors: framework.ErrInvalidPath, framework.ErrInvalidOption,
// framework.ErrNotStarted for a nil client.
//
// Java: CuratorCache.build, TreeCache.
func NewCuratorCache(client *framework.Client, path string, opts ...Option) (*CuratorCache, error) {
	return newCache(client, path, wholeTree, opts)
}

// NewNodeCache returns a cache of only the node at path. Errors are those of NewCuratorCache.
//
// Java: NodeCache, CuratorCache with SINGLE_NODE_CACHE.
func NewNodeCache(client *framework.Client, path string, opts ...Option) (*CuratorCache, error) {
	return newCache(client, path, nodeAlone, opts)
}

// NewPathChildrenCache returns a cache of the children of the node at path, without the node
// itself. It ignores the nodes below the children. Errors are those of NewCuratorCache.
//
// Java: PathChildrenCache, TreeCache with a maximal depth.
func NewPathChildrenCache(client *framework.Client, path string, opts ...Option) (*CuratorCache, error) {
	return newCache(client, path, childrenOnly, opts)
}

func newCache(client *framework.Client, path string, s shape, opts []Option) (*CuratorCache, error) {
	inside := zkclient.Of(client)
	full, err := inside.ServerPath(path)
	if err != nil {
		return nil, err
	}
	cfg, err := newConfig(s, opts)
	if err != nil {
		return nil, err
	}
	c := &CuratorCache{client: client, inside: inside, cfg: cfg, paths: paths{path, full}}
	c.listeners.Limit(listen.MaxEvents, newLostEvents)
	if cfg.background {
		c.life.InBackground(lifecycle.Background{Client: client, What: "cache of " + path, Prepare: c.prepare})
	}
	c.telemetry = inside.Telemetry().Cache(cfg.name, path, observed{c})
	c.state.Store(&state{Snapshot: Snapshot{topless: s == childrenOnly}, next: make(chan struct{})})
	return c, nil
}

// Snapshot returns the present contents. It costs nothing, whatever the size. It is empty before
// Start has loaded the cache.
//
// Java: none.
func (c *CuratorCache) Snapshot() Snapshot {
	if s := c.current(); s != nil {
		return s.Snapshot
	}
	return Snapshot{}
}

// current returns the present state, nil for a cache that cannot be started.
func (c *CuratorCache) current() *state {
	if c == nil {
		return nil
	}
	return c.state.Load()
}

// Get is Snapshot().Get: the node at path, and whether it exists.
//
// Java: get, getCurrentData.
func (c *CuratorCache) Get(path string) (ChildData, bool) { return c.Snapshot().Get(path) }

// All is Snapshot().All: paths and nodes, every node after its parent.
//
// Java: stream.
func (c *CuratorCache) All() iter.Seq2[string, ChildData] { return c.Snapshot().All() }

// Children is Snapshot().Children: names and nodes of the children of path.
//
// Java: getCurrentChildren, CuratorCacheAccessor.parentPathFilter.
func (c *CuratorCache) Children(path string) iter.Seq2[string, ChildData] {
	return c.Snapshot().Children(path)
}

// Listenable takes listeners. Each gets every change as an event: first the nodes of the load,
// then Initialized once, then changes. A listener that is added later gets only later changes.
// Up to 65,536 events wait for a slow listener. While that many wait, later ones are merged as in
// Updates: the listener then gets one event for a node that has changed often, and none for a node
// that was created and deleted meanwhile. Prefer Updates if you do not need listeners.
//
// Events come in the order of the changes, as far as the cache knows it: created nodes by their
// czxid, changed ones by their mzxid, deleted ones by the zxid of the deletion, which only servers
// since ZooKeeper 3.9 tell; before, a deletion comes behind the changes that were told before it.
// Changes of one transaction come in the order of paths, deletions first. Parents are created before
// their children, and deleted behind them. Deletions that no event has told, such as those during an
// outage, come first. A node whose changes came together has one event, at its last change. A
// Snapshot that is not Exact can have the later of two changes without the earlier.
//
// Java: listenable, getListenable.
func (c *CuratorCache) Listenable() listen.Listenable[Event] {
	if c == nil {
		return listen.Listenable[Event]{}
	}
	return c.listeners.Listenable()
}

// Stale reports whether the cache cannot follow the server at present, and since when, because
// there is no connection or because a read fails and is tried again, until the cache goes on
// without the node: see NodeUnreadable. Without a connection the contents do not change. After a
// reconnect the cache is stale until it has been compared with the server. A closed cache is stale;
// a cache that is not loaded yet is not, as long as it has lost no connection.
//
// Java: none; TreeCache has events such as CONNECTION_SUSPENDED.
func (c *CuratorCache) Stale() (since time.Time, stale bool) {
	if c == nil {
		return time.Time{}, false
	}
	if at := c.stale.Load(); at != nil {
		return *at, true
	}
	return time.Time{}, false
}

// observed is a cache as metrics see it.
type observed struct{ *CuratorCache }

func (o observed) Len() int { return o.Snapshot().Len() }
