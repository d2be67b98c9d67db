package curatortest_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/retry"
	"github.com/go-curator/curator/tools/curatortest"
)

// New is for where there is no test, as here or in TestMain; a test calls Start, and
// Server.Client.
func ExampleNew() {
	ctx := context.Background()
	server, err := curatortest.New()
	if err != nil {
		log.Fatal(err)
	}
	defer server.Close()

	client, err := framework.NewClient(server.ConnectString(), retry.ExponentialBackoff(100*time.Millisecond, 3))
	if err != nil {
		log.Fatal(err)
	}
	if err := client.Start(ctx); err != nil {
		log.Fatal(err)
	}
	defer client.Close(ctx)

	for _, path := range []string{"/orders", "/orders/1", "/orders/2"} {
		if _, err := client.Create().WithData([]byte("new")).ForPath(ctx, path); err != nil {
			log.Fatal(err)
		}
	}
	data, ok := server.Get("/orders/2")
	fmt.Println(server.Children("/orders"), string(data), ok)
	// Output: [1 2] new true
}

// A test that scripts a fault asks afterwards whether it has happened.
func ExampleServer_Inject() {
	ctx := context.Background()
	server, err := curatortest.New()
	if err != nil {
		log.Fatal(err)
	}
	defer server.Close()
	client, err := framework.NewClient(server.ConnectString(), retry.ExponentialBackoff(10*time.Millisecond, 3))
	if err != nil {
		log.Fatal(err)
	}
	if err := client.Start(ctx); err != nil {
		log.Fatal(err)
	}
	defer client.Close(ctx)

	hit := server.Inject(curatortest.Rule{Op: "create", Path: "/orders", Do: curatortest.Fail(framework.ErrNoAuth)})
	_, err = client.Create().ForPath(ctx, "/orders")
	fmt.Println("refused:", errors.Is(err, framework.ErrNoAuth), hit())

	_, err = client.Create().WithMode(framework.Ephemeral).ForPath(ctx, "/orders")
	fmt.Println("created:", err == nil)
	server.ExpireSession(client.SessionID())
	_, exists := server.Get("/orders")
	fmt.Println("there after the session:", exists)
	// Output:
	// refused: true true
	// created: true
	// there after the session: false
}

// start returns a started client of servers of either kind.
func start(ctx context.Context, zk curatortest.ZooKeeper) *framework.Client {
	client, err := framework.NewClient(zk.ConnectString(), retry.ExponentialBackoff(50*time.Millisecond, 5))
	if err != nil {
		log.Fatal(err)
	}
	if err := client.Start(ctx); err != nil {
		log.Fatal(err)
	}
	return client
}

// What is written against ZooKeeper runs on the embedded server, as here, and on the servers of
// NewReal.
func ExampleZooKeeper() {
	ctx := context.Background()
	server, err := curatortest.New()
	if err != nil {
		log.Fatal(err)
	}
	var zk curatortest.ZooKeeper = server
	defer zk.Close()
	client := start(ctx, zk)
	defer client.Close(ctx)

	if _, err := client.Create().WithMode(framework.Ephemeral).ForPath(ctx, "/worker"); err != nil {
		log.Fatal(err)
	}
	zk.Disconnect()
	exists, err := client.CheckExists().ForPath(ctx, "/worker")
	fmt.Println("after a lost connection:", exists, err)

	zk.ExpireSession(client.SessionID())
	exists, err = client.CheckExists().ForPath(ctx, "/worker")
	fmt.Println("after a lost session:", exists, err)
	// Output:
	// after a lost connection: true <nil>
	// after a lost session: false <nil>
}

// A server that is stopped keeps its data, its sessions and its port.
func ExampleServer_Stop() {
	ctx := context.Background()
	server, err := curatortest.New()
	if err != nil {
		log.Fatal(err)
	}
	defer server.Close()
	client := start(ctx, server)
	defer client.Close(ctx)
	if _, err := client.Create().WithData([]byte("new")).ForPath(ctx, "/order"); err != nil {
		log.Fatal(err)
	}

	server.Stop()
	short, cancel := context.WithTimeout(ctx, 50*time.Millisecond)
	defer cancel()
	_, err = client.GetData().ForPath(short, "/order")
	fmt.Println("while it is down:", err != nil)

	server.Start()
	data, err := client.GetData().ForPath(ctx, "/order")
	fmt.Println("afterwards:", string(data), err)
	// Output:
	// while it is down: true
	// afterwards: new <nil>
}

func ExampleWithNodes() {
	ctx := context.Background()
	server, err := curatortest.New(curatortest.WithNodes(map[string]string{
		"/config/db":    "host=db1",
		"/config/cache": "size=10",
	}))
	if err != nil {
		log.Fatal(err)
	}
	defer server.Close()
	client := start(ctx, server)
	defer client.Close(ctx)

	data, err := client.GetData().ForPath(ctx, "/config/db")
	fmt.Println(server.Children("/config"), string(data), err)
	// Output: [cache db] host=db1 <nil>
}
