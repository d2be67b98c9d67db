package blocking_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/framework/codec"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/recipes/cache"
	"github.com/go-curator/curator/recipes/discovery"
	"github.com/go-curator/curator/recipes/leader"
	"github.com/go-curator/curator/recipes/modeled"
	"github.com/go-curator/curator/recipes/nodes"
	"github.com/go-curator/curator/recipes/shared"
	"github.com/go-curator/curator/recipes/watch"
)

// late is a component whose Start does not wait. told is closed when it has told, in its own way, that it
// is there.
type late struct {
	framework.Component
	told chan struct{}
}

// isThere reports whether the component has told that it is there.
func (l *late) isThere() bool {
	select {
	case <-l.told:
		return true
	default:
		return false
	}
}

// inBackground are the components of which Start need not wait, by the names of those that are exported.
var inBackground = map[string][]func(f *fixture, told func()) framework.Component{
	"shared.Value": {func(f *fixture, told func()) framework.Component {
		v, err := shared.NewValue(f.client, f.path+"/shared", "seed", codec.String(), shared.WithStartInBackground())
		f.ok(err)
		v.Listenable().Add(func(context.Context, shared.VersionedValue[string]) { told() })
		return v
	}},
	"shared.Count": {func(f *fixture, told func()) framework.Component {
		c, err := shared.NewCount(f.client, f.path+"/shared", 1, shared.WithStartInBackground())
		f.ok(err)
		f.whenever(told, func(ctx context.Context) bool { return first(c.Updates(ctx)) })
		return c
	}},
	"cache.CuratorCache": {func(f *fixture, told func()) framework.Component {
		c, err := cache.NewCuratorCache(f.client, f.path, cache.WithStartInBackground())
		f.ok(err)
		c.Listenable().Add(func(_ context.Context, e cache.Event) {
			if e.Type == cache.Initialized {
				told()
			}
		})
		return c
	}},
	"modeled.CachedModeledFramework": {func(f *fixture, told func()) framework.Component {
		m := modeled.Wrap(f.client, modeled.ModelSpec[string]{Path: modeled.ParseZPath(f.path), Codec: codec.String()})
		c, err := m.Cached(modeled.WithStartInBackground())
		f.ok(err)
		f.whenever(told, func(ctx context.Context) bool { return first(c.Updates(ctx)) })
		return c
	}},
	"nodes.PersistentNode": {
		func(f *fixture, told func()) framework.Component { return f.lateNode(framework.Ephemeral, told) },
		func(f *fixture, told func()) framework.Component {
			return f.lateNode(framework.EphemeralSequential, told, nodes.WithProtection())
		},
		func(f *fixture, told func()) framework.Component {
			return f.lateNode(framework.Persistent, told, nodes.WithTakeover())
		},
	},
	"nodes.GroupMember": {func(f *fixture, told func()) framework.Component {
		m, err := nodes.NewGroupMember(f.client, f.path+"/group", "id", nil, nodes.WithStartInBackground())
		f.ok(err)
		f.whenever(told, func(ctx context.Context) bool { return first(m.Updates(ctx)) })
		return m
	}},
	"watch.PersistentWatcher": {func(f *fixture, told func()) framework.Component {
		w, err := watch.NewPersistentWatcher(f.client, f.path, framework.PersistentRecursive, watch.WithStartInBackground())
		f.ok(err)
		path := f.path
		w.Listenable().Add(func(_ context.Context, e framework.WatchedEvent) {
			if e.Type == framework.WatchReset && e.Path == path {
				told()
			}
		})
		return w
	}},
	"leader.LeaderLatch": {func(f *fixture, told func()) framework.Component {
		l, err := leader.NewLeaderLatch(f.client, f.path+"/latch", leader.WithStartInBackground())
		f.ok(err)
		l.LeadershipListenable().Add(func(_ context.Context, c leader.Change) {
			if c.Leading {
				told()
			}
		})
		return l
	}},
	"discovery.ServiceDiscovery": {
		func(f *fixture, told func()) framework.Component { return f.lateRegistry(told, discovery.Dynamic) },
		func(f *fixture, told func()) framework.Component { return f.lateRegistry(told, discovery.Static) },
		func(f *fixture, told func()) framework.Component {
			return f.lateRegistry(told, discovery.DynamicSequential, discovery.WithWatchInstances())
		},
	},
	"discovery.ServiceCache": {func(f *fixture, told func()) framework.Component {
		c, err := f.registry(discovery.WithStartInBackground()).Cache("service")
		f.ok(err)
		f.whenever(told, func(ctx context.Context) bool { return first(c.Updates(ctx)) })
		return c
	}},
	"discovery.ServiceProvider": {func(f *fixture, told func()) framework.Component {
		p, err := f.registry(discovery.WithStartInBackground()).Provider("service", discovery.ProviderConfig[string]{})
		f.ok(err)
		f.whenever(told, func(ctx context.Context) bool { return first(p.Updates(ctx)) })
		return p
	}},
}

func (f *fixture) lateNode(mode framework.CreateMode, told func(), opts ...nodes.Option) *nodes.PersistentNode {
	n, err := nodes.NewPersistentNode(f.client, f.path+"/kept", mode, []byte("data"), append(opts, nodes.WithStartInBackground())...)
	f.ok(err)
	n.CreatedListenable().Add(func(context.Context, string) { told() })
	return n
}

// lateRegistry returns a registry with an instance, which the other client sees.
func (f *fixture) lateRegistry(told func(), t discovery.ServiceType, opts ...discovery.Option) *discovery.ServiceDiscovery[string] {
	d := f.registry(append(opts, discovery.WithStartInBackground())...)
	instance := f.instance()
	instance.Type = t
	f.must(d.Register(f.Context(), instance)) // which Start carries out
	seen, err := discovery.NewServiceDiscovery(f.other, f.path+"/services", discovery.JSON[string]())
	f.ok(err)
	list, err := seen.Cache("service")
	started(f, list, err)
	f.whenever(told, func(ctx context.Context) bool {
		for instances := range list.Updates(ctx) {
			if len(instances) > 0 {
				return true
			}
		}
		return false
	})
	return d
}

// first waits for the first of what an iterator yields.
func first[T any](seq func(yield func(T) bool)) (some bool) {
	for range seq {
		return true
	}
	return false
}

// whenever calls told when something has come, on a goroutine that ends with the test.
func (f *fixture) whenever(told func(), comes func(ctx context.Context) bool) {
	var waiting sync.WaitGroup
	waiting.Go(func() {
		if comes(f.Context()) {
			told()
		}
	})
	f.Cleanup(waiting.Wait)
}

// soonGivesUp has the client's retry policy give up within some seconds.
var soonGivesUp = framework.WithConnectionTimeout(suite.SessionTimeout / 10)

// eachLate runs a test for every component whose Start does not wait, in virtual time. The client is
// connected.
func eachLate(t *testing.T, test func(f *fixture, l *late)) {
	for name, kinds := range inBackground {
		for _, kind := range kinds {
			t.Run(name, func(t *testing.T) {
				suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
					f := newFixture(t, b, soonGivesUp)
					test(f, f.late(kind))
				})
			})
		}
	}
}

func (f *fixture) late(kind func(f *fixture, told func()) framework.Component) *late {
	l := &late{told: make(chan struct{})}
	l.Component = kind(f, sync.OnceFunc(func() { close(l.told) }))
	f.Cleanup(func() { _ = f.closed(l) })
	return l
}

// closed closes a component, in the time that every clean-up has.
func (f *fixture) closed(l *late) error {
	f.Helper()
	const most = 8 * time.Second // 5 s without a connection, and what an ended context still has
	begin := time.Now()
	err := l.Close(context.WithoutCancel(f.Context()))
	if took := time.Since(begin); took > most {
		f.Errorf("Close took %v: %v", took, err)
	}
	return err
}

// startLate starts a component. Its context ends as soon as Start has returned, at once.
func (f *fixture) startLate(l *late) {
	f.Helper()
	ctx, cancel := context.WithCancel(f.Context())
	defer cancel()
	begin := time.Now()
	f.ok(l.Start(ctx))
	if took := time.Since(begin); took > 0 && f.b.Virtual {
		f.Errorf("Start took %v", took)
	}
}

// comes waits until a component is there.
func (f *fixture) comes(l *late, within time.Duration) {
	f.Helper()
	select {
	case <-l.told:
	case <-time.After(within):
		f.Errorf("%T is not there after %v", l.Component, within)
	}
}

// nothingLeft fails the test if a component has left a node or, on the embedded server, a watch. before is
// what was there before it.
func (f *fixture) nothingLeft(before int) {
	f.Helper()
	<-time.After(3 * suite.SessionTimeout) // what is left is done in the background
	var walk func(path string)
	walk = func(path string) {
		var stat framework.Stat
		names, err := f.other.GetChildren().StoringStatIn(&stat).ForPath(f.Context(), path)
		f.ok(err)
		if stat.EphemeralOwner != 0 || path == f.path+"/kept" || path == f.path+"/services/service/id" {
			f.Errorf("%s is left", path)
		}
		for _, name := range names {
			walk(path + "/" + name)
		}
	}
	walk(f.path)
	if now := f.b.Watches(); now > before {
		f.Errorf("%d watches are left, before there were %d", now, before)
	}
}

// A component that is exported is one of these.
func TestCompleteInBackground(t *testing.T) {
	for name := range components {
		if len(inBackground[name]) == 0 {
			t.Errorf("%s has a Start, and is not here", name)
		}
	}
}
