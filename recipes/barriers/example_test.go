package barriers_test

import (
	"context"
	"fmt"
	"log"
	"sync"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/recipes/barriers"
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

// Workers wait until a maintenance is over.
func ExampleDistributedBarrier() {
	ctx := context.Background()
	client := newClient(ctx)
	defer client.Close(ctx)

	maintenance, err := barriers.NewDistributedBarrier(client, "/maintenance")
	if err != nil {
		log.Fatal(err)
	}
	if err := maintenance.Set(ctx); err != nil {
		log.Fatal(err)
	}
	go func() { // an operator
		fmt.Println("maintenance")
		if err := maintenance.Remove(ctx); err != nil {
			log.Print(err)
		}
	}()
	if err := maintenance.Wait(ctx); err != nil {
		log.Fatal(err)
	}
	fmt.Println("work")
	// Output:
	// maintenance
	// work
}

// Three processes compute together: they begin together, and end together.
func ExampleDistributedDoubleBarrier() {
	ctx := context.Background()
	const members = 3
	var processes sync.WaitGroup
	for range members {
		processes.Go(func() {
			client := newClient(ctx)
			defer client.Close(ctx)
			step, err := barriers.NewDistributedDoubleBarrier(client, "/step", members)
			if err != nil {
				log.Fatal(err)
			}
			for round := range 2 {
				if err := compute(ctx, step, round); err != nil {
					log.Print(err)
				}
			}
		})
	}
	processes.Wait()
	// Unordered output:
	// round 0
	// round 0
	// round 0
	// round 1
	// round 1
	// round 1
}

func compute(ctx context.Context, step *barriers.DistributedDoubleBarrier, round int) (err error) {
	enter, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	if err := step.Enter(enter); err != nil {
		return err // not in: nothing to leave
	}
	defer func() {
		if left := step.Leave(ctx); err == nil {
			err = left
		}
	}()
	fmt.Println("round", round)
	return nil
}
