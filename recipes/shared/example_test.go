package shared_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/framework/codec"
	"github.com/go-curator/curator/recipes/locks"
	"github.com/go-curator/curator/recipes/shared"
	"github.com/go-curator/curator/retry"
)

// A semaphore whose maximum can be changed while it is in use.
func ExampleCount() {
	ctx := context.Background()
	client, err := framework.NewClient(connectString, retry.ExponentialBackoff(time.Second, 3))
	if err != nil {
		log.Fatal(err)
	}
	if err := client.Start(ctx); err != nil {
		log.Fatal(err)
	}
	defer client.Close(ctx)

	count, err := shared.NewCount(client, "/limits/workers", 2)
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

	// An operator, or a process that uses Java's SharedCount, raises it to 3: this one does it.
	if _, err := count.Set(ctx, 3); err != nil {
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

// A configuration that processes share: one changes it, the others follow.
func ExampleValue() {
	type limits struct {
		Workers int `json:"workers"`
	}
	ctx := context.Background()
	client, err := framework.NewClient(connectString, retry.ExponentialBackoff(time.Second, 3))
	if err != nil {
		log.Fatal(err)
	}
	if err := client.Start(ctx); err != nil {
		log.Fatal(err)
	}
	defer client.Close(ctx)

	config, err := shared.NewValue(client, "/config/limits", limits{Workers: 1}, codec.JSON[limits]())
	if err != nil {
		log.Fatal(err)
	}
	if err := config.Start(ctx); err != nil {
		log.Fatal(err)
	}
	defer config.Close(ctx)

	_, err = config.Update(ctx, func(l limits) (limits, error) {
		l.Workers *= 2 // l is a copy; what it refers to must not be changed
		return l, nil
	})
	if err != nil {
		log.Fatal(err)
	}
	for v := range config.Updates(ctx) {
		fmt.Println(v.Value.Workers, "at version", v.Version)
		break
	}
	// Output: 2 at version 1
}
