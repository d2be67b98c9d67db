package modeled_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/framework/codec"
	"github.com/go-curator/curator/recipes/locks"
	"github.com/go-curator/curator/recipes/modeled"
	"github.com/go-curator/curator/retry"
)

// start returns a client of the examples' server.
func start(ctx context.Context) *framework.Client {
	client, err := framework.NewClient(connectString, retry.ExponentialBackoff(time.Second, 3))
	if err != nil {
		log.Fatal(err)
	}
	if err := client.Start(ctx); err != nil {
		log.Fatal(err)
	}
	return client
}

// account is a model, and accounts is where its nodes are.
type account struct{ Owner, Currency string }

func accounts(client *framework.Client) modeled.ModeledFramework[account] {
	return modeled.Wrap(client, modeled.ModelSpec[account]{
		Path: modeled.ParseZPathWithIDs("/accounts/{bank}/{id}"), Codec: codec.JSON[account](),
	})
}

func ExampleWrap() {
	ctx := context.Background()
	client := start(ctx)
	defer client.Close(ctx)

	bank := accounts(client).Resolved("north") // the id is left
	for id, owner := range []string{"ann", "bob"} {
		if _, err := bank.Resolved(id).Set(ctx, account{owner, "EUR"}); err != nil {
			log.Fatal(err)
		}
	}
	node, err := bank.Resolved(1).Modify(ctx, func(a account) (account, error) {
		a.Currency = "SEK"
		return a, nil
	})
	fmt.Println(node.Path, node.Model, node.Stat.Version, err)

	all, err := bank.WithPath(bank.Spec().Path.Parent()).ChildNodes(ctx)
	for _, node := range all {
		fmt.Println(node.Path.Name(), node.Model.Owner)
	}
	fmt.Println(err)
	// Output:
	// /accounts/north/1 {bob SEK} 1 <nil>
	// 0 ann
	// 1 bob
	// <nil>
}

// Two models are written in one transaction, if the lock is still held.
func ExampleModeledFramework_UpdateOp() {
	ctx := context.Background()
	client := start(ctx)
	defer client.Close(ctx)

	bank := accounts(client).Resolved("south")
	for id := range 2 {
		if _, err := bank.Resolved(id).Set(ctx, account{"ann", "EUR"}); err != nil {
			log.Fatal(err)
		}
	}
	mutex, err := locks.NewInterProcessMutex(client, "/accounts-lock")
	if err != nil {
		log.Fatal(err)
	}
	err = locks.Do(ctx, mutex, func(ctx context.Context, lease *locks.Lease) error {
		_, err := lease.Guard(ctx, bank.Resolved(0).UpdateOp(account{"bob", "EUR"}), bank.Resolved(1).DeleteOp())
		return err
	})
	node, _ := bank.Resolved(0).Read(ctx)
	fmt.Println(node.Model.Owner, err)
	// Output:
	// bob <nil>
}

// Reads come from memory, and writes go to the server.
func ExampleCachedModeledFramework() {
	ctx := context.Background()
	client := start(ctx)
	defer client.Close(ctx)

	bank := accounts(client).Resolved("east")
	cached, err := bank.Cached()
	if err != nil {
		log.Fatal(err)
	}
	if err := cached.Start(ctx); err != nil {
		log.Fatal(err)
	}
	defer cached.Close(ctx)

	node, err := bank.Resolved(7).Set(ctx, account{"eve", "EUR"})
	if err != nil {
		log.Fatal(err)
	}
	if err := cached.Await(ctx, node.Stat.Mzxid); err != nil {
		log.Fatal(err)
	}
	for path, node := range cached.All() {
		fmt.Println(path, node.Model.Owner)
	}
	// Output:
	// /accounts/east/7 eve
}

func ExampleZPath() {
	path := modeled.ParseZPathWithIDs("/accounts/{bank}/{id}")
	fmt.Println(path, path.Resolved("north"), path.Resolved("north", 7))
	_, err := path.Resolved("north").Path()
	fmt.Println(err)
	_, err = path.Resolved("../etc", 7).Path()
	fmt.Println(err)
	// Output:
	// /accounts/{bank}/{id} /accounts/north/{id} /accounts/north/7
	// invalid path: /accounts/north/{id}: the parameter {id} has no value
	// invalid path: /accounts/{bank}/{id}: parameter {bank}: the name "../etc" contains a slash
}
