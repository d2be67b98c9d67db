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

// Three leases that Java processes share; two of them are taken together, or none.
func ExampleInterProcessSemaphoreV2() {
	ctx := context.Background()
	client := start(ctx)
	defer client.Close(ctx)

	semaphore, err := locks.NewInterProcessSemaphoreV2(client, "/semaphores/licences", 3)
	if err != nil {
		log.Fatal(err)
	}
	two, err := semaphore.AcquireN(ctx, 2)
	if err != nil {
		log.Fatal(err)
	}
	_, err = semaphore.AcquireN(ctx, 4)
	fmt.Println("four of three:", errors.Is(err, locks.ErrTooManyLeases))
	if err := two.Parts()[0].Release(ctx); err != nil { // one of them alone
		log.Fatal(err)
	}
	if err := two.Release(ctx); err != nil { // and the rest
		log.Fatal(err)
	}
	// Output: four of three: true
}

// A mutex that does not nest: who asks for it again under its own lease is told, where Java
// would wait for itself.
func ExampleInterProcessSemaphoreMutex() {
	ctx := context.Background()
	client := start(ctx)
	defer client.Close(ctx)

	mutex, err := locks.NewInterProcessSemaphoreMutex(client, "/locks/printer")
	if err != nil {
		log.Fatal(err)
	}
	err = locks.Do(ctx, mutex, func(ctx context.Context, _ *locks.Lease) error {
		_, err := mutex.TryAcquire(ctx)
		fmt.Println("again:", errors.Is(err, locks.ErrDeadlock))
		return nil
	})
	if err != nil {
		log.Fatal(err)
	}
	// Output: again: true
}

// Somebody asks for a lock that another one holds, who lets go when it suits him.
func ExampleAttemptRevoke() {
	ctx := context.Background()
	client := start(ctx)
	defer client.Close(ctx)

	batch, err := locks.NewInterProcessMutex(client, "/locks/warehouse",
		locks.WithRevocable(func(ctx context.Context, lease *locks.Lease) {
			fmt.Println("asked")
			if err := lease.Release(ctx); err != nil {
				log.Print(err)
			}
		}))
	if err != nil {
		log.Fatal(err)
	}
	lease, err := batch.Acquire(ctx)
	if err != nil {
		log.Fatal(err)
	}
	if err := locks.AttemptRevoke(ctx, client, lease.Path()); err != nil {
		log.Fatal(err)
	}
	<-lease.Context().Done()
	fmt.Println("let go:", errors.Is(lease.Err(), locks.ErrReleased))
	// Output:
	// asked
	// let go: true
}

// Goroutines of one process that all want the same lock hand it over among themselves, up to
// fifty times before another process has its turn.
func ExampleWithLocalHandover() {
	ctx := context.Background()
	client := start(ctx)
	defer client.Close(ctx)

	mutex, err := locks.NewInterProcessMutex(client, "/locks/counter", locks.WithLocalHandover(50))
	if err != nil {
		log.Fatal(err)
	}
	counter, done := 0, make(chan error)
	for range 10 {
		go func() {
			done <- locks.Do(ctx, mutex, func(context.Context, *locks.Lease) error {
				counter++
				return nil
			})
		}()
	}
	for range 10 {
		if err := <-done; err != nil {
			log.Fatal(err)
		}
	}
	fmt.Println(counter)
	// Output: 10
}

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
