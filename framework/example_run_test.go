package framework_test

import (
	"context"
	"fmt"
	"log"

	"golang.org/x/sync/errgroup"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/recipes/cache"
)

// A service ends with a signal. Run then closes the recipes, and the client is closed last.
func ExampleRun() {
	// In a program: signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	client := start(ctx)
	defer client.Close(ctx) // works although ctx has ended
	if _, err := client.Create().WithData([]byte("20")).ForPath(ctx, "/limit"); err != nil {
		log.Fatal(err)
	}

	limit, err := cache.NewNodeCache(client, "/limit")
	if err != nil {
		log.Fatal(err)
	}
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return framework.Run(ctx, limit) })
	g.Go(func() error {
		for range limit.Updates(ctx) { // until ctx ends
			node, _ := limit.Get("/limit")
			fmt.Printf("limit %s\n", node.Data)
			stop() // as the signal does
		}
		return nil
	})
	fmt.Println("ended:", g.Wait())
	// Output:
	// limit 20
	// ended: <nil>
}
