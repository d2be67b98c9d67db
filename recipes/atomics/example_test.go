package atomics_test

import (
	"context"
	"fmt"
	"log"
	"slices"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/recipes/atomics"
	"github.com/go-curator/curator/recipes/locks"
	"github.com/go-curator/curator/retry"
)

// newClient returns a client that is started.
func newClient(ctx context.Context) *framework.Client {
	client, err := framework.NewClient(connectString, retry.ExponentialBackoff(time.Second, 3))
	if err != nil {
		log.Fatal(err)
	}
	if err := client.Start(ctx); err != nil {
		log.Fatal(err)
	}
	return client
}

// A counter that several processes add to.
func ExampleDistributedAtomicNumber() {
	ctx := context.Background()
	client := newClient(ctx)
	defer client.Close(ctx)

	orders, err := atomics.NewDistributedAtomicLong(client, "/counters/orders", retry.NTimes(10, 10*time.Millisecond),
		atomics.WithName("orders"))
	if err != nil {
		log.Fatal(err)
	}
	value, err := orders.Increment(ctx)
	switch {
	case framework.MaybeApplied(err):
		log.Print("the order may have been counted: ", err) // counting again could count twice
	case err != nil:
		log.Fatal(err)
	}
	fmt.Println(value.Post)
	// Output: 1
}

// A counter of four bytes that is under so much contention that its writers queue for a lock.
func ExampleWithPromotedToLock() {
	ctx := context.Background()
	client := newClient(ctx)
	defer client.Close(ctx)

	lock, err := locks.NewInterProcessMutex(client, "/counters/seats-lock", locks.WithMaxWait(time.Minute))
	if err != nil {
		log.Fatal(err)
	}
	few := retry.NTimes(3, time.Millisecond)
	seats, err := atomics.NewDistributedAtomicInteger(client, "/counters/seats", few, atomics.WithPromotedToLock(lock, few))
	if err != nil {
		log.Fatal(err)
	}
	value, err := seats.Add(ctx, 4)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(value.Pre, value.Post, value.Stats.OptimisticTries, value.Stats.PromotedTries)
	// Output: 0 4 1 0
}

// A list of names to which processes add their own.
func ExampleDistributedAtomicValue() {
	ctx := context.Background()
	client := newClient(ctx)
	defer client.Close(ctx)

	names, err := atomics.NewDistributedAtomicValue(client, "/names", retry.NTimes(10, 10*time.Millisecond))
	if err != nil {
		log.Fatal(err)
	}
	for _, name := range []string{"a", "b"} {
		_, err := names.Update(ctx, func(pre []byte) ([]byte, error) {
			return slices.Concat(pre, []byte(name+" ")), nil
		})
		if err != nil {
			log.Fatal(err)
		}
	}
	data, err := names.Get(ctx)
	fmt.Printf("%q %v\n", data, err)
	// Output: "a b " <nil>
}

// Ids that no process gives out twice, without a request for each.
func ExampleCachedAtomicNumber() {
	ctx := context.Background()
	client := newClient(ctx)
	defer client.Close(ctx)

	counter, err := atomics.NewDistributedAtomicLong(client, "/counters/ids", retry.NTimes(10, 10*time.Millisecond))
	if err != nil {
		log.Fatal(err)
	}
	ids, err := atomics.NewCachedAtomicNumber(counter, 100)
	if err != nil {
		log.Fatal(err)
	}
	for range 3 {
		id, err := ids.Next(ctx)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(id)
	}
	// Output:
	// 0
	// 1
	// 2
}
