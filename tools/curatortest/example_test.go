package curatortest_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/retry"
	"github.com/go-curator/curator/tools/curatortest"
)

// New is for where there is no test, as here or in TestMain; a test calls Start, and
// Server.Client.
func ExampleNew() {
	ctx := context.Background()
	server, err := curatortest.New()
	if err != nil {
		log.Fatal(err)
	}
	defer server.Close()

	client, err := framework.NewClient(server.ConnectString(), retry.ExponentialBackoff(100*time.Millisecond, 3))
	if err != nil {
		log.Fatal(err)
	}
	if err := client.Start(ctx); err != nil {
		log.Fatal(err)
	}
	defer client.Close(ctx)

	for _, path := range []string{"/orders", "/orders/1", "/orders/2"} {
		if _, err := client.Create().WithData([]byte("new")).ForPath(ctx, path); err != nil {
			log.Fatal(err)
		}
	}
	data, ok := server.Get("/orders/2")
	fmt.Println(server.Children("/orders"), string(data), ok)
	// Output: [1 2] new true
}
