// Package cacheddecision has writes that rely on cached values.
package cacheddecision

import (
	"context"
	"strconv"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/recipes/cache"
	"github.com/go-curator/curator/recipes/locks"
	"github.com/go-curator/curator/recipes/modeled"
	"github.com/go-curator/curator/recipes/nodes"
	"github.com/go-curator/curator/recipes/shared"
)

type order struct{ State string }

func byPath(ctx context.Context, client *framework.Client, orders *cache.CuratorCache, data []byte) error {
	if node, ok := orders.Get("/orders/1"); ok && string(node.Data) == "new" {
		_, err := client.SetData().ForPath(ctx, "/orders/1", data) // want `the write relies on a cached value, which may be out of date when the write arrives: give it WithVersion; Lease.Guard refuses it if a lock is lost, too`
		return err
	}
	return nil
}

func earlyReturn(ctx context.Context, client *framework.Client, orders *cache.CuratorCache, path string) error {
	node, ok := orders.Get(path)
	if !ok || node.Stat.NumChildren > 0 {
		return nil
	}
	return client.Delete().ForPath(ctx, path) // want `give it WithVersion`
}

func increment(ctx context.Context, client *framework.Client, c *cache.CuratorCache) error {
	node, _ := c.Get("/count")
	n, err := strconv.Atoi(string(node.Data))
	if err != nil {
		return err
	}
	_, err = client.SetData().ForPath(ctx, "/count", []byte(strconv.Itoa(n+1))) // want `give it WithVersion`
	return err
}

func tooOld(ctx context.Context, client *framework.Client, jobs *cache.CuratorCache) error {
	for path, node := range jobs.All() {
		if time.Since(node.Stat.Mtime) < time.Hour {
			continue
		}
		if err := client.Delete().ForPath(ctx, path); err != nil { // want `give it WithVersion`
			return err
		}
	}
	return nil
}

func guardedButBlind(ctx context.Context, client *framework.Client, lease *locks.Lease, orders *cache.Typed[order], data []byte) error {
	node, _ := orders.Get("/orders/1")
	switch node.Value.State {
	case "new":
		_, err := lease.Guard(ctx, client.TransactionOp().SetData().ForPath("/orders/1", data)) // want `give it WithVersion, or a Check with a version in the same transaction`
		return err
	}
	return nil
}

func model(ctx context.Context, orders modeled.ModeledFramework[order], known *modeled.CachedModeledFramework[order], path modeled.ZPath) error {
	if node, ok := known.Get(path); ok && node.Model.State == "new" {
		_, err := orders.WithPath(path).Update(ctx, order{"paid"}) // want `give it WithVersion, or use Modify`
		return err
	}
	return nil
}

func member(ctx context.Context, client *framework.Client, group *nodes.GroupMember) error {
	for id, payload := range group.Members() {
		if len(payload) == 0 {
			return client.Delete().ForPath(ctx, "/members/"+id) // want `give it WithVersion`
		}
	}
	return nil
}

func count(ctx context.Context, count *shared.Count) error {
	_, err := count.Set(ctx, count.Count()+1) // want `use TrySet or Update`
	return err
}

func value(ctx context.Context, value *shared.Value[order]) error {
	if value.Get().State != "new" {
		return nil
	}
	_, err := value.Set(ctx, order{"paid"}) // want `use TrySet or Update`
	return err
}
