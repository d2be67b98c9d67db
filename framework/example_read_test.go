package framework_test

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log"
	"slices"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/retry"
)

func ExampleCheckExistsBuilder() {
	ctx := context.Background()
	client := start(ctx)
	defer client.Close(ctx)

	created := make(chan framework.WatchedEvent)
	watcher := framework.NewWatcher(func(_ context.Context, event framework.WatchedEvent) { created <- event })
	exists, err := client.CheckExists().UsingWatcher(watcher).ForPath(ctx, "/exists")
	fmt.Println(exists, err)
	if _, err := client.Create().ForPath(ctx, "/exists"); err != nil {
		log.Fatal(err)
	}
	fmt.Println("created:", (<-created).Path)
	// Output:
	// false <nil>
	// created: /exists
}

func ExampleGetDataBuilder() {
	ctx := context.Background()
	client := start(ctx)
	defer client.Close(ctx)

	if _, err := client.Create().WithData([]byte("blue")).ForPath(ctx, "/getdata"); err != nil {
		log.Fatal(err)
	}
	var stat framework.Stat
	data, err := client.GetData().StoringStatIn(&stat).ForPath(ctx, "/getdata")
	fmt.Println(string(data), stat.Version, err)
	// Output: blue 0 <nil>
}

// A watch tells of one change. To follow a node set it again with each read.
func ExampleGetDataBuilder_UsingWatcher() {
	ctx := context.Background()
	client := start(ctx)
	defer client.Close(ctx)

	if _, err := client.Create().WithData([]byte("0")).ForPath(ctx, "/follow"); err != nil {
		log.Fatal(err)
	}
	changed := make(chan struct{}, 1)
	watcher := framework.NewWatcher(func(context.Context, framework.WatchedEvent) { changed <- struct{}{} })
	for i := range 3 {
		data, err := client.GetData().UsingWatcher(watcher).ForPath(ctx, "/follow")
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(string(data))
		if _, err := client.SetData().ForPath(ctx, "/follow", fmt.Append(nil, i+1)); err != nil {
			log.Fatal(err)
		}
		<-changed
	}
	// Output:
	// 0
	// 1
	// 2
}

func ExampleGetChildrenBuilder() {
	ctx := context.Background()
	client := start(ctx)
	defer client.Close(ctx)

	for _, path := range []string{"/children/b", "/children/a"} {
		if _, err := client.Create().CreatingParentsIfNeeded().ForPath(ctx, path); err != nil {
			log.Fatal(err)
		}
	}
	names, err := client.GetChildren().ForPath(ctx, "/children")
	slices.Sort(names) // the server promises no order
	fmt.Println(names, err)
	// Output: [a b] <nil>
}

// After a sync the server that the client is connected to has what others wrote before.
func ExampleSyncBuilder() {
	ctx := context.Background()
	writer, reader := start(ctx), start(ctx)
	defer writer.Close(ctx)
	defer reader.Close(ctx)

	if _, err := writer.Create().WithData([]byte("written")).ForPath(ctx, "/sync"); err != nil {
		log.Fatal(err)
	}
	if err := reader.Sync().ForPath(ctx, "/sync"); err != nil {
		log.Fatal(err)
	}
	data, err := reader.GetData().ForPath(ctx, "/sync")
	fmt.Println(string(data), err)
	// Output: written <nil>
}

// A persistent watch tells of every change, here of a whole tree.
func ExampleAddWatchBuilder() {
	ctx := context.Background()
	client := start(ctx)
	defer client.Close(ctx)

	events := make(chan framework.WatchedEvent)
	watcher := framework.NewWatcher(func(_ context.Context, event framework.WatchedEvent) { events <- event })
	if err := client.Watches().Add().ForPath(ctx, "/tree", watcher); err != nil {
		log.Fatal(err)
	}
	if _, err := client.Create().CreatingParentsIfNeeded().ForPath(ctx, "/tree/leaf"); err != nil {
		log.Fatal(err)
	}
	fmt.Println((<-events).Path)
	fmt.Println((<-events).Path)
	// Output:
	// /tree
	// /tree/leaf
}

func ExampleRemoveWatchBuilder() {
	ctx := context.Background()
	client := start(ctx)
	defer client.Close(ctx)

	events := make(chan framework.WatchedEvent, 16)
	watcher := framework.NewWatcher(func(_ context.Context, event framework.WatchedEvent) { events <- event })
	if _, err := client.CheckExists().UsingWatcher(watcher).ForPath(ctx, "/unwatched"); err != nil {
		log.Fatal(err)
	}
	if err := client.Watches().Remove().ForPath(ctx, "/unwatched", watcher); err != nil {
		log.Fatal(err)
	}
	if _, err := client.Create().ForPath(ctx, "/unwatched"); err != nil {
		log.Fatal(err)
	}
	event := <-events
	fmt.Println("removed:", event.Type == framework.DataWatchRemoved, event.Path)
	fmt.Println("events besides:", len(events))
	// Output:
	// removed: true /unwatched
	// events besides: 0
}

// What a part of a program watches can be taken back together.
func ExampleWatcherRemovingView() {
	ctx := context.Background()
	client := start(ctx)
	defer client.Close(ctx)

	view := client.WatcherRemovingView()
	watcher := framework.NewWatcher(func(_ context.Context, event framework.WatchedEvent) {
		if !event.Type.IsRemoval() {
			fmt.Println(event.Path)
		}
	})
	for _, path := range []string{"/view/a", "/view/b"} {
		if _, err := view.CheckExists().UsingWatcher(watcher).ForPath(ctx, path); err != nil {
			log.Fatal(err)
		}
	}
	fmt.Println("removed:", view.RemoveWatchers(ctx))
	_, err := client.Create().CreatingParentsIfNeeded().ForPath(ctx, "/view/a")
	fmt.Println("nobody was told of it:", err)
	// Output:
	// removed: <nil>
	// nobody was told of it: <nil>
}

// The last line of the configuration is its version, which Reconfig can be bound to.
func ExampleGetConfigBuilder() {
	ctx := context.Background()
	client := start(ctx)
	defer client.Close(ctx)

	var stat framework.Stat
	config, err := client.GetConfig().StoringStatIn(&stat).ForEnsemble(ctx)
	fmt.Println("a server without an ensemble:", len(config), stat.Version, err)
	// Output: a server without an ensemble: 0 0 <nil>
}

// A view has a namespace of its own and shares everything else with its client.
func ExampleClient_UsingNamespace() {
	ctx := context.Background()
	client := start(ctx)
	defer client.Close(ctx)

	team := client.UsingNamespace("teams/red")
	path, err := team.Create().ForPath(ctx, "/config")
	fmt.Println("in the namespace:", path, err)
	exists, err := client.CheckExists().ForPath(ctx, "/teams/red/config")
	fmt.Println("outside of it:", exists, err)
	// Output:
	// in the namespace: /config <nil>
	// outside of it: true <nil>
}

func ExampleNewClient() {
	client, err := framework.NewClient("zk1:2181,zk2:2181,zk3:2181/shop",
		retry.BoundedExponentialBackoff(100*time.Millisecond, 5*time.Second, 10),
		framework.WithSessionTimeout(30*time.Second),
		framework.WithNamespace("orders"))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(client.State(), client.Namespace())

	_, err = framework.NewClient("zk1:2181", retry.ExponentialBackoff(1000, 3))
	fmt.Println("1000 nanoseconds are refused:", errors.Is(err, framework.ErrInvalidOption))
	// Output:
	// LATENT orders
	// 1000 nanoseconds are refused: true
}

func ExampleWithTLS() {
	certificate, err := tls.LoadX509KeyPair("client.pem", "client-key.pem")
	if err != nil {
		log.Fatal(err)
	}
	client, err := framework.NewClient("zk1:2281,zk2:2281", retry.ExponentialBackoff(time.Second, 3),
		framework.WithTLS(&tls.Config{Certificates: []tls.Certificate{certificate}}))
	if err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	if err := client.Start(ctx); err != nil {
		log.Fatal(err)
	}
	defer client.Close(ctx)
}
