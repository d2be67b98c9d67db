package discovery

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/recipes/cache"
	"github.com/go-curator/curator/recipes/internal/lifecycle"
)

// ServiceCache is a list of a service's instances in memory. It is behind the server as package
// cache says. Instances that cannot be decoded are left out and logged. All methods may be called
// from several goroutines. A nil ServiceCache is empty and cannot be started.
//
// Java: ServiceCache.
type ServiceCache[T any] struct {
	life   lifecycle.Lifecycle
	client *framework.Client
	name   string
	parts  *parts
	keep   time.Duration // for which what has left the list is remembered
	nodes  *cache.CuratorCache
	typed  *cache.Typed[ServiceInstance[T]]
	list   atomic.Pointer[list[T]]
}

var _ framework.Component = (*ServiceCache[any])(nil)

// list is a version of the instances. It is not changed.
type list[T any] struct {
	instances []ServiceInstance[T]
	paths     []string     // of their nodes
	changes   []lastChange // the last one of each
	loaded    bool
	gone      []gone[T]     // what has left the list lately, if that is remembered
	next      chan struct{} // closed when there is another
}

// lastChange is the last change of a node. The time is a part of it because servers that have lost their data
// give the same zxids again.
type lastChange struct{ zxid, time int64 }

// newServiceCache returns the cache of a service, which remembers for a time what has left the list.
func newServiceCache[T any](p *places[T], parts *parts, name string, keep time.Duration) (*ServiceCache[T], error) {
	path, err := p.service(name)
	if err != nil {
		return nil, err
	}
	opts := []cache.Option{cache.WithoutData()}
	if p.cfg.name != "" {
		opts = append(opts, cache.WithName(p.cfg.name))
	}
	c := &ServiceCache[T]{client: p.client, name: name, parts: parts, keep: keep}
	if p.cfg.background {
		c.life.InBackground(lifecycle.Background{Client: c.client, What: "cache of service " + name})
	}
	c.list.Store(&list[T]{next: make(chan struct{})})
	if c.nodes, err = cache.NewPathChildrenCache(p.client, path, opts...); err != nil {
		return nil, err
	}
	c.typed, err = cache.NewTyped(c.nodes, func(node cache.ChildData) (ServiceInstance[T], error) {
		instance, err := p.decode(node.Data)
		if err != nil {
			p.leaveOut(node.Path, err)
		}
		return instance, err
	})
	return c, err
}

// Name returns the service's name.
//
// Java: none.
func (c *ServiceCache[T]) Name() string {
	if c == nil {
		return ""
	}
	return c.name
}

// Start loads the list and begins to follow it. When it returns nil, the list is loaded. Without a
// connection it fails when the client's retry policy gives up. With WithStartInBackground it does
// not wait. The service need not exist. See framework.Component and cache.CuratorCache.Start.
//
// Java: start, startImmediate.
func (c *ServiceCache[T]) Start(ctx context.Context) error {
	if c == nil || c.nodes == nil {
		return fmt.Errorf("service cache: %w", framework.ErrNotStarted)
	}
	err := c.life.Start(ctx, func(ctx context.Context) error {
		if err := c.nodes.Start(ctx); err != nil {
			return err
		}
		c.show()
		return nil
	}, func(ctx context.Context) {
		for range c.typed.Updates(ctx) {
			c.show()
		}
	})
	if err != nil {
		return fmt.Errorf("service %s: %w", c.name, err)
	}
	return nil
}

// show makes what the cache of the nodes has the present list. One goroutine calls it at a time.
func (c *ServiceCache[T]) show() {
	now := &list[T]{loaded: true, next: make(chan struct{})}
	for _, node := range c.typed.All() {
		now.instances = append(now.instances, node.Value)
		now.paths = append(now.paths, node.Path)
		now.changes = append(now.changes, lastChange{node.Stat.Mzxid, node.Stat.Mtime.UnixMilli()})
	}
	// The first call after Start usually finds the list that Start has shown.
	before := c.list.Load()
	if c.parts.ended() && before.loaded {
		return // the last list stays, although Close unregisters instances
	}
	if !before.loaded || !slices.Equal(before.changes, now.changes) || !slices.Equal(before.paths, now.paths) {
		if c.keep > 0 {
			now.gone = leave(before, now, c.keep)
		}
		c.list.Store(now)
		close(before.next)
	}
}

// Close stops following; the last list stays. See framework.Component.
//
// Java: close.
func (c *ServiceCache[T]) Close(ctx context.Context) error {
	if c == nil || c.nodes == nil {
		return nil
	}
	c.parts.drop(c)
	if err := c.life.Close(ctx, c.nodes.Close); err != nil {
		return fmt.Errorf("service %s: %w", c.name, err)
	}
	return nil
}

// present returns the present list, an empty one for a nil cache.
func (c *ServiceCache[T]) present() *list[T] {
	if c == nil || c.nodes == nil {
		return &list[T]{}
	}
	return c.list.Load()
}

// Instances returns the instances, including disabled ones, in the order of the names of their
// nodes, which are usually their ids. The caller owns the slice; payloads are shared and must
// not be changed. It does not wait for the server. Before the list is loaded there are no instances.
//
// Java: getInstances.
func (c *ServiceCache[T]) Instances() []ServiceInstance[T] {
	return slices.Clone(c.present().instances)
}

// Stale reports whether the list cannot follow the server at present, and since when. See
// cache.CuratorCache.Stale.
//
// Java: none; listeners get the connection's state.
func (c *ServiceCache[T]) Stale() (since time.Time, stale bool) {
	if c == nil {
		return time.Time{}, false
	}
	return c.nodes.Stale()
}

// Updates iterates over the list: first the present list, then each changed list, until ctx
// ends, Close is called or the client is closed. Before Start it waits for the load. After a slow loop body the latest list
// comes next, not every list. A slow loop delays no others. The caller owns the slices;
// payloads are shared and must not be changed. Several loops may run at the same time.
//
// Java: ServiceCacheListener.
func (c *ServiceCache[T]) Updates(ctx context.Context) iter.Seq[[]ServiceInstance[T]] {
	return func(yield func([]ServiceInstance[T]) bool) {
		if c == nil || c.nodes == nil || ctx == nil {
			return
		}
		var last *list[T]
		for {
			now := c.list.Load()
			if c.ended(ctx) {
				return
			}
			if now.loaded && now != last {
				last = now
				if !yield(slices.Clone(now.instances)) {
					return
				}
				continue
			}
			c.wait(ctx, now, nil, time.Time{})
		}
	}
}

// ended tells whether a loop over the updates ends.
func (c *ServiceCache[T]) ended(ctx context.Context) bool {
	select {
	case <-c.client.Done():
		return true
	default:
		return ctx.Err() != nil || errors.Is(c.life.Started(), framework.ErrClosed)
	}
}

// wait waits for the list behind now, for other, until a time if that is not zero, or for the end.
func (c *ServiceCache[T]) wait(ctx context.Context, now *list[T], other <-chan struct{}, until time.Time) {
	var due <-chan time.Time
	if !until.IsZero() {
		timer := time.NewTimer(time.Until(until))
		defer timer.Stop()
		due = timer.C
	}
	select {
	case <-now.next:
	case <-other:
	case <-due:
	case <-ctx.Done():
	case <-c.life.Done():
	case <-c.client.Done():
	}
}

// notLoaded says why there is no list.
func (c *ServiceCache[T]) notLoaded() error {
	why := fmt.Errorf("service %s: %w", c.name, framework.ErrNotStarted)
	if c.life.Started() != nil {
		return why
	}
	why = fmt.Errorf("%w: the list is not loaded yet", why)
	if failure := c.life.Failure(); failure != nil {
		why = fmt.Errorf("%w: %w", why, failure)
	}
	return fmt.Errorf("%w %s: %w", ErrNoInstance, c.name, why)
}

// gone is an instance that has left the list.
type gone[T any] struct {
	path     string // of its node
	instance ServiceInstance[T]
	at       time.Time
}

// leave returns what has left the list within a time, in the order of the paths. It is what
// EmptyProtection offers, so what was disabled is left out.
func leave[T any](before, now *list[T], keep time.Duration) []gone[T] {
	present := make(map[string]bool, len(now.paths))
	for _, path := range now.paths {
		present[path] = true
	}
	at := time.Now()
	var all []gone[T]
	for _, g := range before.gone {
		if !present[g.path] && at.Sub(g.at) < keep {
			all = append(all, g)
		}
	}
	for i, path := range before.paths {
		if !present[path] && !before.instances[i].Disabled {
			all = append(all, gone[T]{path, before.instances[i], at})
		}
	}
	slices.SortFunc(all, func(a, b gone[T]) int { return cmp.Compare(a.path, b.path) })
	return all
}

// parts are the caches that a ServiceDiscovery has made and that are not closed yet.
type parts struct {
	mu     sync.Mutex
	open   map[framework.Component]struct{}
	closed bool
}

func newParts() *parts { return &parts{open: map[framework.Component]struct{}{}} }

// add adds a part, unless everything is closed.
func (p *parts) add(c framework.Component) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return framework.ErrClosed
	}
	p.open[c] = struct{}{}
	return nil
}

// drop forgets a part, which is closed.
func (p *parts) drop(c framework.Component) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.open, c)
}

// end takes note of the end of the ServiceDiscovery, and returns what is to be closed. The lists of
// parts stay as they are now.
func (p *parts) end() []framework.Component {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	return slices.Collect(maps.Keys(p.open))
}

// ended reports whether the ServiceDiscovery has ended.
func (p *parts) ended() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.closed
}

// closeAll closes parts at the same time.
func closeAll(ctx context.Context, open []framework.Component) error {
	var closing sync.WaitGroup
	errs := make([]error, len(open))
	for i, c := range open {
		closing.Go(func() { errs[i] = c.Close(ctx) })
	}
	closing.Wait()
	return errors.Join(errs...)
}
