package sequences_test

import (
	"context"
	"fmt"
	"sync"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/framework/codec"
	"github.com/go-curator/curator/recipes/cache"
	"github.com/go-curator/curator/recipes/shared"
	"github.com/go-curator/curator/recipes/watch"
)

// components are all that are tested.
var components = []component{
	{name: "cache", make: newCache, refused: true},
	{name: "queue", make: newQueue},
	{name: "nodes", make: newNode},
	{name: "nodes with numbers", make: newNumberedNode},
	{name: "members", make: newMember},
	{name: "shared", make: newShared},
	{name: "watch", make: newWatcher},
	{name: "discovery", make: newDiscovery, refused: true},
	{name: "leader", make: newLatch},
	{name: "leader behind another", make: newLatchBehind},
}

func newCache(r *run) subject {
	r.other.create("/cache", "", 0)
	r.other.create("/cache/node", "", 0)
	c, err := cache.NewCuratorCache(r.client, "/cache")
	r.ok(err)
	var changed int64
	return subject{
		start: c.Start,
		close: c.Close,
		call:  func(ctx context.Context) error { return c.Await(ctx, r.other.zxid+1) },
		panics: func(ctx context.Context) {
			for range c.Updates(ctx) {
				panic(boom)
			}
		},
		event: func(n int) { r.other.set("/cache/node", fmt.Sprintf("event %d", n)) },
		change: func(n int) {
			r.other.set("/cache/node", fmt.Sprintf("change %d", n))
			changed = r.other.zxid
		},
		told: func(int) string {
			node, _ := c.Get("/cache/node")
			if node.Stat.Mzxid >= changed {
				return ""
			}
			return fmt.Sprintf("the cache has %q", node.Data)
		},
	}
}

func newShared(r *run) subject {
	r.other.create("/shared", "", 0)
	v, err := shared.NewValue(r.client, "/shared", "seed", codec.String())
	r.ok(err)
	var changed int64
	return subject{
		start: v.Start,
		close: v.Close,
		call: func(ctx context.Context) error {
			_, err := v.Set(ctx, "call")
			return err
		},
		panics: func(ctx context.Context) {
			_, _ = v.Update(ctx, func(string) (string, error) { panic(boom) })
		},
		event: func(n int) { r.other.set("/shared", fmt.Sprintf("event %d", n)) },
		change: func(n int) {
			r.other.set("/shared", fmt.Sprintf("change %d", n))
			changed = r.other.zxid
		},
		told: func(int) string {
			now := v.VersionedValue()
			if now.Zxid >= changed {
				return ""
			}
			return fmt.Sprintf("the value is %q", now.Value)
		},
	}
}

func newWatcher(r *run) subject {
	r.other.create("/watch", "", 0)
	w, err := watch.NewPersistentWatcher(r.client, "/watch", framework.PersistentRecursive)
	r.ok(err)
	var mu sync.Mutex
	heard, before, started := 0, 0, false
	w.Listenable().Add(func(context.Context, framework.WatchedEvent) {
		mu.Lock()
		defer mu.Unlock()
		heard++
	})
	return subject{
		start: func(ctx context.Context) error {
			err := w.Start(ctx)
			mu.Lock()
			defer mu.Unlock()
			started = err == nil
			return err
		},
		close: w.Close,
		call: func(ctx context.Context) error {
			_, err := r.client.CheckExists().ForPath(ctx, "/watch")
			return err
		},
		panics: func(ctx context.Context) {
			for range w.Events(ctx) {
				panic(boom)
			}
		},
		event: func(n int) { r.other.set("/watch", fmt.Sprintf("event %d", n)) },
		change: func(n int) {
			mu.Lock()
			if before = heard; !started {
				before = -1 // what was there before the watch is not told
			}
			mu.Unlock()
			r.other.set("/watch", fmt.Sprintf("change %d", n))
		},
		told: func(int) string {
			mu.Lock()
			defer mu.Unlock()
			if heard > before {
				return ""
			}
			return fmt.Sprintf("%d events were told, as before", heard)
		},
	}
}
