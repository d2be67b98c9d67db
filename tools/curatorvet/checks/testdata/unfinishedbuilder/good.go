package unfinishedbuilder

import (
	"context"
	"errors"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/recipes/cache"
	"github.com/go-curator/curator/recipes/locks"
)

func finished(ctx context.Context, client *framework.Client, data []byte) error {
	_, err := client.Create().CreatingParentsIfNeeded().WithData(data).ForPath(ctx, "/orders/1")
	return errors.Join(err,
		client.Delete().Guaranteed().ForPath(ctx, "/orders/2"),
		client.Sync().InBackground(ctx, "/orders", nil))
}

// The beginning of a chain may be kept and used more than once.
func shared(ctx context.Context, client *framework.Client) error {
	create := client.Create().WithMode(framework.Ephemeral)
	create = create.CreatingParentsIfNeeded()
	for _, path := range []string{"/a", "/b"} {
		if _, err := create.ForPath(ctx, path); err != nil {
			return err
		}
	}
	return nil
}

func prepared(client *framework.Client) framework.CreateBuilder {
	return client.Create().WithMode(framework.Ephemeral)
}

func committed(ctx context.Context, client *framework.Client, lease *locks.Lease, data []byte) error {
	op := client.TransactionOp().SetData().ForPath("/orders/1", data)
	_, err := lease.Guard(ctx, op, client.TransactionOp().Delete().ForPath("/orders/2"))
	return err
}

func built(c *cache.CuratorCache) (remove func()) {
	return c.Listenable().Add(cache.NewListener().ForInitialized(func(context.Context) {}).Build())
}

func ignoredError(ctx context.Context, client *framework.Client) {
	_ = client.Delete().Quietly().ForPath(ctx, "/orders/1")
}
