package locks_test

import (
	"context"
	"fmt"
	"log"

	"github.com/go-curator/curator/recipes/locks"
)

// Inspect is for operators: it takes part in nothing.
func ExampleInspect() {
	ctx := context.Background()
	client := start(ctx)
	defer client.Close(ctx)
	mutex, err := locks.NewInterProcessMutex(client, "/locks/backup")
	if err != nil {
		log.Fatal(err)
	}
	lease, err := mutex.Acquire(ctx)
	if err != nil {
		log.Fatal(err)
	}
	defer lease.Release(ctx)

	inspection, err := locks.Inspect(ctx, client, "/locks/backup")
	if err != nil {
		log.Fatal(err)
	}
	for _, c := range inspection.Holders {
		fmt.Println("the holder has our token:", c.Token == lease.Token()) // and c.Owner names its program
	}
	fmt.Println(inspection.Kind, "with", len(inspection.Waiters), "waiters")
	// Output:
	// the holder has our token: true
	// mutex with 0 waiters
}
