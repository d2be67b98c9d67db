package watch_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/recipes/watch"
	"github.com/go-curator/curator/retry"
)

// A program that is told of everything that happens below a node.
func ExamplePersistentWatcher() {
	ctx := context.Background()
	client, err := framework.NewClient(connectString, retry.ExponentialBackoff(time.Second, 3))
	if err != nil {
		log.Fatal(err)
	}
	if err := client.Start(ctx); err != nil {
		log.Fatal(err)
	}
	defer client.Close(ctx)

	watcher, err := watch.NewPersistentWatcher(client, "/orders", framework.PersistentRecursive)
	if err != nil {
		log.Fatal(err)
	}
	events := make(chan framework.WatchedEvent, 1)
	watcher.Listenable().Add(func(_ context.Context, event framework.WatchedEvent) { events <- event })
	if err := watcher.Start(ctx); err != nil {
		log.Fatal(err)
	}
	defer watcher.Close(ctx)

	if _, err := client.Create().ForPath(ctx, "/orders"); err != nil {
		log.Fatal(err)
	}
	event := <-events
	fmt.Println(event.Type == framework.NodeCreated, event.Path)
	// Output: true /orders
}
