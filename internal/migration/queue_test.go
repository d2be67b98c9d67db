package migration_test

import (
	"context"
	"errors"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/framework/codec"
	"github.com/go-curator/curator/recipes/queue"
)

func tasks(ctx context.Context, client *framework.Client) error {
	tasks, err := queue.NewDistributedQueue(client, "/queues/tasks", codec.String(), queue.WithLockPath("/queues/tasks-locks"))
	if err != nil {
		return err
	}
	if err := tasks.Put(ctx, "wash"); err != nil {
		return err
	}
	return tasks.Consume(ctx, func(ctx context.Context, m queue.Message[string]) error {
		return work(ctx, m.Lease.Token()) // an error puts the item back
	})
}

func priorities(ctx context.Context, client *framework.Client) error {
	jobs, err := queue.NewDistributedPriorityQueue(client, "/queues/jobs", codec.String(),
		queue.WithLockPath("/queues/jobs-locks"))
	if err != nil {
		return err
	}
	if err := jobs.Put(ctx, 5, "sweep", "wash"); err != nil {
		return err
	}
	if err := jobs.Put(ctx, -1, "alarm"); err != nil { // the lowest number comes first
		return err
	}
	return jobs.Consume(ctx, func(ctx context.Context, m queue.Message[string]) error {
		if m.Item == "" {
			return nil // ErrorMode.DELETE: the item is gone
		}
		return work(ctx, m.Lease.Token()) // ErrorMode.REQUEUE: an error puts the item back, with its priority
	})
}

func timers(ctx context.Context, client *framework.Client) error {
	timers, err := queue.NewDistributedDelayQueue(client, "/queues/timers", codec.String())
	if err != nil {
		return err
	}
	return timers.Put(ctx, time.Now().Add(time.Hour), "remind")
}

func simpleQueue(ctx context.Context, client *framework.Client) error {
	simple, err := queue.NewSimpleDistributedQueue(client, "/queues/simple")
	if err != nil {
		return err
	}
	if err := simple.Offer(ctx, data); err != nil {
		return err
	}
	waiting, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	taken, err := simple.Take(waiting)
	if errors.Is(err, queue.ErrEmpty) {
		return busy()
	}
	if err != nil {
		return err
	}
	use(taken)
	return nil
}
