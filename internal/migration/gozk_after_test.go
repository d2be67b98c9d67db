package migration_test

import (
	"context"
	"errors"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/framework/codec"
	"github.com/go-curator/curator/recipes/cache"
	"github.com/go-curator/curator/recipes/locks"
	"github.com/go-curator/curator/recipes/nodes"
	"github.com/go-curator/curator/recipes/shared"
	"github.com/go-curator/curator/retry"
)

// The programs of docs/from-go-zookeeper.md as they are written for package framework and the recipes.

func newConnect(ctx context.Context) (err error) {
	client, err := framework.NewClient(connectString, retry.ExponentialBackoff(time.Second, 3),
		framework.WithSessionTimeout(10*time.Second))
	if err != nil {
		return err
	}
	if err := client.Start(ctx); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, client.Close(ctx)) }()

	return run(ctx, client)
}

func newLimit(ctx context.Context, client *framework.Client) error {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	data, err := client.GetData().ForPath(ctx, "/config")
	if errors.Is(err, context.DeadlineExceeded) {
		return busy()
	}
	if err != nil {
		return err
	}
	use(data)
	return nil
}

func newChange(ctx context.Context, client *framework.Client) error {
	var stat framework.Stat
	data, err := client.GetData().StoringStatIn(&stat).ForPath(ctx, "/config")
	if errors.Is(err, framework.ErrNoNode) {
		return nil // not configured
	}
	if err != nil {
		return err
	}
	_, err = client.SetData().WithVersion(stat.Version).ForPath(ctx, "/config", edited(data))
	if errors.Is(err, framework.ErrBadVersion) {
		return conflict()
	}
	return err
}

func newConfig(ctx context.Context, client *framework.Client) (err error) {
	config, err := shared.NewValue(client, "/config", nil, codec.Bytes(), shared.WithoutCreate())
	if err != nil {
		return err
	}
	if err := config.Start(ctx); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, config.Close(ctx)) }()

	for now := range config.Updates(ctx) {
		use(now.Value)
	}
	return nil
}

func newWorkers(ctx context.Context, client *framework.Client) (err error) {
	workers, err := cache.NewPathChildrenCache(client, "/workers")
	if err != nil {
		return err
	}
	if err := workers.Start(ctx); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, workers.Close(ctx)) }()

	for update := range workers.Updates(ctx) {
		for _, node := range update.Snapshot.Children("/workers") {
			use(node.Data)
		}
	}
	return nil
}

func newTryLock(ctx context.Context, client *framework.Client) error {
	mutex, err := locks.NewInterProcessMutex(client, "/locks/orders")
	if err != nil {
		return err
	}
	err = locks.TryDo(ctx, mutex, func(ctx context.Context, lease *locks.Lease) error {
		return work(ctx, lease.Token())
	})
	if errors.Is(err, locks.ErrNotAcquired) {
		return busy()
	}
	return err
}

func newRegister(ctx context.Context, client *framework.Client) (err error) {
	node, err := nodes.NewPersistentNode(client, "/services/10.0.0.7:8080", framework.Ephemeral, data)
	if err != nil {
		return err
	}
	if err := node.Start(ctx); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, node.Close(ctx)) }()

	return run(ctx, client)
}

func newPrivate(ctx context.Context) (err error) {
	client, err := framework.NewClient(connectString, retry.ExponentialBackoff(time.Second, 3),
		framework.WithAuthorization("digest", []byte("app:secret")))
	if err != nil {
		return err
	}
	if err := client.Start(ctx); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, client.Close(ctx)) }()

	_, err = client.Create().WithData(data).WithACL(framework.CreatorAllACL()...).ForPath(ctx, "/private")
	return err
}
