package migration_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/recipes/cache"
)

func curatorCache(ctx context.Context, client *framework.Client) (err error) {
	workers, err := cache.NewCuratorCache(client, "/workers")
	if err != nil {
		return err
	}
	workers.Listenable().Add(cache.NewListener().
		ForChanges(func(ctx context.Context, before, after cache.ChildData) { reload(ctx, after.Path) }).
		ForDeletes(func(ctx context.Context, before cache.ChildData) { reload(ctx, before.Path) }).
		AfterInitialized().
		Build())
	if err := workers.Start(ctx); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, workers.Close(ctx)) }()

	if node, ok := workers.Get("/workers/1"); ok {
		use(node.Data)
	}
	return run(ctx, client)
}

func updates(ctx context.Context, workers *cache.CuratorCache) {
	for update := range workers.Updates(ctx) {
		for _, event := range update.Events {
			reload(ctx, event.Path)
		}
	}
}

func nodeCache(ctx context.Context, client *framework.Client) (err error) {
	config, err := cache.NewNodeCache(client, "/config")
	if err != nil {
		return err
	}
	if err := config.Start(ctx); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, config.Close(ctx)) }()

	if node, ok := config.Get("/config"); ok {
		use(node.Data)
	}
	config.Listenable().Add(func(ctx context.Context, event cache.Event) { reload(ctx, event.Path) })
	return run(ctx, client)
}

func pathChildrenCache(ctx context.Context, client *framework.Client) (err error) {
	workers, err := cache.NewPathChildrenCache(client, "/workers")
	if err != nil {
		return err
	}
	if err := workers.Start(ctx); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, workers.Close(ctx)) }()

	for _, node := range workers.Children("/workers") {
		use(node.Data)
	}
	workers.Listenable().Add(func(ctx context.Context, event cache.Event) {
		if event.Type == cache.NodeDeleted {
			reload(ctx, event.Path)
		}
	})
	return run(ctx, client)
}

func treeCache(ctx context.Context, client *framework.Client) (err error) {
	tree, err := cache.NewCuratorCache(client, "/config", cache.WithoutData(),
		cache.WithSelector(func(path string) (accept, descend bool) { return true, path != "/config/secret" }))
	if err != nil {
		return err
	}
	tree.Listenable().Add(func(ctx context.Context, event cache.Event) {
		if event.Type == cache.NodeChanged {
			use(event.New.Data)
		}
	})
	if err := tree.Start(ctx); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, tree.Close(ctx)) }()

	for name := range tree.Children("/config") {
		reload(ctx, name)
	}
	return run(ctx, client)
}

func twoLevels(client *framework.Client) (*cache.CuratorCache, error) {
	const root = "/config"
	depth := func(path string) int { return strings.Count(strings.TrimPrefix(path, root), "/") }
	return cache.NewCuratorCache(client, root,
		cache.WithSelector(func(path string) (accept, descend bool) { return true, depth(path) < 2 }))
}

// changing has run make a change, and wait for what follows of it.
func changing(do func(ctx context.Context, client *framework.Client) error, want ...string) {
	run = func(ctx context.Context, client *framework.Client) error {
		if err := do(ctx, client); err != nil {
			return err
		}
		return await(ctx, want...)
	}
}

func setData(path string) func(ctx context.Context, client *framework.Client) error {
	return func(ctx context.Context, client *framework.Client) error {
		_, err := client.SetData().ForPath(ctx, path, []byte("new"))
		return err
	}
}

// cacheTopics are the parts of the document about caches.
var cacheTopics = []topic{
	{"CuratorCache", []string{"/workers", "/workers/1"}, func(ctx context.Context, client *framework.Client) error {
		changing(setData("/workers/1"), "use old", "reload /workers/1")
		return curatorCache(ctx, client)
	}, nil},
	{"updates", []string{"/workers"}, func(ctx context.Context, client *framework.Client) error {
		workers, err := cache.NewCuratorCache(client, "/workers")
		if err != nil {
			return err
		}
		if err := workers.Start(ctx); err != nil {
			return err
		}
		ctx, cancel := context.WithTimeout(ctx, time.Minute)
		defer cancel()
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			updates(ctx, workers)
		}()
		err = await(ctx, "reload /workers")
		err = errors.Join(err, workers.Close(ctx))
		<-ended
		return err
	}, nil},
	{"NodeCache", []string{"/config"}, func(ctx context.Context, client *framework.Client) error {
		changing(setData("/config"), "use old", "reload /config")
		return nodeCache(ctx, client)
	}, nil},
	{"PathChildrenCache", []string{"/workers", "/workers/1"}, func(ctx context.Context, client *framework.Client) error {
		changing(func(ctx context.Context, client *framework.Client) error {
			return client.Delete().ForPath(ctx, "/workers/1")
		}, "use old", "reload /workers/1")
		return pathChildrenCache(ctx, client)
	}, nil},
	{"TreeCache", []string{"/config", "/config/secret", "/config/secret/x"}, func(ctx context.Context, client *framework.Client) error {
		changing(setData("/config/secret"), "reload secret", fmt.Sprintf("use %s", "new"))
		return treeCache(ctx, client)
	}, nil},
	{"two levels", []string{"/config", "/config/a", "/config/a/b", "/config/a/b/c"}, func(ctx context.Context, client *framework.Client) error {
		tree, err := twoLevels(client)
		if err != nil {
			return err
		}
		if err := tree.Start(ctx); err != nil {
			return err
		}
		if n := tree.Snapshot().Len(); n != 3 {
			err = fmt.Errorf("%d nodes", n)
		}
		return errors.Join(err, tree.Close(ctx))
	}, nil},
}
