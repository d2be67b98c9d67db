package leader_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/recipes/leader"
	"github.com/go-curator/curator/recipes/locks"
	"github.com/go-curator/curator/retry"
)

// start returns a started client of the examples' server.
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

// Work that only the leader does, until it has done enough.
func ExampleLeaderSelector() {
	ctx := context.Background()
	client := start(ctx)
	defer client.Close(ctx)

	selector, err := leader.NewLeaderSelector(client, "/leaders/billing", leader.WithID("billing-1"))
	if err != nil {
		log.Fatal(err)
	}
	terms := 0
	err = selector.Run(ctx, func(ctx context.Context, lease *locks.Lease) error {
		first, err := selector.Leader(ctx)
		if err != nil {
			return err
		}
		fmt.Println(first.ID, "leads, with the token that a resource can check:", first.Token == lease.Token())
		if terms++; terms == 2 {
			return leader.ErrStop
		}
		return nil // stand again
	})
	fmt.Println(err)
	// Output:
	// billing-1 leads, with the token that a resource can check: true
	// billing-1 leads, with the token that a resource can check: true
	// <nil>
}

// A program that asks whether it leads.
func ExampleLeaderLatch() {
	ctx := context.Background()
	client := start(ctx)
	defer client.Close(ctx)

	latch, err := leader.NewLeaderLatch(client, "/leaders/purge", leader.WithID("purge-1"))
	if err != nil {
		log.Fatal(err)
	}
	if err := latch.Start(ctx); err != nil {
		log.Fatal(err)
	}
	defer latch.Close(ctx)

	if _, err := latch.Await(ctx); err != nil {
		log.Fatal(err)
	}
	if lease := latch.Leadership(); lease.Err() == nil {
		_, err := lease.Guard(ctx) // with operations that are to be done only while this process leads
		fmt.Println("purged:", err)
	}
	// Output: purged: <nil>
}

// Steps down, and stands again behind the others.
func ExampleLeaderLatch_Await() {
	ctx := context.Background()
	client := start(ctx)
	defer client.Close(ctx)

	var latches []*leader.LeaderLatch
	for _, id := range []string{"first", "second"} {
		latch, err := leader.NewLeaderLatch(client, "/leaders/rotation", leader.WithID(id))
		if err != nil {
			log.Fatal(err)
		}
		if err := latch.Start(ctx); err != nil {
			log.Fatal(err)
		}
		defer latch.Close(ctx)
		latches = append(latches, latch)
	}
	lease, err := latches[0].Await(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("first leads; it steps down:", lease.Release(ctx))
	next, err := latches[1].Await(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("second leads, with a higher token:", next.Token() > lease.Token())
	// Output:
	// first leads; it steps down: <nil>
	// second leads, with a higher token: true
}

// A listener is told of each term.
func ExampleLeaderLatch_LeadershipListenable() {
	ctx := context.Background()
	client := start(ctx)
	defer client.Close(ctx)

	latch, err := leader.NewLeaderLatch(client, "/leaders/told")
	if err != nil {
		log.Fatal(err)
	}
	latch.LeadershipListenable().Add(func(_ context.Context, change leader.Change) {
		fmt.Println("leads:", change.Leading)
	})
	if err := latch.Start(ctx); err != nil {
		log.Fatal(err)
	}
	if _, err := latch.Await(ctx); err != nil {
		log.Fatal(err)
	}
	fmt.Println(latch.Close(ctx))
	// Output:
	// leads: true
	// leads: false
	// <nil>
}
