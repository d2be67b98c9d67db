package paths_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/framework/paths"
	"github.com/go-curator/curator/retry"
)

func Example() {
	ctx := context.Background()
	client := start(ctx)
	defer client.Close(ctx)

	if err := paths.Mkdirs(ctx, client, "/app/jobs"); err != nil {
		log.Fatal(err)
	}
	for _, name := range []string{"b", "a"} {
		if _, err := client.Create().ForPath(ctx, paths.Make("/app/jobs", name)); err != nil {
			log.Fatal(err)
		}
	}
	names, err := paths.SortedChildren(ctx, client, "/app/jobs")
	fmt.Println(names, err)
	err = paths.DeleteChildren(ctx, client, "/app/jobs", false)
	fmt.Println(err)
	names, err = paths.SortedChildren(ctx, client, "/app/jobs")
	fmt.Println(names, err)
	// Output:
	// [a b] <nil>
	// <nil>
	// [] <nil>
}

func ExampleMake() {
	fmt.Println(paths.Make("/app", "jobs/", "0000000001"))
	parent, node := paths.ParentAndNode("/app/jobs/job-0000000001")
	fmt.Println(parent, node, paths.SequentialSuffix(node))
	fmt.Println(paths.Split("/app/jobs"))
	// Output:
	// /app/jobs/0000000001
	// /app/jobs job-0000000001 0000000001
	// [app jobs]
}

func ExampleEnsureContainers() {
	ctx := context.Background()
	client := start(ctx)
	defer client.Close(ctx)

	members, err := paths.NewEnsureContainers(client, "/app/members")
	if err != nil {
		log.Fatal(err)
	}
	for _, name := range []string{"a", "b"} {
		if err := members.Ensure(ctx); err != nil { // asks the server once
			log.Fatal(err)
		}
		_, err := client.Create().WithMode(framework.Ephemeral).ForPath(ctx, "/app/members/"+name)
		fmt.Println(name, err)
	}
	// Output:
	// a <nil>
	// b <nil>
}

func start(ctx context.Context) *framework.Client {
	client, err := framework.NewClient(connectString, retry.ExponentialBackoff(time.Second, 3))
	if err != nil {
		log.Fatal(err)
	}
	if err := client.Start(ctx); err != nil {
		log.Fatal(err)
	}
	return client
}
