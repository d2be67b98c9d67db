// Daily runs a job once a day, in one of the processes that run this program.
//
//	go run ./daily -connect 127.0.0.1:2181
//
// A lock alone is not enough: two processes do not work at the same time, but they may work one
// after the other. So the program records the day in a node, in a transaction that the server
// refuses unless the lock is still held. A process that dies between the job and the record
// leaves the job to the next one, which does it again.
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

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/recipes/locks"
	"github.com/go-curator/curator/retry"
)

func main() {
	connect := flag.String("connect", "127.0.0.1:2181", "the ZooKeeper servers, as `host:port,...`")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, *connect); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, connect string) (err error) {
	client, err := framework.NewClient(connect, retry.ExponentialBackoff(100*time.Millisecond, 5))
	if err != nil {
		return err
	}
	if err := client.Start(ctx); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, client.Close(ctx)) }()

	for {
		ran, err := once(ctx, client, "/jobs/report", time.Now().UTC().Format(time.DateOnly), report)
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil:
			log.Print(err) // try again in a minute
		case ran:
			log.Print("today's report is done")
		}
		select {
		case <-time.After(time.Minute):
		case <-ctx.Done():
		}
	}
}

// once runs job unless the record says that it was done on this day, or on a later one. It tells
// whether it did.
func once(ctx context.Context, client *framework.Client, path, day string, job func(ctx context.Context) error) (ran bool, err error) {
	mutex, err := locks.NewInterProcessMutex(client, path+"/lock")
	if err != nil {
		return false, err
	}
	record := path + "/last"
	_, err = client.Create().CreatingParentsIfNeeded().WithData([]byte{}).ForPath(ctx, record)
	if err != nil && !errors.Is(err, framework.ErrNodeExists) {
		return false, err
	}

	err = locks.Do(ctx, mutex, func(ctx context.Context, lease *locks.Lease) error {
		var stat framework.Stat
		last, err := client.GetData().StoringStatIn(&stat).ForPath(ctx, record)
		if err != nil || string(last) >= day { // dates of this form are ordered as text
			return err
		}
		if err := job(ctx); err != nil {
			return err
		}
		_, err = lease.Guard(ctx, client.TransactionOp().SetData().WithVersion(stat.Version).ForPath(record, []byte(day)))
		ran = err == nil
		return err
	})
	return ran, err
}

// report is the job. It stops when ctx ends, because the lock may be lost then.
func report(ctx context.Context) error {
	log.Print("working")
	select {
	case <-time.After(5 * time.Second):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
