package latch_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/go-curator/curator/docs/examples/latch"
	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/retry"
	"github.com/go-curator/curator/tools/curatortest"
)

// Workers wait until the database is ready.
func Example() {
	ctx := context.Background()
	server, err := curatortest.New()
	if err != nil {
		log.Fatal(err)
	}
	defer server.Close()
	client, err := framework.NewClient(server.ConnectString(), retry.ExponentialBackoff(100*time.Millisecond, 5))
	if err != nil {
		log.Fatal(err)
	}
	if err := client.Start(ctx); err != nil {
		log.Fatal(err)
	}
	defer client.Close(ctx)

	ready := latch.New(client, "/db/ready")
	defer ready.Close()
	done := make(chan error)
	go func() { done <- ready.Wait(ctx) }()
	if err := ready.Set(ctx); err != nil {
		log.Fatal(err)
	}
	fmt.Println("let in:", <-done)

	if err := ready.Reset(ctx); err != nil {
		log.Fatal(err)
	}
	short, cancel := context.WithTimeout(ctx, 10*time.Millisecond)
	defer cancel()
	fmt.Println("waits again:", errors.Is(ready.Wait(short), context.DeadlineExceeded))
	// Output:
	// let in: <nil>
	// waits again: true
}
