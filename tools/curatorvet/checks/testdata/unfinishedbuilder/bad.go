// Package unfinishedbuilder has operations that are never sent.
package unfinishedbuilder

import (
	"context"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/recipes/cache"
)

func noTerminal(client *framework.Client, data []byte) {
	client.Create().CreatingParentsIfNeeded().WithData(data) // want `the chain has no terminal, so nothing is sent: end it with ForPath or InBackground`
	_ = client.Delete().Guaranteed()                         // want `end it with ForPath or InBackground`
	defer client.Sync()                                      // want `end it with ForPath or InBackground`
	client.Transaction()                                     // want `end it with ForOperations or InBackground`
	client.Watches().Add()                                   // want `end it with ForPath or InBackground`
}

func stepDropped(ctx context.Context, client *framework.Client) error {
	create := client.Create()
	create.WithMode(framework.Ephemeral) // want `create.WithMode returns a copy, which is dropped: assign it, or end the chain with its terminal`
	_, err := create.ForPath(ctx, "/worker")
	return err
}

func noCommit(client *framework.Client, data []byte) {
	client.TransactionOp().SetData().ForPath("/orders/1", data) // want `the operation is not committed: pass it to Transaction\(\).ForOperations, Batch\(\).ForOperations or Lease.Guard`
	client.TransactionOp().Delete()                             // want `the operation is not complete: end the chain with ForPath`
	client.TransactionOp()                                      // want `the operation is not complete`
}

func noBuild(ctx context.Context, c *cache.CuratorCache) {
	cache.NewListener().ForInitialized(func(context.Context) {}) // want `end it with Build`
	_ = c.Start(ctx)
}
