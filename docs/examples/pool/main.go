// Pool works through tasks in any number of processes. At most -leases tasks run at the same
// time.
//
//	go run ./pool -connect 127.0.0.1:2181 -leases 3 one two three four five
//
// All processes must use the same number of leases. When the session of a process ends, its
// tasks are stopped, and other processes get their leases.
package main

import (
	"context"
	"errors"
	"flag"
	"log"
	"os"
	"os/signal"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/recipes/locks"
	"github.com/go-curator/curator/retry"
)

func main() {
	connect := flag.String("connect", "127.0.0.1:2181", "the ZooKeeper servers, as `host:port,...`")
	leases := flag.Int("leases", 3, "how many tasks may run at the same time, in all processes")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, *connect, *leases, flag.Args()); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, connect string, leases int, tasks []string) (err error) {
	client, err := framework.NewClient(connect, retry.ExponentialBackoff(100*time.Millisecond, 5))
	if err != nil {
		return err
	}
	if err := client.Start(ctx); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, client.Close(ctx)) }()
	return work(ctx, client, leases, tasks, do)
}

// work calls do for each task, with a lease for each. The first error ends the others.
func work(ctx context.Context, client *framework.Client, leases int, tasks []string, do func(ctx context.Context, task string) error) error {
	semaphore, err := locks.NewInterProcessSemaphoreV2(client, "/pool", leases)
	if err != nil {
		return err
	}
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(leases) // more could not run, and would only wait at the server
	for _, task := range tasks {
		g.Go(func() error {
			return locks.Do(ctx, semaphore, func(ctx context.Context, _ *locks.Lease) error { return do(ctx, task) })
		})
	}
	return g.Wait()
}

// do is a task. It stops when ctx ends, because its lease may be lost then.
func do(ctx context.Context, task string) error {
	log.Print("working on ", task)
	select {
	case <-time.After(time.Second):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
