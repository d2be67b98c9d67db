package zk_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/framework/zk"
	"github.com/go-curator/curator/recipes/locks"
	"github.com/go-curator/curator/retry"
)

// A program of go-zookeeper/zk, with the path of one import changed.
func Example() {
	conn, _, err := zk.Connect([]string{connectString}, 10*time.Second, zk.WithLogInfo(false))
	if err != nil {
		log.Fatal(err)
	}
	defer conn.Close()

	if _, err := conn.Create("/example", []byte("one"), zk.FlagPersistent, zk.WorldACL(zk.PermAll)); err != nil {
		log.Fatal(err)
	}
	data, stat, changed, err := conn.GetW("/example")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s, version %d\n", data, stat.Version)
	if _, err := conn.Set("/example", []byte("two"), stat.Version); err != nil {
		log.Fatal(err)
	}
	event := <-changed
	fmt.Println(event.Type, event.Path)
	// Output:
	// one, version 0
	// EventNodeDataChanged /example
}

// The recipes work on the session of a Conn. This mutex and a zk.Lock of the same path exclude each other.
func ExampleConn_Client() {
	conn, _, err := zk.Connect([]string{connectString}, 10*time.Second, zk.WithLogInfo(false))
	if err != nil {
		log.Fatal(err)
	}
	defer conn.Close()

	mutex, err := locks.NewInterProcessMutex(conn.Client(), "/locks/example")
	if err != nil {
		log.Fatal(err)
	}
	err = locks.Do(context.Background(), mutex, func(ctx context.Context, lease *locks.Lease) error {
		names, _, err := conn.Children("/locks/example") // ctx ends when the lock is lost
		fmt.Println(len(names), "in the queue")
		return err
	})
	if err != nil {
		log.Fatal(err)
	}
	// Output: 1 in the queue
}

// A Conn on a client that there is has its session, and its paths: here below a namespace.
func ExampleNewConn() {
	ctx := context.Background()
	client, err := framework.NewClient(connectString, retry.ExponentialBackoff(time.Second, 3), framework.WithNamespace("app"))
	if err != nil {
		log.Fatal(err)
	}
	if err := client.Start(ctx); err != nil {
		log.Fatal(err)
	}
	defer client.Close(ctx)

	if _, err := client.Create().ForPath(ctx, "/made"); err != nil {
		log.Fatal(err)
	}
	conn, _, err := zk.NewConn(client)
	if err != nil {
		log.Fatal(err)
	}
	defer conn.Close() // which leaves the client open
	names, _, err := conn.Children("/")
	fmt.Println(names, err)
	// Output: [made] <nil>
}
