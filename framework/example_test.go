package framework_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/retry"
)

func Example() {
	ctx := context.Background()
	client, err := framework.NewClient(connectString, retry.ExponentialBackoff(time.Second, 3))
	if err != nil {
		log.Fatal(err)
	}
	if err := client.Start(ctx); err != nil {
		log.Fatal(err)
	}
	defer client.Close(ctx)

	path, err := client.Create().CreatingParentsIfNeeded().WithData([]byte("hello")).ForPath(ctx, "/app/greeting")
	if err != nil {
		log.Fatal(err)
	}
	var stat framework.Stat
	data, err := client.GetData().StoringStatIn(&stat).ForPath(ctx, path)
	if err != nil {
		log.Fatal(err)
	}
	if _, err := client.SetData().WithVersion(stat.Version).ForPath(ctx, path, []byte("bye")); err != nil {
		log.Fatal(err)
	}
	err = client.Delete().Guaranteed().ForPath(ctx, path)
	fmt.Println(path, string(data), err)
	// Output: /app/greeting hello <nil>
}

func ExampleClient_Transaction() {
	ctx := context.Background()
	client := start(ctx)
	defer client.Close(ctx)

	op := client.TransactionOp()
	_, err := client.Transaction().ForOperations(ctx,
		op.Create().WithData([]byte("100")).ForPath("/account"),
		op.SetData().WithVersion(0).ForPath("/account", []byte("90")),
		op.Check().WithVersion(7).ForPath("/account"))
	fmt.Println(err)
	exists, err := client.CheckExists().ForPath(ctx, "/account")
	fmt.Println("applied:", exists, err)
	// Output:
	// check /account: version differs
	// applied: false <nil>
}

func ExampleNewWatcher() {
	ctx := context.Background()
	client := start(ctx)
	defer client.Close(ctx)

	if _, err := client.Create().ForPath(ctx, "/watched"); err != nil {
		log.Fatal(err)
	}
	changes := make(chan framework.WatchedEvent)
	watcher := framework.NewWatcher(func(ctx context.Context, event framework.WatchedEvent) { changes <- event })
	if _, err := client.GetData().UsingWatcher(watcher).ForPath(ctx, "/watched"); err != nil {
		log.Fatal(err)
	}
	if _, err := client.SetData().ForPath(ctx, "/watched", []byte("new")); err != nil {
		log.Fatal(err)
	}
	event := <-changes
	fmt.Println(event.Path, event.Type == framework.NodeDataChanged)
	// Output: /watched true
}

func start(ctx context.Context, opts ...framework.Option) *framework.Client {
	client, err := framework.NewClient(connectString, retry.ExponentialBackoff(time.Second, 3), opts...)
	if err != nil {
		log.Fatal(err)
	}
	if err := client.Start(ctx); err != nil {
		log.Fatal(err)
	}
	return client
}
