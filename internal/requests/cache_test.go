package requests_test

import (
	"context"
	"fmt"
	"iter"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/framework/codec"
	"github.com/go-curator/curator/recipes/cache"
	"github.com/go-curator/curator/recipes/modeled"
)

func cacheCases() []tableCase {
	type maker func(c *framework.Client, path string, opts ...cache.Option) (*cache.CuratorCache, error)
	life := func(op, row string, of maker, opts ...cache.Option) tableCase {
		return tableCase{"recipes/cache: " + op, row, func(f *fixture) { cacheLife(f, of, opts...) }}
	}
	return []tableCase{
		life("(*CuratorCache) Start", "a tree", cache.NewCuratorCache),
		life("NewNodeCache", "a tree", cache.NewNodeCache),
		life("NewPathChildrenCache", "a tree", cache.NewPathChildrenCache),
		life("WithCompressedData", "a tree", cache.NewCuratorCache, cache.WithCompressedData()),
		life("WithMaxLag", "none", cache.NewCuratorCache, cache.WithMaxLag(0)),
		life("WithoutData", "a tree", cache.NewCuratorCache, cache.WithoutData()),
		life("WithSelector", "nothing below a", cache.NewCuratorCache, cache.WithSelector(func(path string) (bool, bool) { return true, path != "/tree/a" })),
		life("WithStartInBackground", "a tree", cache.NewCuratorCache, cache.WithStartInBackground()),
		{"recipes/cache: (*CuratorCache) Start", "the node is missing", func(f *fixture) {
			c, err := cache.NewCuratorCache(f.client, "/missing")
			f.ok(err)
			f.step("Start", func() { started(f, c) })
			f.step("another client creates it", func() { f.nodes("/missing") })
			f.step("and a child", func() { f.nodes("/missing/child") })
		}},
		{"recipes/cache: (*CuratorCache) Start", "a hundred nodes", func(f *fixture) {
			for i := range 100 {
				f.nodes(fmt.Sprintf("/tree/%03d", i))
			}
			c, err := cache.NewCuratorCache(f.client, "/tree")
			f.ok(err)
			f.unordered("Start", func() { started(f, c) })
		}},
	}
}

// readCacheCases are of a cache that runs.
func readCacheCases() []tableCase {
	return []tableCase{
		{"recipes/cache: (*CuratorCache) Await", "behind a write", func(f *fixture) {
			f.nodes("/tree")
			c, err := cache.NewCuratorCache(f.client, "/tree")
			f.ok(err)
			started(f, c)
			f.unordered("call", func() {
				stat, err := f.other.SetData().ForPath(f.Context(), "/tree", nil)
				f.ok(err)
				f.ok(c.Await(f.Context(), stat.Mzxid))
			})
		}},
		updates("recipes/cache: (*CuratorCache) Updates", func(f *fixture) (func(ctx context.Context) iter.Seq[cache.Update], func()) {
			f.nodes("/tree")
			c, err := cache.NewCuratorCache(f.client, "/tree")
			f.ok(err)
			return started(f, c).Updates, func() { f.nodes("/tree/x") }
		}),
		updates("recipes/cache: (*Typed) Updates", func(f *fixture) (func(ctx context.Context) iter.Seq[[]cache.TypedEvent[string]], func()) {
			f.nodes("/tree")
			c, err := cache.NewCuratorCache(f.client, "/tree")
			f.ok(err)
			typed, err := cache.NewTyped(c, func(node cache.ChildData) (string, error) { return string(node.Data), nil })
			f.ok(err)
			started(f, c)
			return typed.Updates, func() { f.nodes("/tree/x") }
		}),
	}
}

// cacheLife is from Start to Close, with changes, and the loss of the connection and the session.
func cacheLife(f *fixture, of func(c *framework.Client, path string, opts ...cache.Option) (*cache.CuratorCache, error), opts ...cache.Option) {
	for _, path := range []string{"/tree", "/tree/a", "/tree/a/b", "/tree/c"} {
		f.must(f.other.Create().Compressed().ForPath(f.Context(), path))
	}
	c, err := of(f.client, "/tree", opts...)
	f.ok(err)
	f.unordered("Start", func() { started(f, c) })
	f.step("another client creates a node", func() { f.must(f.other.Create().Compressed().ForPath(f.Context(), "/tree/d")) })
	f.step("and writes it", func() { f.must(f.other.SetData().Compressed().ForPath(f.Context(), "/tree/d", []byte("x"))) })
	f.step("and deletes it", func() { f.ok(f.other.Delete().ForPath(f.Context(), "/tree/d")) })
	f.step("and writes below a", func() { f.must(f.other.SetData().Compressed().ForPath(f.Context(), "/tree/a/b", []byte("x"))) })
	f.cut()
	f.expire()
	f.unordered("another client writes while the connection is cut", func() {
		accept := f.server.Refuse()
		f.server.DisconnectSession(f.client.SessionID())
		f.must(f.other.SetData().Compressed().ForPath(f.Context(), "/tree/c", []byte("x")))
		f.ok(f.other.Delete().DeletingChildrenIfNeeded().ForPath(f.Context(), "/tree/a"))
		f.must(f.other.Create().Compressed().ForPath(f.Context(), "/tree/e"))
		accept()
	})
	f.step("Close", func() { f.ok(c.Close(f.Context())) })
}

func modeledCases() []tableCase {
	type model = modeled.ModeledFramework[string]
	of := func(f *fixture, spec modeled.ModelSpec[string]) model {
		spec.Path, spec.Codec = modeled.ParseZPath("/parent/model"), codec.String()
		return modeled.Wrap(f.client, spec)
	}
	var all []tableCase
	add := func(name, request string, call func(f *fixture, m model) error) {
		all = append(all, tableCase{"recipes/modeled: (ModeledFramework) " + name, "missing, then there", func(f *fixture) {
			m := of(f, modeled.ModelSpec[string]{})
			f.step("the node is missing", func() { _ = call(f, m) }) // some fail
			f.must(m.Set(f.Context(), "x"))
			f.nodes("/parent/model/a", "/parent/model/b")
			f.unordered("a Set, two children, and the call", func() { _ = call(f, m) })
		}}, tableCase{"recipes/modeled: (ModeledFramework) " + name, "an answer is lost", func(f *fixture) {
			m := of(f, modeled.ModelSpec[string]{DeletingChildrenIfNeeded: true})
			f.must(m.Set(f.Context(), "x"))
			f.nodes("/parent/model/a", "/parent/model/b")
			f.step("call", func() {
				f.unanswered(request)
				_ = call(f, m)
			})
		}})
	}
	add("ChildNodes", "getData", func(f *fixture, m model) error { return value(m.ChildNodes(f.Context())) })
	add("Children", "getChildren", func(f *fixture, m model) error { return value(m.Children(f.Context())) })
	add("Delete", "delete", func(f *fixture, m model) error { return m.Delete(f.Context()) })
	add("Exists", "exists", func(f *fixture, m model) error { return value(m.Exists(f.Context())) })
	add("Modify", "setData", func(f *fixture, m model) error {
		return value(m.Modify(f.Context(), func(s string) (string, error) { return s + "x", nil }))
	})
	add("Read", "getData", func(f *fixture, m model) error { return value(m.Read(f.Context())) })
	add("Set", "setData", func(f *fixture, m model) error { return value(m.Set(f.Context(), "y")) })
	add("Update", "setData", func(f *fixture, m model) error { return value(m.Update(f.Context(), "y")) })
	return all
}

// modelSpecCases are of the fields of ModelSpec, and of operations in transactions.
func modelSpecCases() []tableCase {
	var all []tableCase
	read := framework.ACL{Perms: framework.PermAll, Scheme: "world", ID: "anyone"}
	for _, c := range []struct {
		row  string
		spec modeled.ModelSpec[string]
	}{
		{"compressed", modeled.ModelSpec[string]{Compressed: true}},
		{"create only", modeled.ModelSpec[string]{CreateOnly: true}},
		{"with an ACL", modeled.ModelSpec[string]{ACL: []framework.ACL{read, read}}},
		{"ephemeral", modeled.ModelSpec[string]{Mode: framework.Ephemeral}},
		{"sequential", modeled.ModelSpec[string]{Mode: framework.PersistentSequential}},
		{"persistent parents", modeled.ModelSpec[string]{PersistentParents: true}},
		{"protected", modeled.ModelSpec[string]{Protected: true, CreateOnly: true}},
		{"without parents", modeled.ModelSpec[string]{WithoutParents: true}},
		{"with a time to live", modeled.ModelSpec[string]{Mode: framework.PersistentWithTTL, TTL: 1e12}},
	} {
		all = append(all, tableCase{"recipes/modeled: (ModeledFramework) Set", c.row, func(f *fixture) {
			c.spec.Path, c.spec.Codec = modeled.ParseZPath("/parent/model"), codec.String()
			m := modeled.Wrap(f.client, c.spec)
			f.step("call", func() { _ = value(m.Set(f.Context(), "x")) }) // a parent may be missing
			f.step("call again", func() { _ = value(m.Set(f.Context(), "x")) })
		}})
	}
	return append(all, tableCase{"recipes/modeled: (ModeledFramework) WithVersion", "each call", func(f *fixture) {
		f.nodes("/parent/model")
		m := modeled.Wrap(f.client, modeled.ModelSpec[string]{Path: modeled.ParseZPath("/parent/model"), Codec: codec.String()})
		f.step("Set", func() { f.must(m.WithVersion(0).Set(f.Context(), "x")) })
		f.step("Update", func() { f.must(m.WithVersion(1).Update(f.Context(), "y")) })
		f.step("Delete", func() { f.ok(m.WithVersion(2).Delete(f.Context())) })
	}}, tableCase{"recipes/modeled: (ModeledFramework) Delete", "quietly, with children", func(f *fixture) {
		f.nodes("/parent/model/child")
		m := modeled.Wrap(f.client, modeled.ModelSpec[string]{
			Path: modeled.ParseZPath("/parent/model"), Codec: codec.String(), Quietly: true, DeletingChildrenIfNeeded: true,
		})
		f.step("call", func() { f.ok(m.Delete(f.Context())) })
		f.step("call again", func() { f.ok(m.Delete(f.Context())) })
	}}, tableCase{"recipes/modeled: (ModeledFramework) CreateOp", "each operation in a transaction", func(f *fixture) {
		f.nodes("/parent")
		m := modeled.Wrap(f.client, modeled.ModelSpec[string]{Path: modeled.ParseZPath("/parent/model"), Codec: codec.String()})
		f.step("call", func() {
			f.must(f.client.Transaction().ForOperations(f.Context(), m.CreateOp("x"), m.CheckOp(), m.UpdateOp("y"), m.WithVersion(1).UpdateOp("z"), m.DeleteOp()))
		})
	}})
}

func cachedModelCases() []tableCase {
	of := func(f *fixture, opts ...modeled.CachedOption) *modeled.CachedModeledFramework[string] {
		m := modeled.Wrap(f.client, modeled.ModelSpec[string]{Path: modeled.ParseZPath("/parent/model"), Codec: codec.String()})
		f.nodes("/parent/model/a")
		c, err := m.Cached(opts...)
		return made(f, c, err)
	}
	life := func(op string, opts ...modeled.CachedOption) tableCase {
		return tableCase{"recipes/modeled: " + op, "until Close", func(f *fixture) {
			c := of(f, opts...)
			f.step("Start", func() { started(f, c) })
			f.cut()
			f.step("Close", func() { f.ok(c.Close(f.Context())) })
		}}
	}
	return []tableCase{
		life("(*CachedModeledFramework) Start"),
		updates("recipes/modeled: (*CachedModeledFramework) Updates", func(f *fixture) (func(ctx context.Context) iter.Seq[[]modeled.Change[string]], func()) {
			return started(f, of(f)).Updates, func() { f.nodes("/parent/model/b") }
		}),
		life("WithStartInBackground", modeled.WithStartInBackground()),
		{"recipes/modeled: (*CachedModeledFramework) Await", "behind a write", func(f *fixture) {
			c := started(f, of(f))
			f.unordered("call", func() {
				stat, err := f.other.SetData().ForPath(f.Context(), "/parent/model", nil)
				f.ok(err)
				f.ok(c.Await(f.Context(), stat.Mzxid))
			})
		}},
		{"recipes/modeled: (*CachedModeledFramework) ReadThrough", "there, and missing", func(f *fixture) {
			c := started(f, of(f))
			f.step("there", func() { f.must(c.ReadThrough(f.Context(), modeled.ParseZPath("/parent/model/a"))) })
			f.step("missing", func() { _ = value(c.ReadThrough(f.Context(), modeled.ParseZPath("/parent/model/x"))) })
		}},
	}
}
