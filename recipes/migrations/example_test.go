package migrations_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/recipes/migrations"
	"github.com/go-curator/curator/retry"
)

// Every process of a service migrates when it starts. One of them does the work.
func ExampleMigrate() {
	ctx := context.Background()
	client, err := framework.NewClient(connectString, retry.ExponentialBackoff(time.Second, 3))
	if err != nil {
		log.Fatal(err)
	}
	if err := client.Start(ctx); err != nil {
		log.Fatal(err)
	}
	defer client.Close(ctx)

	op := client.TransactionOp()
	orders := migrations.Set{ID: "orders", Migrations: []migrations.Migration{
		{op.Create().WithData(nil).ForPath("/orders"), op.Create().WithData([]byte("v1")).ForPath("/orders/layout")},
	}}
	n, err := migrations.Migrate(ctx, client, "/migrations/locks", "/migrations/applied", orders)
	fmt.Println(n, err)

	// In the next release the set has another migration.
	orders.Migrations = append(orders.Migrations, migrations.Migration{
		op.Create().WithData(nil).ForPath("/orders/open"),
		op.SetData().ForPath("/orders/layout", []byte("v2")),
	})
	n, err = migrations.Migrate(ctx, client, "/migrations/locks", "/migrations/applied", orders)
	fmt.Println(n, err)
	// Output:
	// 1 <nil>
	// 1 <nil>
}
