package migration_test

import (
	"context"
	"errors"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/recipes/nodes"
	"github.com/go-curator/curator/recipes/watch"
)

func kept(ctx context.Context, client *framework.Client) (err error) {
	node, err := nodes.NewPersistentNode(client, "/addresses/store", framework.Ephemeral, data)
	if err != nil {
		return err
	}
	starting, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	if err := node.Start(starting); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, node.Close(ctx)) }()

	return run(ctx, client)
}

func member(ctx context.Context, client *framework.Client) (err error) {
	member, err := nodes.NewGroupMember(client, "/group", "worker-1", data)
	if err != nil {
		return err
	}
	if err := member.Start(ctx); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, member.Close(ctx)) }()

	use(member.Members()["worker-1"])
	return nil
}

func persistentWatcher(ctx context.Context, client *framework.Client) (err error) {
	watcher, err := watch.NewPersistentWatcher(client, "/orders", framework.PersistentRecursive)
	if err != nil {
		return err
	}
	watcher.Listenable().Add(func(ctx context.Context, event framework.WatchedEvent) {
		reload(ctx, event.Path) // also for framework.WatchReset
	})
	if err := watcher.Start(ctx); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, watcher.Close(ctx)) }()

	return run(ctx, client)
}
