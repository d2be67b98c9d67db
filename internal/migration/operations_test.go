package migration_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/go-curator/curator/framework"
)

func create(ctx context.Context, client *framework.Client) error {
	path, err := client.Create().
		CreatingParentsIfNeeded().
		WithMode(framework.PersistentSequential).
		WithData(data).
		ForPath(ctx, "/jobs/new/job-")
	if err != nil {
		return err
	}
	fmt.Println(path) // /jobs/new/job-0000000000
	return nil
}

func protected(ctx context.Context, client *framework.Client) error {
	path, err := client.Create().
		CreatingParentContainersIfNeeded().
		WithProtection().
		WithMode(framework.EphemeralSequential).
		ForPath(ctx, "/workers/w-")
	if err != nil {
		return err
	}
	return client.Delete().Guaranteed().ForPath(ctx, path)
}

func defaults(ctx context.Context, client *framework.Client) error {
	if _, err := client.Create().ForPath(ctx, "/address"); err != nil { // the local IP address
		return err
	}
	if _, err := client.Create().WithData(nil).ForPath(ctx, "/empty"); err != nil {
		return err
	}
	_, err := client.SetData().ForPath(ctx, "/empty", client.DefaultData())
	return err
}

func compareAndSet(ctx context.Context, client *framework.Client) error {
	_, err := client.SetData().WithVersion(version).ForPath(ctx, "/config", data)
	if errors.Is(err, framework.ErrBadVersion) {
		return conflict()
	}
	return err
}

func remove(ctx context.Context, client *framework.Client) error {
	return client.Delete().Guaranteed().DeletingChildrenIfNeeded().ForPath(ctx, "/jobs/7")
}

func exists(ctx context.Context, client *framework.Client) error {
	var stat framework.Stat
	found, err := client.CheckExists().StoringStatIn(&stat).ForPath(ctx, "/config")
	if err != nil {
		return err
	}
	if found {
		fmt.Println(stat.Version)
	}
	return nil
}

func read(ctx context.Context, client *framework.Client) error {
	var stat framework.Stat
	data, err := client.GetData().StoringStatIn(&stat).ForPath(ctx, "/config")
	if errors.Is(err, framework.ErrNoNode) {
		return nil // not configured
	}
	if err != nil {
		return err
	}
	fmt.Println(len(data), stat.Version)
	return nil
}

func children(ctx context.Context, client *framework.Client) error {
	names, err := client.GetChildren().ForPath(ctx, "/workers")
	if err != nil {
		return err
	}
	for _, name := range names {
		fmt.Println("/workers/" + name)
	}
	return nil
}

func watchOnce(ctx context.Context, client *framework.Client) error {
	watcher := framework.NewWatcher(func(ctx context.Context, event framework.WatchedEvent) {
		reload(ctx, event.Path)
	})
	_, err := client.GetData().UsingWatcher(watcher).ForPath(ctx, "/config")
	return err
}

func watchTree(ctx context.Context, client *framework.Client) error {
	watcher := framework.NewWatcher(func(ctx context.Context, event framework.WatchedEvent) {
		reload(ctx, event.Path) // on framework.WatchReset everything: changes may have been missed
	})
	if err := client.Watches().Add().ForPath(ctx, "/workers", watcher); err != nil {
		return err
	}
	if err := run(ctx, client); err != nil {
		return err
	}
	return client.Watches().Remove().ForPath(ctx, "/workers", watcher)
}

func transaction(ctx context.Context, client *framework.Client) error {
	op := client.TransactionOp()
	results, err := client.Transaction().ForOperations(ctx,
		op.Check().WithVersion(version).ForPath("/config"),
		op.Create().WithData(data).ForPath("/jobs/9"),
		op.SetData().ForPath("/last", []byte("9")),
		op.Delete().ForPath("/jobs/8"))
	if err != nil {
		return err // none was applied, unless framework.MaybeApplied(err)
	}
	fmt.Println(results[1].Path)
	return nil
}

func background(ctx context.Context, client *framework.Client) error {
	return client.GetData().InBackground(ctx, "/config", func(ctx context.Context, data []byte, err error) {
		if err != nil {
			log.Print(err)
			return
		}
		use(data)
	})
}

func shortLived(ctx context.Context, client *framework.Client) error {
	_, err := client.Create().
		WithMode(framework.PersistentWithTTL).
		WithTTL(10*time.Minute).
		ForPath(ctx, "/offer")
	if err != nil {
		return err
	}
	_, err = client.Create().WithMode(framework.Container).ForPath(ctx, "/room")
	return err
}
