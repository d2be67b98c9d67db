package locks_test

import (
	"context"
	"errors"
	"fmt"
	"log"

	"github.com/go-curator/curator/recipes/locks"
)

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
