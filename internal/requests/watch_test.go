package requests_test

import (
	"context"
	"iter"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/recipes/watch"
)

// read is a builder that reads one node, by the steps that it may have.
type read struct {
	builder, request string
	call             func(ctx context.Context, c *framework.Client, path string) error
	storingStat      func(ctx context.Context, c *framework.Client, path string) error
	watched          func(ctx context.Context, c *framework.Client, path string) error
	usingWatcher     func(ctx context.Context, c *framework.Client, path string, w *framework.Watcher) error
}

var reads = []read{
	{
		"CheckExistsBuilder", "exists",
		func(ctx context.Context, c *framework.Client, path string) error {
			return value(c.CheckExists().ForPath(ctx, path))
		},
		func(ctx context.Context, c *framework.Client, path string) error {
			return value(c.CheckExists().StoringStatIn(new(framework.Stat)).ForPath(ctx, path))
		},
		func(ctx context.Context, c *framework.Client, path string) error {
			return value(c.CheckExists().Watched().ForPath(ctx, path))
		},
		func(ctx context.Context, c *framework.Client, path string, w *framework.Watcher) error {
			return value(c.CheckExists().UsingWatcher(w).ForPath(ctx, path))
		},
	},
	{
		"GetDataBuilder", "getData",
		func(ctx context.Context, c *framework.Client, path string) error {
			return value(c.GetData().ForPath(ctx, path))
		},
		func(ctx context.Context, c *framework.Client, path string) error {
			return value(c.GetData().StoringStatIn(new(framework.Stat)).ForPath(ctx, path))
		},
		func(ctx context.Context, c *framework.Client, path string) error {
			return value(c.GetData().Watched().ForPath(ctx, path))
		},
		func(ctx context.Context, c *framework.Client, path string, w *framework.Watcher) error {
			return value(c.GetData().UsingWatcher(w).ForPath(ctx, path))
		},
	},
	{
		"GetChildrenBuilder", "getChildren",
		func(ctx context.Context, c *framework.Client, path string) error {
			return value(c.GetChildren().ForPath(ctx, path))
		},
		func(ctx context.Context, c *framework.Client, path string) error {
			return value(c.GetChildren().StoringStatIn(new(framework.Stat)).ForPath(ctx, path))
		},
		func(ctx context.Context, c *framework.Client, path string) error {
			return value(c.GetChildren().Watched().ForPath(ctx, path))
		},
		func(ctx context.Context, c *framework.Client, path string, w *framework.Watcher) error {
			return value(c.GetChildren().UsingWatcher(w).ForPath(ctx, path))
		},
	},
	{
		"GetConfigBuilder", "getData",
		func(ctx context.Context, c *framework.Client, _ string) error {
			return value(c.GetConfig().ForEnsemble(ctx))
		},
		func(ctx context.Context, c *framework.Client, _ string) error {
			return value(c.GetConfig().StoringStatIn(new(framework.Stat)).ForEnsemble(ctx))
		},
		func(ctx context.Context, c *framework.Client, _ string) error {
			return value(c.GetConfig().Watched().ForEnsemble(ctx))
		},
		func(ctx context.Context, c *framework.Client, _ string, w *framework.Watcher) error {
			return value(c.GetConfig().UsingWatcher(w).ForEnsemble(ctx))
		},
	},
}

func watcher() *framework.Watcher {
	return framework.NewWatcher(func(context.Context, framework.WatchedEvent) {})
}

func watchCases() []tableCase {
	var all []tableCase
	for _, r := range reads {
		all = append(all, r.cases()...)
	}
	all = append(all, moreReads()...)
	all = append(all, persistentCases()...)
	all = append(all, removeCases()...)
	return append(all, recipeWatchCases()...)
}

func (r read) cases() []tableCase {
	terminal := "ForPath"
	if r.builder == "GetConfigBuilder" {
		terminal = "ForEnsemble"
	}
	name := "framework: (" + r.builder + ") "
	all := callOf(name+terminal, "there", r.request, func(f *fixture) error { return r.call(f.Context(), f.client, "/parent") })
	all = append(all,
		tableCase{name + terminal, "missing", func(f *fixture) {
			f.step("call", func() { _ = r.call(f.Context(), f.client, "/missing") }) // only some fail
		}},
		free(name+"StoringStatIn", "there", func(f *fixture) error { return r.storingStat(f.Context(), f.client, "/parent") }),
	)
	watched := func(option, path string, call func(f *fixture) error) tableCase {
		return tableCase{name + option, path[1:], func(f *fixture) {
			f.nodes("/there/child")
			f.step("call", func() { _ = call(f) })
			f.step("call again", func() { _ = call(f) })
			f.cut()
			f.step("call again", func() { _ = call(f) })
			f.step("another client changes the node", func() {
				f.must(f.other.Create().OrSetData().ForPath(f.Context(), path))
				f.must(f.other.Create().OrSetData().ForPath(f.Context(), path+"/x"))
			})
			f.cut()
		}}
	}
	for _, path := range []string{"/there", "/missing"} {
		if path == "/missing" && r.builder == "GetConfigBuilder" {
			break // it has no path
		}
		all = append(all,
			watched("Watched", path, func(f *fixture) error { return r.watched(f.Context(), f.client, path) }),
			watched("UsingWatcher", path, func(f *fixture) error { return r.usingWatcher(f.Context(), f.client, path, watcher()) }),
		)
	}
	return all
}

// moreReads are of the options that only one builder has.
func moreReads() []tableCase {
	exists := func(option, row, path string, build func(b framework.CheckExistsBuilder) framework.CheckExistsBuilder) []tableCase {
		return callOf("framework: (CheckExistsBuilder) "+option, row, "exists", func(f *fixture) error {
			return value(build(f.client.CheckExists()).ForPath(f.Context(), path))
		})
	}
	acl := framework.ACL{Perms: framework.PermRead | framework.PermCreate, Scheme: "world", ID: "anyone"}
	type builder = framework.CheckExistsBuilder
	all := []tableCase{
		free("framework: (GetDataBuilder) Undecompressed", "free", func(f *fixture) error {
			return value(f.client.GetData().Undecompressed().ForPath(f.Context(), "/node"))
		}),
		{"framework: (GetDataBuilder) Decompressed", "free", func(f *fixture) {
			f.must(f.other.Create().Compressed().ForPath(f.Context(), "/x"))
			f.step("call", func() { f.must(f.client.GetData().Decompressed().ForPath(f.Context(), "/x")) })
		}},
	}
	all = append(all, exists("CreatingParentsIfNeeded", "parent there", "/parent/x", builder.CreatingParentsIfNeeded)...)
	all = append(all, exists("CreatingParentsIfNeeded", "parents missing", "/a/b/x", builder.CreatingParentsIfNeeded)...)
	all = append(all, exists("CreatingParentContainersIfNeeded", "parents missing", "/a/b/x", builder.CreatingParentContainersIfNeeded)...)
	return append(all, exists("WithACL", "parents missing", "/a/b/x", func(b builder) builder {
		return b.WithACL(acl).CreatingParentsIfNeeded()
	})...)
}

// persistentCases are of watches that stay.
func persistentCases() []tableCase {
	of := func(op, row string, mode framework.AddWatchMode) tableCase {
		return tableCase{"framework: (AddWatchBuilder) " + op, row, func(f *fixture) {
			f.nodes("/node")
			w := watcher()
			add := func() { f.ok(f.client.Watches().Add().WithMode(mode).ForPath(f.Context(), "/node", w)) }
			f.step("call", add)
			f.step("the same again", add)
			f.step("another watcher", func() { f.ok(f.client.Watches().Add().WithMode(mode).ForPath(f.Context(), "/node", watcher())) })
			f.step("another client makes a child", func() { f.must(f.other.Create().ForPath(f.Context(), "/node/child")) })
			f.step("a read with a one-shot watch", func() { f.must(f.client.GetData().UsingWatcher(w).ForPath(f.Context(), "/node")) })
			f.cut()
			f.step("the watches are removed", func() { f.ok(f.client.Watches().Remove().ForPath(f.Context(), "/node", nil)) })
			f.cut()
		}}
	}
	all := callOf("framework: (AddWatchBuilder) ForPath", "free", "addWatch", func(f *fixture) error {
		return f.client.Watches().Add().ForPath(f.Context(), "/node", watcher())
	})
	return append(all,
		of("WithMode", "persistent", framework.PersistentWatch),
		of("WithMode", "recursive", framework.PersistentRecursive),
	)
}

func removeCases() []tableCase {
	type builder = framework.RemoveWatchBuilder
	of := func(option, row string, build func(b builder) builder) tableCase {
		return tableCase{"framework: (RemoveWatchBuilder) " + option, row, func(f *fixture) {
			f.nodes("/node")
			w, last := watcher(), watcher()
			f.step("three watches, and one of another watcher", func() {
				f.must(f.client.GetData().UsingWatcher(w).ForPath(f.Context(), "/node"))
				f.must(f.client.GetChildren().UsingWatcher(w).ForPath(f.Context(), "/node"))
				f.ok(f.client.Watches().Add().ForPath(f.Context(), "/node", w))
				f.must(f.client.GetData().UsingWatcher(last).ForPath(f.Context(), "/node"))
			})
			f.step("call", func() { f.ok(build(f.client.Watches().Remove()).ForPath(f.Context(), "/node", w)) })
			f.step("the other watcher", func() { f.ok(build(f.client.Watches().Remove()).Quietly().ForPath(f.Context(), "/node", last)) })
			f.cut()
		}}
	}
	return []tableCase{
		of("ForPath", "free", func(b builder) builder { return b }),
		of("OfType", "data", func(b builder) builder { return b.OfType(framework.DataWatcher) }),
		of("OfType", "children", func(b builder) builder { return b.OfType(framework.ChildrenWatcher) }),
		of("Guaranteed", "free", builder.Guaranteed),
		of("Locally", "free", builder.Locally),
		of("Quietly", "free", builder.Quietly),
		{"framework: (RemoveWatchBuilder) InBackground", "free", func(f *fixture) {
			f.nodes("/node")
			w := watcher()
			f.must(f.client.GetData().UsingWatcher(w).ForPath(f.Context(), "/node"))
			f.step("call", func() {
				f.ok(background(func(done func(err error)) error {
					return f.client.Watches().Remove().InBackground(f.Context(), "/node", w, func(_ context.Context, err error) { done(err) })
				}))
			})
		}},
		{"framework: (WatcherRemovingView) RemoveWatchers", "three watches", func(f *fixture) {
			f.nodes("/a", "/b")
			view := f.client.WatcherRemovingView()
			f.must(view.GetData().UsingWatcher(watcher()).ForPath(f.Context(), "/a"))
			f.must(view.GetChildren().UsingWatcher(watcher()).ForPath(f.Context(), "/b"))
			f.ok(view.Watches().Add().ForPath(f.Context(), "/b", watcher()))
			f.unordered("call", func() { f.ok(view.RemoveWatchers(f.Context())) })
			f.step("call again", func() { f.ok(view.RemoveWatchers(f.Context())) })
		}},
	}
}

// recipeWatchCases are those of package watch.
func recipeWatchCases() []tableCase {
	of := func(row string, mode framework.AddWatchMode, opts ...watch.Option) tableCase {
		op := "recipes/watch: (*PersistentWatcher) Start"
		if len(opts) > 0 {
			op = "recipes/watch: WithStartInBackground"
		}
		return tableCase{op, row, func(f *fixture) {
			f.nodes("/node")
			w, err := watch.NewPersistentWatcher(f.client, "/node", mode, opts...)
			f.ok(err)
			f.step("Start", func() { started(f, w) })
			f.step("another client makes a child", func() { f.must(f.other.Create().ForPath(f.Context(), "/node/child")) })
			f.cut()
			f.expire()
			f.step("Close", func() { f.ok(w.Close(f.Context())) })
		}}
	}
	return []tableCase{
		updates("recipes/watch: (*PersistentWatcher) Events", func(f *fixture) (func(ctx context.Context) iter.Seq[framework.WatchedEvent], func()) {
			w, err := watch.NewPersistentWatcher(f.client, "/node", framework.PersistentRecursive)
			f.ok(err)
			return started(f, w).Events, func() { f.nodes("/node") }
		}),
		of("recursive", framework.PersistentRecursive),
		of("persistent", framework.PersistentWatch),
		of("recursive", framework.PersistentRecursive, watch.WithStartInBackground()),
	}
}
