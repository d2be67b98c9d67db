package blocking_test

import (
	"context"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/framework/codec"
	"github.com/go-curator/curator/recipes/cache"
	"github.com/go-curator/curator/recipes/modeled"
	"github.com/go-curator/curator/recipes/nodes"
	"github.com/go-curator/curator/recipes/watch"
)

// farAway is a zxid that does not come.
const farAway = 1 << 60

func cacheRows() map[string]row {
	of := func(f *fixture) *cache.CuratorCache {
		c, err := cache.NewCuratorCache(f.client, f.path)
		return made(f, c, err)
	}
	return map[string]row{
		"recipes/cache: (*CuratorCache) Start": asks(func(f *fixture) call { return of(f).Start }),
		"recipes/cache: (*CuratorCache) Await": waits(func(f *fixture) call {
			c := started(f, of(f), nil)
			return func(ctx context.Context) error { return c.Await(ctx, farAway) }
		}),
		"recipes/cache: (*CuratorCache) Updates": waits(func(f *fixture) call {
			c := started(f, of(f), nil)
			return func(ctx context.Context) error { return all(c.Updates(ctx)) }
		}),
		"recipes/cache: (*Typed) Updates": waits(func(f *fixture) call {
			c := of(f)
			typed, err := cache.NewTyped(c, func(node cache.ChildData) (string, error) { return string(node.Data), nil })
			f.ok(err)
			started(f, c, nil)
			return func(ctx context.Context) error { return all(typed.Updates(ctx)) }
		}),
	}
}

func modeledRows() map[string]row {
	model := func(f *fixture) modeled.ModeledFramework[string] {
		return modeled.Wrap(f.client, modeled.ModelSpec[string]{Path: modeled.ParseZPath(f.path + "/model"), Codec: codec.String()})
	}
	cached := func(f *fixture) *modeled.CachedModeledFramework[string] {
		c, err := model(f).Cached()
		return made(f, c, err)
	}
	ofModel := func(fn func(ctx context.Context, m modeled.ModeledFramework[string]) error) row {
		return asks(func(f *fixture) call {
			m := model(f)
			f.must(m.Set(f.Context(), "x"))
			return func(ctx context.Context) error { return fn(ctx, m) }
		})
	}
	return map[string]row{
		"recipes/modeled: (*CachedModeledFramework) Start": asks(func(f *fixture) call { return cached(f).Start }),
		"recipes/modeled: (*CachedModeledFramework) Await": waits(func(f *fixture) call {
			c := started(f, cached(f), nil)
			return func(ctx context.Context) error { return c.Await(ctx, farAway) }
		}),
		"recipes/modeled: (*CachedModeledFramework) Updates": waits(func(f *fixture) call {
			c := started(f, cached(f), nil)
			return func(ctx context.Context) error { return all(c.Updates(ctx)) }
		}),
		"recipes/modeled: (*CachedModeledFramework) ReadThrough": asks(func(f *fixture) call {
			c := started(f, cached(f), nil)
			return func(ctx context.Context) error {
				return value(c.ReadThrough(ctx, modeled.ParseZPath(f.path+"/model/x")))
			}
		}),
		"recipes/modeled: (ModeledFramework) ChildNodes": ofModel(func(ctx context.Context, m modeled.ModeledFramework[string]) error { return value(m.ChildNodes(ctx)) }),
		"recipes/modeled: (ModeledFramework) Children":   ofModel(func(ctx context.Context, m modeled.ModeledFramework[string]) error { return value(m.Children(ctx)) }),
		"recipes/modeled: (ModeledFramework) Delete":     ofModel(func(ctx context.Context, m modeled.ModeledFramework[string]) error { return m.Delete(ctx) }),
		"recipes/modeled: (ModeledFramework) Exists":     ofModel(func(ctx context.Context, m modeled.ModeledFramework[string]) error { return value(m.Exists(ctx)) }),
		"recipes/modeled: (ModeledFramework) Modify": ofModel(func(ctx context.Context, m modeled.ModeledFramework[string]) error {
			return value(m.Modify(ctx, func(s string) (string, error) { return s + "x", nil }))
		}),
		"recipes/modeled: (ModeledFramework) Read":   ofModel(func(ctx context.Context, m modeled.ModeledFramework[string]) error { return value(m.Read(ctx)) }),
		"recipes/modeled: (ModeledFramework) Set":    ofModel(func(ctx context.Context, m modeled.ModeledFramework[string]) error { return value(m.Set(ctx, "y")) }),
		"recipes/modeled: (ModeledFramework) Update": ofModel(func(ctx context.Context, m modeled.ModeledFramework[string]) error { return value(m.Update(ctx, "y")) }),
	}
}

func nodeRows() map[string]row {
	watcher := func(f *fixture) *watch.PersistentWatcher {
		w, err := watch.NewPersistentWatcher(f.client, f.path, framework.PersistentRecursive)
		return made(f, w, err)
	}
	node := func(f *fixture) *nodes.PersistentNode {
		n, err := nodes.NewPersistentNode(f.client, f.path+"/kept", framework.Ephemeral, nil)
		return made(f, n, err)
	}
	member := func(f *fixture) *nodes.GroupMember {
		m, err := nodes.NewGroupMember(f.client, f.path+"/group", "id", nil)
		return made(f, m, err)
	}
	return map[string]row{
		"recipes/nodes: (*PersistentNode) Start": asks(func(f *fixture) call { return node(f).Start }),
		"recipes/nodes: (*PersistentNode) SetData": goesOn(func(f *fixture) call {
			n := started(f, node(f), nil)
			return func(ctx context.Context) error { return n.SetData(ctx, []byte("x")) }
		}),
		"recipes/nodes: (*GroupMember) Start": asks(func(f *fixture) call { return member(f).Start }),
		"recipes/nodes: (*GroupMember) SetPayload": goesOn(func(f *fixture) call {
			m := started(f, member(f), nil)
			return func(ctx context.Context) error { return m.SetPayload(ctx, []byte("x")) }
		}),
		"recipes/nodes: (*GroupMember) Updates": waits(func(f *fixture) call {
			m := started(f, member(f), nil)
			return func(ctx context.Context) error { return all(m.Updates(ctx)) }
		}),
		"recipes/watch: (*PersistentWatcher) Start": asks(func(f *fixture) call { return watcher(f).Start }),
		"recipes/watch: (*PersistentWatcher) Events": waits(func(f *fixture) call {
			w := started(f, watcher(f), nil)
			return func(ctx context.Context) error { return all(w.Events(ctx)) }
		}),
	}
}
