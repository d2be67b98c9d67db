package queue_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/framework/codec"
	"github.com/go-curator/curator/recipes/queue"
	"github.com/go-curator/curator/retry"
)

// start returns a client of the examples' server.
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

type Task struct{ Name string }

// Tasks of which none may be lost, however the program ends.
func ExampleDistributedQueue() {
	ctx := context.Background()
	client := start(ctx)
	defer client.Close(ctx)

	tasks, err := queue.NewDistributedQueue(client, "/queues/tasks", codec.JSON[Task](), queue.WithLockPath("/queues/tasks-locks"))
	if err != nil {
		log.Fatal(err)
	}
	if err := tasks.Put(ctx, Task{"wash"}, Task{"dry"}); err != nil {
		log.Fatal(err)
	}

	ctx, stop := context.WithCancel(ctx)
	err = tasks.Consume(ctx, func(ctx context.Context, m queue.Message[Task]) error {
		fmt.Println(m.Item.Name)
		if m.Item.Name == "dry" {
			stop()
		}
		return nil // an error puts the item back
	})
	fmt.Println(err)
	// Output:
	// wash
	// dry
	// <nil>
}

// An item is removed in the same transaction in which its effect is written.
func ExampleMessage_Guard() {
	ctx := context.Background()
	client := start(ctx)
	defer client.Close(ctx)

	tasks, err := queue.NewDistributedQueue(client, "/guarded/tasks", codec.JSON[Task](), queue.WithLockPath("/guarded/tasks-locks"))
	if err != nil {
		log.Fatal(err)
	}
	if err := tasks.Put(ctx, Task{"wash"}); err != nil {
		log.Fatal(err)
	}
	ctx, stop := context.WithCancel(ctx)
	err = tasks.Consume(ctx, func(ctx context.Context, m queue.Message[Task]) error {
		defer stop()
		results, err := m.Guard(ctx, client.TransactionOp().Create().WithMode(framework.Persistent).ForPath("/guarded/"+m.Item.Name))
		if err != nil {
			return err
		}
		fmt.Println(results[0].Path)
		return nil
	})
	fmt.Println(err)
	// Output:
	// /guarded/wash
	// <nil>
}

func ExampleDistributedIDQueue() {
	ctx := context.Background()
	client := start(ctx)
	defer client.Close(ctx)

	mails, err := queue.NewDistributedIDQueue(client, "/queues/mails", codec.String())
	if err != nil {
		log.Fatal(err)
	}
	for _, user := range []string{"ann", "bob", "ann"} {
		if err := mails.Put(ctx, user, "welcome"); err != nil {
			log.Fatal(err)
		}
	}
	fmt.Println(mails.Remove(ctx, "ann"))
	// Output: 2 <nil>
}

func ExampleDistributedPriorityQueue() {
	ctx := context.Background()
	client := start(ctx)
	defer client.Close(ctx)

	alarms, err := queue.NewDistributedPriorityQueue(client, "/queues/alarms", codec.String())
	if err != nil {
		log.Fatal(err)
	}
	if err := alarms.Put(ctx, 5, "low paper"); err != nil {
		log.Fatal(err)
	}
	if err := alarms.Put(ctx, -1, "fire"); err != nil {
		log.Fatal(err)
	}
	ctx, stop := context.WithCancel(ctx)
	err = alarms.Consume(ctx, func(_ context.Context, m queue.Message[string]) error {
		fmt.Println(m.Item)
		if m.Item == "low paper" {
			stop()
		}
		return nil
	})
	fmt.Println(err)
	// Output:
	// fire
	// low paper
	// <nil>
}

func ExampleDistributedDelayQueue() {
	ctx := context.Background()
	client := start(ctx)
	defer client.Close(ctx)

	timers, err := queue.NewDistributedDelayQueue(client, "/queues/timers", codec.String())
	if err != nil {
		log.Fatal(err)
	}
	due := time.Now().Add(20 * time.Millisecond)
	if err := timers.Put(ctx, due, "remind"); err != nil {
		log.Fatal(err)
	}
	ctx, stop := context.WithCancel(ctx)
	err = timers.Consume(ctx, func(_ context.Context, m queue.Message[string]) error {
		fmt.Println(m.Item, "after its time:", !time.Now().Before(due.Truncate(time.Millisecond)))
		stop()
		return nil
	})
	fmt.Println(err)
	// Output:
	// remind after its time: true
	// <nil>
}

func ExampleSimpleDistributedQueue() {
	ctx := context.Background()
	client := start(ctx)
	defer client.Close(ctx)

	q, err := queue.NewSimpleDistributedQueue(client, "/queues/simple")
	if err != nil {
		log.Fatal(err)
	}
	if err := q.Offer(ctx, []byte("first")); err != nil {
		log.Fatal(err)
	}
	data, err := q.Take(ctx)
	fmt.Println(string(data), err)
	_, err = q.Poll(ctx)
	fmt.Println(err)
	// Output:
	// first <nil>
	// queue /queues/simple: the queue is empty
}
