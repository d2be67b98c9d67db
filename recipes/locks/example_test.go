package locks_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/recipes/locks"
	"github.com/go-curator/curator/retry"
)

// The README's program.
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

	mutex, err := locks.NewInterProcessMutex(client, "/locks/orders")
	if err != nil {
		log.Fatal(err)
	}
	err = locks.Do(ctx, mutex, func(ctx context.Context, lease *locks.Lease) error {
		fmt.Println("one process at a time, token > 0:", lease.Token() > 0)
		return nil
	})
	if err != nil {
		log.Print(err)
	}
	// Output:
	// one process at a time, token > 0: true
}

func ExampleInterProcessMutex() {
	ctx := context.Background()
	client := start(ctx)
	defer client.Close(ctx)

	mutex, err := locks.NewInterProcessMutex(client, "/curator/lock")
	if err != nil {
		log.Fatal(err)
	}
	lease, err := mutex.Acquire(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("Enter mutex")
	if err := lease.Release(ctx); err != nil {
		log.Fatal(err)
	}
	// Output: Enter mutex
}

func ExampleTryDo() {
	ctx := context.Background()
	client := start(ctx)
	defer client.Close(ctx)

	mutex, err := locks.NewInterProcessMutex(client, "/locks/nightly")
	if err != nil {
		log.Fatal(err)
	}
	lease, err := mutex.Acquire(ctx)
	if err != nil {
		log.Fatal(err)
	}
	defer lease.Release(ctx)

	err = locks.TryDo(ctx, mutex, func(ctx context.Context, lease *locks.Lease) error { return nil })
	fmt.Println("busy:", errors.Is(err, locks.ErrNotAcquired))
	err = locks.TryDo(lease.Context(), mutex, func(ctx context.Context, lease *locks.Lease) error { return nil })
	fmt.Println("for whom the holder calls:", err)
	// Output:
	// busy: true
	// for whom the holder calls: <nil>
}

// Work under a lock runs with a context that ends with the request or with the lock.
func ExampleLease_Bind() {
	ctx := context.Background()
	client := start(ctx)
	defer client.Close(ctx)

	mutex, err := locks.NewInterProcessMutex(client, "/locks/bind")
	if err != nil {
		log.Fatal(err)
	}
	lease, err := mutex.Acquire(ctx)
	if err != nil {
		log.Fatal(err)
	}
	work := lease.Bind(ctx)
	fmt.Println("while it is held:", work.Err())
	if err := lease.Release(ctx); err != nil {
		log.Fatal(err)
	}
	<-work.Done()
	fmt.Println("afterwards:", context.Cause(work))
	// Output:
	// while it is held: <nil>
	// afterwards: lock not held: released
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
