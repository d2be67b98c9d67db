package nodes_test

import (
	"context"
	"fmt"
	"log"
	"maps"
	"slices"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/recipes/nodes"
	"github.com/go-curator/curator/retry"
)

// connect returns a started client, and what closes it.
func connect(ctx context.Context) (*framework.Client, func()) {
	client, err := framework.NewClient(connectString, retry.ExponentialBackoff(time.Second, 3))
	if err != nil {
		log.Fatal(err)
	}
	if err := client.Start(ctx); err != nil {
		log.Fatal(err)
	}
	return client, func() {
		if err := client.Close(ctx); err != nil {
			log.Print(err)
		}
	}
}

// A node that says where this process can be reached, for as long as it runs.
func ExamplePersistentNode() {
	ctx := context.Background()
	client, end := connect(ctx)
	defer end()

	node, err := nodes.NewPersistentNode(client, "/addresses/store", framework.Ephemeral, []byte("10.0.0.1:80"))
	if err != nil {
		log.Fatal(err)
	}
	if err := node.Start(ctx); err != nil { // returns when the node is there
		log.Fatal(err)
	}
	defer node.Close(ctx)

	if err := node.SetData(ctx, []byte("10.0.0.1:8080")); err != nil {
		log.Fatal(err)
	}
	data, err := client.GetData().ForPath(ctx, node.ActualPath())
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s: %s\n", node.ActualPath(), data)
	// Output: /addresses/store: 10.0.0.1:8080
}

// A node that survives the end of a session, and goes an hour after its last keeper.
func ExampleNewPersistentTTLNode() {
	ctx := context.Background()
	client, end := connect(ctx)
	defer end()

	node, err := nodes.NewPersistentTTLNode(client, "/drafts/7", time.Hour, []byte("draft"))
	if err != nil {
		log.Fatal(err)
	}
	if err := node.Start(ctx); err != nil {
		log.Fatal(err)
	}
	defer node.Close(ctx) // the node stays for up to an hour

	children, err := client.GetChildren().ForPath(ctx, "/drafts/7")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(children)
	// Output: [touch]
}

// A process that is a member of a group, and follows who else is.
func ExampleGroupMember() {
	ctx := context.Background()
	client, end := connect(ctx)
	defer end()

	member, err := nodes.NewGroupMember(client, "/workers", "worker-1", []byte("10.0.0.1"))
	if err != nil {
		log.Fatal(err)
	}
	if err := member.Start(ctx); err != nil {
		log.Fatal(err)
	}
	defer member.Close(ctx)

	for members := range member.Updates(ctx) {
		fmt.Println(slices.Sorted(maps.Keys(members)))
		break // a program would go on until ctx ends
	}
	// Output: [worker-1]
}
