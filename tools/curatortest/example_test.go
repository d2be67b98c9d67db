package curatortest_test

import (
	"context"
	"errors"
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

// A test that scripts a fault asks afterwards whether it has happened.
func ExampleServer_Inject() {
	ctx := context.Background()
	server, err := curatortest.New()
	if err != nil {
		log.Fatal(err)
	}
	defer server.Close()
	client, err := framework.NewClient(server.ConnectString(), retry.ExponentialBackoff(10*time.Millisecond, 3))
	if err != nil {
		log.Fatal(err)
	}
	if err := client.Start(ctx); err != nil {
		log.Fatal(err)
	}
	defer client.Close(ctx)

	hit := server.Inject(curatortest.Rule{Op: "create", Path: "/orders", Do: curatortest.Fail(framework.ErrNoAuth)})
	_, err = client.Create().ForPath(ctx, "/orders")
	fmt.Println("refused:", errors.Is(err, framework.ErrNoAuth), hit())

	_, err = client.Create().WithMode(framework.Ephemeral).ForPath(ctx, "/orders")
	fmt.Println("created:", err == nil)
	server.ExpireSession(client.SessionID())
	_, exists := server.Get("/orders")
	fmt.Println("there after the session:", exists)
	// Output:
	// refused: true true
	// created: true
	// there after the session: false
}
