package shared_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/recipes/locks"
	"github.com/go-curator/curator/recipes/shared"
	"github.com/go-curator/curator/retry"
)

// A semaphore whose maximum can be changed while it is in use.
func ExampleCountReader() {
	ctx := context.Background()
	client, err := framework.NewClient(connectString, retry.ExponentialBackoff(time.Second, 3))
	if err != nil {
		log.Fatal(err)
	}
	if err := client.Start(ctx); err != nil {
		log.Fatal(err)
	}
	defer client.Close(ctx)

	count, err := shared.NewCountReader(client, "/limits/workers", 2)
	if err != nil {
		log.Fatal(err)
	}
	changed := make(chan int, 1)
	count.CountListenable().Add(func(_ context.Context, n int) { changed <- n })
	if err := count.Start(ctx); err != nil {
		log.Fatal(err)
	}
	defer count.Close(ctx)
	semaphore, err := locks.NewInterProcessSemaphoreV2WithCount(client, "/locks/workers", count)
	if err != nil {
		log.Fatal(err)
	}
	lease, err := semaphore.AcquireN(ctx, 2)
	if err != nil {
		log.Fatal(err)
	}
	defer lease.Release(ctx)

	// An operator, or a process that uses Java's SharedCount, raises it to 3.
	_, err = client.Create().CreatingParentsIfNeeded().WithData([]byte{0, 0, 0, 3}).ForPath(ctx, "/limits/workers")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(<-changed)
	third, err := semaphore.Acquire(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(third.Release(ctx))
	// Output:
	// 3
	// <nil>
}
