// Controller keeps the number of workers at the value of a node. Many processes may run it: one
// of them leads and works, and the others wait to take over.
//
//	go run ./controller -connect 127.0.0.1:2181
//
// and in another terminal, from the top of the repository,
//
//	go run ./tools/curator create -p /fleet/wanted 3
//
// The leader writes through Lease.Guard. A process that was cut off or paused may believe that
// it leads although another process does; the server refuses its writes.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/recipes/leader"
	"github.com/go-curator/curator/recipes/locks"
	"github.com/go-curator/curator/retry"
)

func main() {
	connect := flag.String("connect", "127.0.0.1:2181", "the ZooKeeper servers, as `host:port,...`")
	every := flag.Duration("every", time.Second, "the time between two looks")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, *connect, *every); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, connect string, every time.Duration) (err error) {
	client, err := framework.NewClient(connect, retry.ExponentialBackoff(100*time.Millisecond, 5))
	if err != nil {
		return err
	}
	if err := client.Start(ctx); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, client.Close(ctx)) }()

	selector, err := leader.NewLeaderSelector(client, "/fleet/leader")
	if err != nil {
		return err
	}
	c := controller{client, every}
	return selector.Run(ctx, c.lead)
}

type controller struct {
	client *framework.Client
	every  time.Duration
}

// lead works until its term ends. An error does not end it: the next look may go better.
func (c controller) lead(ctx context.Context, lease *locks.Lease) error {
	log.Print("leading, with token ", lease.Token())
	tick := time.NewTicker(c.every)
	defer tick.Stop()
	for {
		if err := c.reconcile(ctx, lease); err != nil && ctx.Err() == nil {
			log.Print(err)
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return context.Cause(ctx) // the selector stands again, unless the program ends
		}
	}
}

// reconcile makes or deletes workers until there are as many as wanted.
func (c controller) reconcile(ctx context.Context, lease *locks.Lease) error {
	data, err := c.client.GetData().ForPath(ctx, "/fleet/wanted")
	if errors.Is(err, framework.ErrNoNode) {
		return nil // nobody has asked for workers yet
	}
	if err != nil {
		return err
	}
	wanted, err := strconv.Atoi(string(data))
	if err != nil {
		return fmt.Errorf("/fleet/wanted: %w", err)
	}
	_, err = c.client.Create().CreatingParentsIfNeeded().ForPath(ctx, "/fleet/workers")
	if err != nil && !errors.Is(err, framework.ErrNodeExists) {
		return err
	}
	workers, err := c.client.GetChildren().ForPath(ctx, "/fleet/workers")
	if err != nil {
		return err
	}

	var ops []framework.Op
	for i := len(workers); i < wanted; i++ {
		ops = append(ops, c.client.TransactionOp().Create().WithMode(framework.PersistentSequential).ForPath("/fleet/workers/worker-"))
	}
	for _, surplus := range workers[min(max(wanted, 0), len(workers)):] {
		ops = append(ops, c.client.TransactionOp().Delete().ForPath("/fleet/workers/"+surplus))
	}
	if len(ops) == 0 {
		return nil
	}
	_, err = lease.Guard(ctx, ops...)
	return err
}
