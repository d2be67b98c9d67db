package cacheddecision

import (
	"context"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/recipes/cache"
	"github.com/go-curator/curator/recipes/locks"
	"github.com/go-curator/curator/recipes/modeled"
	"github.com/go-curator/curator/recipes/shared"
)

// The server compares the version.
func conditional(ctx context.Context, client *framework.Client, orders *cache.CuratorCache, data []byte) error {
	if node, ok := orders.Get("/orders/1"); ok && string(node.Data) == "new" {
		_, err := client.SetData().WithVersion(node.Stat.Version).ForPath(ctx, "/orders/1", data)
		return err
	}
	return nil
}

// The server compares the version, and checks whether the lock is held.
func guarded(ctx context.Context, client *framework.Client, lease *locks.Lease, orders *cache.CuratorCache, data []byte) error {
	node, ok := orders.Get("/orders/1")
	if !ok {
		return nil
	}
	_, err := lease.Guard(ctx, client.TransactionOp().SetData().WithVersion(node.Stat.Version).ForPath("/orders/1", data))
	return err
}

// The decision is about one node, and the writes are to another one.
func checked(ctx context.Context, client *framework.Client, lease *locks.Lease, jobs *cache.CuratorCache) error {
	for path, node := range jobs.All() {
		if string(node.Data) != "done" {
			continue
		}
		_, err := lease.Guard(ctx,
			client.TransactionOp().Check().WithVersion(node.Stat.Version).ForPath(path),
			client.TransactionOp().Delete().ForPath(path+"/input"),
		)
		if err != nil {
			return err
		}
	}
	return nil
}

// A create is refused if the node exists.
func create(ctx context.Context, client *framework.Client, jobs *cache.CuratorCache) error {
	if _, ok := jobs.Get("/jobs/1"); !ok {
		_, err := client.Create().ForPath(ctx, "/jobs/1")
		return err
	}
	return nil
}

// For a switch in the configuration it does not matter that its cached value may be old.
func configured(ctx context.Context, client *framework.Client, config *cache.CuratorCache, status []byte) error {
	if node, ok := config.Get("/config/report"); !ok || string(node.Data) != "yes" {
		return nil
	}
	_, err := client.SetData().ForPath(ctx, "/status/1", status)
	return err
}

// The decision is on a value that was read from the server.
func read(ctx context.Context, client *framework.Client, data []byte) error {
	old, err := client.GetData().ForPath(ctx, "/orders/1")
	if err != nil || string(old) != "new" {
		return err
	}
	_, err = client.SetData().ForPath(ctx, "/orders/1", data)
	return err
}

// The builder in the variable has a version already.
func kept(ctx context.Context, client *framework.Client, orders *cache.CuratorCache) error {
	node, ok := orders.Get("/orders/1")
	remove := client.Delete().WithVersion(node.Stat.Version)
	if ok {
		return remove.ForPath(ctx, "/orders/1")
	}
	return nil
}

// The builder is a parameter, so it is not known whether it has a version.
func given(ctx context.Context, remove framework.DeleteBuilder, orders *cache.CuratorCache) error {
	if _, ok := orders.Get("/orders/1"); ok {
		return remove.ForPath(ctx, "/orders/1")
	}
	return nil
}

// The result of the program's own function is not treated as a cached value.
func examined(ctx context.Context, client *framework.Client, orders *cache.CuratorCache) error {
	node, _ := orders.Get("/orders/1")
	if err := examine(node); err != nil {
		return err
	}
	return client.Delete().ForPath(ctx, "/orders/1")
}

func examine(cache.ChildData) error { return nil }

func model2(ctx context.Context, orders modeled.ModeledFramework[order], known *modeled.CachedModeledFramework[order], path modeled.ZPath) error {
	node, ok := known.Get(path)
	if !ok {
		return nil
	}
	_, err := orders.WithPath(path).WithVersion(node.Stat.Version).Update(ctx, order{"paid"})
	return err
}

func tried(ctx context.Context, count *shared.Count) error {
	now := count.VersionedValue()
	_, _, err := count.TrySet(ctx, now, now.Value+1)
	return err
}

func replaced(ctx context.Context, value *shared.Value[order]) error {
	_, err := value.Set(ctx, order{"new"})
	return err
}
