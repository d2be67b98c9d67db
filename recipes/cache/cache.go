package cache

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync/atomic"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/framework/listen"
	"github.com/go-curator/curator/internal/zkclient"
	"github.com/go-curator/curator/recipes/internal/lifecycle"
)

// CuratorCache is a copy of a part of the tree. All methods may be called from several
// goroutines. It can still be read after Close. A nil CuratorCache, and the zero value, is
// empty and cannot be started.
//
// Java: CuratorCache, TreeCache.
type CuratorCache struct {
	client    *framework.Client
	api       *zkclient.Client
	cfg       config
	paths     paths
	life      lifecycle.Lifecycle
	publisher publisher
	follower  *follower                 // of the goroutine that Start has begun
	unmeasure func()                    // ends what is measured
	stale     atomic.Pointer[time.Time] // nil while the cache is not stale
	asked     atomic.Int64              // the zxid that is waited for, see Await
	wake      atomic.Pointer[func()]    // has the goroutine look at asked
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
	api := zkclient.Of(client)
	full, err := api.ServerPath(path)
	if err != nil {
		return nil, err
	}
	cfg, err := newConfig(s, opts)
	if err != nil {
		return nil, err
	}
	c := &CuratorCache{client: client, api: api, cfg: cfg, paths: paths{path, full}}
	if cfg.background {
		c.life.InBackground(lifecycle.Background{Client: client, What: "cache of " + path, Prepare: c.prepare})
	}
	c.publisher.begin(api.Telemetry().Cache(cfg.name, path, observed{c}), Snapshot{topless: s == childrenOnly})
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
	return c.publisher.state.Load()
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
	return c.publisher.listeners.Listenable()
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

var _ framework.Component = (*CuratorCache)(nil)

// Start sets the watch and reads all nodes: when it returns nil the cache is loaded. ctx bounds
// the load. See framework.Component. With WithStartInBackground it does not wait; the cache is
// empty until it is loaded.
//
// A missing node is no error. Unreadable nodes below it are no error either. After an error
// nothing was started. Errors: framework.ErrNoAuth if the node itself may not be read;
// framework.ErrTooLarge, with its path, if a node has more children than one reply can carry,
// see framework.WithMaxReply; framework.ErrConnectionLoss when the client's retry policy has
// given up; framework.ErrAlreadyStarted, framework.ErrClosed, framework.ErrNotStarted for a
// client that is not started; ctx's. An error of a read has the path in an *framework.OpError.
//
// Java: start, and the event initialized.
func (c *CuratorCache) Start(ctx context.Context) error {
	if c == nil || c.client == nil {
		return fmt.Errorf("cache: %w", framework.ErrNotStarted)
	}
	if err := c.life.Start(ctx, c.load, c.follow); err != nil {
		return fmt.Errorf("cache of %s: %w", c.paths.root, err)
	}
	return nil
}

// load reads all nodes, on the goroutine of Start.
func (c *CuratorCache) load(ctx context.Context) (err error) {
	c.publisher.fix(true)
	ctx, end := c.publisher.telemetry.Load(ctx)
	err = zkclient.ErrPanicked // as long as nothing else is known
	defer func() {
		if err != nil {
			c.unload()
		}
		end(c.Snapshot().Len(), err)
	}()
	f := newFollower(&c.cfg, c.api, c.paths, output{
		show: c.publisher.show, stale: c.setStale, asked: c.takeAsked, heard: c.publisher.heard, warn: c.warn, info: c.info,
	})
	if err = f.begin(ctx); err != nil {
		return err
	}
	c.follower, c.unmeasure = f, c.publisher.telemetry.Follow()
	wake := f.link.box.Wake
	c.wake.Store(&wake)
	return nil
}

// unload undoes a load that failed.
func (c *CuratorCache) unload() {
	c.publisher.reset()
	c.publisher.fix(c.cfg.background) // another try follows, whose views are these
	c.stale.Store(nil)
}

// prepare is what a Start in the background does before it returns.
func (c *CuratorCache) prepare(context.Context) error {
	c.publisher.fix(true)
	return nil
}

// follow is the cache's goroutine.
func (c *CuratorCache) follow(ctx context.Context) {
	_ = c.follower.run(ctx, func() bool { return false }) // the end of ctx is not an error
}

// Close removes the watch, ends Updates and the listeners, and joins every goroutine; the
// contents stay, and are Stale. It is idempotent, allowed before Start, and works with an ended
// ctx: it then waits for a second at most. Its error says that listeners are still running.
//
// Java: close, with DO_NOT_CLEAR_ON_CLOSE.
func (c *CuratorCache) Close(ctx context.Context) error {
	if c == nil || c.client == nil {
		return nil
	}
	err := c.life.Close(ctx, c.end)
	if ctx != nil {
		cleanUp, cancel := lifecycle.CleanUp(ctx)
		defer cancel()
		err = errors.Join(err, c.publisher.listeners.Close(cleanUp))
	}
	if err != nil {
		return fmt.Errorf("cache of %s: %w", c.paths.root, err)
	}
	return nil
}

// end undoes what load has done. The goroutine has ended.
func (c *CuratorCache) end(ctx context.Context) error {
	if c.follower != nil { // else a Start in the background has not succeeded
		c.unmeasure()
		c.follower.end(ctx)
	}
	if c.stale.Load() == nil {
		c.setStale(time.Now())
	}
	return nil
}

func (c *CuratorCache) setStale(since time.Time) {
	if since.IsZero() {
		c.stale.Store(nil)
	} else {
		c.stale.Store(&since)
	}
}

// awaitPause is how often the server is asked again for a zxid that it has not reached.
const awaitPause = 200 * time.Millisecond

// Await waits until the cache has every change up to zxid, such as the Mzxid of a Stat that a
// write returned, or that another process has sent. After a write without a Stat, such as Delete,
// framework.Client.LastZxid has a zxid to wait for. It does not wait for changes of nodes that the
// cache cannot read, see NodeUnreadable. Errors: ctx's, framework.ErrClosed,
// framework.ErrNotStarted. Only zxids of one ensemble can be compared, and only as long as its
// servers do not lose their data: when they have, Await waits for the new data, with a zxid from
// before in most cases until ctx ends, as for each zxid that the servers do not reach.
//
// Java: none.
func (c *CuratorCache) Await(ctx context.Context, zxid int64) error {
	if c.current() == nil {
		return fmt.Errorf("cache: %w", framework.ErrNotStarted)
	}
	if ctx == nil {
		return fmt.Errorf("cache of %s: %w", c.paths.root, zkclient.ErrNilContext)
	}
	if err := c.await(ctx, zxid); err != nil {
		return fmt.Errorf("cache of %s: waiting for zxid 0x%x: %w", c.paths.root, uint64(zxid), err)
	}
	return nil
}

func (c *CuratorCache) await(ctx context.Context, zxid int64) error {
	if err := c.life.Started(); err != nil {
		return err
	}
	again := time.NewTicker(awaitPause)
	defer again.Stop()
	for {
		now := c.publisher.state.Load()
		conn, err := c.api.Conn()
		if now.Zxid() >= zxid && (err != nil || now.epoch == conn.Epoch()) {
			return nil
		}
		if err != nil {
			return err
		}
		c.ask(zxid)
		select {
		case <-now.next:
		case <-again.C:
		case <-c.life.Done():
			return framework.ErrClosed
		case <-ctx.Done():
			return zkclient.ContextError(ctx)
		}
	}
}

// ask has the follower find out what the server has, up to zxid.
func (c *CuratorCache) ask(zxid int64) {
	for {
		asked := c.asked.Load()
		if asked >= zxid || c.asked.CompareAndSwap(asked, zxid) {
			break
		}
	}
	if wake := c.wake.Load(); wake != nil { // else the cache is being loaded
		(*wake)()
	}
}

// takeAsked returns what was asked for since the last call.
func (c *CuratorCache) takeAsked() int64 { return c.asked.Swap(0) }

// states is publisher.states, until ctx ends or the cache or its client is closed.
func (c *CuratorCache) states(ctx context.Context, peek func()) iter.Seq2[*state, deletions] {
	if c.current() == nil || ctx == nil {
		return func(func(*state, deletions) bool) {}
	}
	return c.publisher.states(ctx, c.life.Done(), c.client.Done(), peek)
}

// Updates iterates over the contents: first over the present nodes, as an Update whose events
// are NodeCreated, and NodeUnreadable for nodes that cannot be read, then over changes, until ctx ends or
// the cache or its client is closed. Before Start
// has loaded the cache the first Update comes with the load.
//
// No change is missed between one Update and the next, and no Updates are queued. After a slow
// loop body all changes come as one Update, with one event for a node that changed often. A
// slow loop never delays the cache or another loop. A node that was created and deleted
// meanwhile gives no event. The first Update may have no events; later ones have.
//
// Java: none.
func (c *CuratorCache) Updates(ctx context.Context) iter.Seq[Update] {
	return func(yield func(Update) bool) {
		var last *state
		for now, told := range c.states(ctx, func() {}) {
			var before Snapshot
			first := last == nil
			if !first {
				before = last.Snapshot
			}
			events := now.since(before, told)
			last = now
			if (first || len(events) > 0) && !yield(Update{now.Snapshot, events}) {
				return
			}
		}
	}
}

// observed is a cache as metrics see it.
type observed struct{ *CuratorCache }

func (o observed) Len() int { return o.Snapshot().Len() }

// warn logs. It does not wait for the user's log handler.
func (c *CuratorCache) warn(text string, args ...any) {
	args = append([]any{"path", c.paths.root}, args...)
	c.api.Log(func() { c.client.Logger().Warn(text, args...) })
}

func (c *CuratorCache) info(text string, args ...any) {
	args = append([]any{"path", c.paths.root}, args...)
	c.api.Log(func() { c.client.Logger().Info(text, args...) })
}
