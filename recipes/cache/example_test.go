package cache_test

import (
	"context"
	"fmt"
	"log"
	"strconv"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/recipes/cache"
	"github.com/go-curator/curator/retry"
)

// connect returns a client that is started, of nodes that are the example's alone.
func connect(ctx context.Context, namespace string) (view *framework.Client, disconnect func()) {
	client, err := framework.NewClient(connectString, retry.NTimes(3, 0))
	if err != nil {
		log.Fatal(err)
	}
	if err := client.Start(ctx); err != nil {
		log.Fatal(err)
	}
	return client.UsingNamespace(namespace), func() { _ = client.Close(ctx) }
}

// set creates a node or sets its data, and returns its Stat.
func set(ctx context.Context, client *framework.Client, path, data string) (stat framework.Stat) {
	_, err := client.Create().OrSetData().CreatingParentsIfNeeded().WithData([]byte(data)).StoringStatIn(&stat).ForPath(ctx, path)
	if err != nil {
		log.Fatal(err)
	}
	return stat
}

func ExampleCuratorCache() {
	ctx := context.Background()
	client, disconnect := connect(ctx, "example-tree")
	defer disconnect()
	set(ctx, client, "/config/limits", "10")
	set(ctx, client, "/config/hosts/a", "up")

	config, err := cache.NewCuratorCache(client, "/config")
	if err != nil {
		log.Fatal(err)
	}
	if err := config.Start(ctx); err != nil { // returns when all is read
		log.Fatal(err)
	}
	defer config.Close(ctx)

	node, ok := config.Get("/config/limits")
	fmt.Println(string(node.Data), ok)
	for path, node := range config.All() {
		fmt.Printf("%s %q\n", path, node.Data)
	}
	for name := range config.Children("/config") {
		fmt.Println(name)
	}
	// Output:
	// 10 true
	// /config ""
	// /config/hosts ""
	// /config/hosts/a "up"
	// /config/limits "10"
	// hosts
	// limits
}

// Updates first has what there is, and then what changes.
func ExampleCuratorCache_Updates() {
	ctx := context.Background()
	client, disconnect := connect(ctx, "example-updates")
	defer disconnect()
	set(ctx, client, "/config/limits", "10")
	config, err := cache.NewCuratorCache(client, "/config")
	if err != nil {
		log.Fatal(err)
	}
	if err := config.Start(ctx); err != nil {
		log.Fatal(err)
	}
	defer config.Close(ctx)

	for update := range config.Updates(ctx) {
		for _, event := range update.Events {
			fmt.Printf("%v %s %q %q\n", event.Type, event.Path, event.Old.Data, event.New.Data)
		}
		if node, _ := update.Snapshot.Get("/config/limits"); string(node.Data) == "20" {
			break
		}
		set(ctx, client, "/config/limits", "20")
	}
	// Output:
	// NODE_CREATED /config "" ""
	// NODE_CREATED /config/limits "" "10"
	// NODE_CHANGED /config/limits "10" "20"
}

// Await waits until the cache has a change, such as one of one's own.
func ExampleCuratorCache_Await() {
	ctx := context.Background()
	client, disconnect := connect(ctx, "example-await")
	defer disconnect()
	config, err := cache.NewNodeCache(client, "/config")
	if err != nil {
		log.Fatal(err)
	}
	if err := config.Start(ctx); err != nil {
		log.Fatal(err)
	}
	defer config.Close(ctx)

	stat := set(ctx, client, "/config", "mine")
	if err := config.Await(ctx, stat.Mzxid); err != nil {
		log.Fatal(err)
	}
	node, _ := config.Get("/config")
	fmt.Println(string(node.Data))
	// Output: mine
}

// A cache of one node. The node need not exist.
func ExampleNewNodeCache() {
	ctx := context.Background()
	client, disconnect := connect(ctx, "example-node")
	defer disconnect()
	limit, err := cache.NewNodeCache(client, "/limit")
	if err != nil {
		log.Fatal(err)
	}
	if err := limit.Start(ctx); err != nil {
		log.Fatal(err)
	}
	defer limit.Close(ctx)

	_, ok := limit.Get("/limit")
	fmt.Println(ok)
	// Output: false
}

// A cache of the children of a node, without what is below them.
func ExampleNewPathChildrenCache() {
	ctx := context.Background()
	client, disconnect := connect(ctx, "example-children")
	defer disconnect()
	set(ctx, client, "/members/a", "10.0.0.1")
	set(ctx, client, "/members/b/notes", "not in the cache")
	members, err := cache.NewPathChildrenCache(client, "/members")
	if err != nil {
		log.Fatal(err)
	}
	if err := members.Start(ctx); err != nil {
		log.Fatal(err)
	}
	defer members.Close(ctx)

	for name, node := range members.Children("/members") {
		fmt.Printf("%s %q\n", name, node.Data)
	}
	// Output:
	// a "10.0.0.1"
	// b ""
}

// A snapshot does not change, and is the tree that the server had at one moment.
func ExampleSnapshot() {
	ctx := context.Background()
	client, disconnect := connect(ctx, "example-snapshot")
	defer disconnect()
	set(ctx, client, "/accounts/a", "100")
	set(ctx, client, "/accounts/b", "0")
	accounts, err := cache.NewPathChildrenCache(client, "/accounts")
	if err != nil {
		log.Fatal(err)
	}
	if err := accounts.Start(ctx); err != nil {
		log.Fatal(err)
	}
	defer accounts.Close(ctx)

	op := client.TransactionOp()
	results, err := client.Transaction().ForOperations(ctx,
		op.SetData().ForPath("/accounts/a", []byte("40")),
		op.SetData().ForPath("/accounts/b", []byte("60")))
	if err != nil {
		log.Fatal(err)
	}
	before := accounts.Snapshot()
	if err := accounts.Await(ctx, results[0].Stat.Mzxid); err != nil {
		log.Fatal(err)
	}
	sum := func(s cache.Snapshot) (sum int) {
		for _, node := range s.All() {
			n, _ := strconv.Atoi(string(node.Data))
			sum += n
		}
		return sum
	}
	fmt.Println(sum(before), sum(accounts.Snapshot()))
	// Output: 100 100
}

// A listener as in Java. Add it before Start to hear of everything.
func ExampleListenerBuilder() {
	ctx := context.Background()
	client, disconnect := connect(ctx, "example-listener")
	defer disconnect()
	set(ctx, client, "/config/limits", "10")
	config, err := cache.NewCuratorCache(client, "/config")
	if err != nil {
		log.Fatal(err)
	}
	done := make(chan struct{})
	config.Listenable().Add(cache.NewListener().
		ForCreates(func(_ context.Context, node cache.ChildData) { fmt.Println("created", node.Path) }).
		ForInitialized(func(context.Context) { close(done) }).
		Build())
	if err := config.Start(ctx); err != nil {
		log.Fatal(err)
	}
	defer config.Close(ctx)
	<-done
	// Output:
	// created /config
	// created /config/limits
}

// A view with values in place of data. Each node is decoded once for each change.
func ExampleTyped() {
	ctx := context.Background()
	client, disconnect := connect(ctx, "example-typed")
	defer disconnect()
	set(ctx, client, "/limits/orders", "10")
	set(ctx, client, "/limits/users", "many")
	data, err := cache.NewPathChildrenCache(client, "/limits")
	if err != nil {
		log.Fatal(err)
	}
	limits, err := cache.NewTyped(data, func(node cache.ChildData) (int, error) { return strconv.Atoi(string(node.Data)) })
	if err != nil {
		log.Fatal(err)
	}
	if err := data.Start(ctx); err != nil {
		log.Fatal(err)
	}
	defer data.Close(ctx)

	for path, limit := range limits.All() {
		fmt.Println(path, limit.Value)
	}
	for path, err := range limits.Failed() {
		fmt.Println(path, err)
	}
	// Output:
	// /limits/orders 10
	// /limits/users strconv.Atoi: parsing "many": invalid syntax
}
