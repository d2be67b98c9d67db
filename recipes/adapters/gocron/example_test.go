package curatorgocron_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/go-co-op/gocron/v2"

	"github.com/go-curator/curator/framework"
	curatorgocron "github.com/go-curator/curator/recipes/adapters/gocron"
	"github.com/go-curator/curator/retry"
	"github.com/go-curator/curator/state"
)

// schedule is on the page of README.md.
func schedule(client *framework.Client, report func(ctx context.Context, token int64) error) (gocron.Scheduler, *curatorgocron.Locker, error) {
	locker, err := curatorgocron.NewLocker(client, "/jobs", curatorgocron.WithMinHold(5*time.Second))
	if err != nil {
		return nil, nil, err
	}
	scheduler, err := gocron.NewScheduler(gocron.WithDistributedLocker(locker))
	if err != nil {
		return nil, nil, err
	}
	_, err = scheduler.NewJob(
		gocron.DailyJob(1, gocron.NewAtTimes(gocron.NewAtTime(3, 0, 0))),
		gocron.NewTask(func(ctx context.Context) error {
			lease := locker.Lease("report")
			return report(lease.Bind(ctx), lease.Token()) // ends when the lock is lost
		}),
		gocron.WithName("report"))
	return scheduler, locker, err
}

// stop is on the page of README.md.
func stop(ctx context.Context, scheduler gocron.Scheduler, locker *curatorgocron.Locker, client *framework.Client) error {
	return errors.Join(scheduler.Shutdown(), locker.Close(ctx), client.Close(ctx))
}

// Two processes have the same job, and fire at the same time. One of them runs the job.
func ExampleNewLocker() {
	ctx := context.Background()
	ran := make(chan string, 2)
	for range 2 {
		client, err := framework.NewClient(connectString, retry.ExponentialBackoff(time.Second, 3),
			framework.WithErrorPolicy(state.SessionErrorPolicy()))
		if err != nil {
			log.Fatal(err)
		}
		if err := client.Start(ctx); err != nil {
			log.Fatal(err)
		}
		scheduler, locker, err := schedule(client, func(_ context.Context, token int64) error {
			ran <- fmt.Sprint("the report, with a token: ", token > 0)
			return nil
		})
		if err != nil {
			log.Fatal(err)
		}
		defer stop(ctx, scheduler, locker, client)
		scheduler.Start()
		for _, job := range scheduler.Jobs() {
			if err := job.RunNow(); err != nil { // the example does not wait until three o'clock
				log.Fatal(err)
			}
		}
	}
	fmt.Println(<-ran)
	select {
	case again := <-ran:
		fmt.Println("again:", again)
	case <-time.After(time.Second):
	}
	// Output: the report, with a token: true
}
