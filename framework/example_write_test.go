package framework_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"strings"
	"time"

	"github.com/go-curator/curator/framework"
)

func ExampleCreateBuilder() {
	ctx := context.Background()
	client := start(ctx)
	defer client.Close(ctx)

	path, err := client.Create().CreatingParentsIfNeeded().WithData([]byte("on")).ForPath(ctx, "/create/flags/dark")
	fmt.Println(path, err)
	_, err = client.Create().ForPath(ctx, "/create/flags/dark")
	fmt.Println("again:", errors.Is(err, framework.ErrNodeExists))
	// Output:
	// /create/flags/dark <nil>
	// again: true
}

// A protected node has an id in its name, by which a create whose reply was lost finds it.
func ExampleCreateBuilder_WithProtection() {
	ctx := context.Background()
	client := start(ctx)
	defer client.Close(ctx)

	path, err := client.Create().
		CreatingParentContainersIfNeeded().
		WithProtection().
		WithMode(framework.EphemeralSequential).
		ForPath(ctx, "/protection/worker-")
	if err != nil {
		log.Fatal(err)
	}
	id, number, _ := strings.Cut(strings.TrimPrefix(path, "/protection/"), "-worker-")
	fmt.Println(strings.HasPrefix(id, "_c_"), number)
	// Output: true 0000000000
}

func ExampleCreateBuilder_WithTTL() {
	ctx := context.Background()
	client := start(ctx)
	defer client.Close(ctx)

	path, err := client.Create().
		WithMode(framework.PersistentWithTTL).
		WithTTL(10*time.Minute). // after the last write
		ForPath(ctx, "/offer")
	fmt.Println(path, err)
	// Output: /offer <nil>
}

func ExampleDeleteBuilder() {
	ctx := context.Background()
	client := start(ctx)
	defer client.Close(ctx)

	if _, err := client.Create().CreatingParentsIfNeeded().ForPath(ctx, "/delete/job/step/log"); err != nil {
		log.Fatal(err)
	}
	err := client.Delete().ForPath(ctx, "/delete/job")
	fmt.Println("not empty:", errors.Is(err, framework.ErrNotEmpty))
	// The subtree goes, even if the connection is lost now and comes back later.
	err = client.Delete().Guaranteed().DeletingChildrenIfNeeded().ForPath(ctx, "/delete/job")
	fmt.Println("subtree:", err)
	err = client.Delete().Quietly().ForPath(ctx, "/delete/job")
	fmt.Println("quietly:", err)
	// Output:
	// not empty: true
	// subtree: <nil>
	// quietly: <nil>
}

func ExampleSetDataBuilder() {
	ctx := context.Background()
	client := start(ctx)
	defer client.Close(ctx)

	if _, err := client.Create().WithData([]byte("1")).ForPath(ctx, "/setdata"); err != nil {
		log.Fatal(err)
	}
	stat, err := client.SetData().WithVersion(0).ForPath(ctx, "/setdata", []byte("2"))
	fmt.Println("version:", stat.Version, err)
	_, err = client.SetData().WithVersion(0).ForPath(ctx, "/setdata", []byte("3"))
	fmt.Println("somebody else was faster:", errors.Is(err, framework.ErrBadVersion))
	// Output:
	// version: 1 <nil>
	// somebody else was faster: true
}

func ExampleSetACLBuilder() {
	ctx := context.Background()
	client := start(ctx, framework.WithAuthorization("digest", []byte("app:secret")))
	defer client.Close(ctx)

	if _, err := client.Create().ForPath(ctx, "/setacl"); err != nil {
		log.Fatal(err)
	}
	stat, err := client.SetACL().WithVersion(0).ForPath(ctx, "/setacl", framework.CreatorAllACL())
	fmt.Println("version of the ACL:", stat.Aversion, err)

	otherClient := start(ctx)
	defer otherClient.Close(ctx)
	_, err = otherClient.GetData().ForPath(ctx, "/setacl")
	fmt.Println("others are kept out:", errors.Is(err, framework.ErrNoAuth))
	// Output:
	// version of the ACL: 1 <nil>
	// others are kept out: true
}

func ExampleGetACLBuilder() {
	ctx := context.Background()
	client := start(ctx)
	defer client.Close(ctx)

	readable := framework.ACL{Perms: framework.PermRead | framework.PermDelete, Scheme: "world", ID: "anyone"}
	if _, err := client.Create().WithACL(readable).ForPath(ctx, "/getacl"); err != nil {
		log.Fatal(err)
	}
	acl, err := client.GetACL().ForPath(ctx, "/getacl")
	if err != nil {
		log.Fatal(err)
	}
	for _, a := range acl {
		fmt.Println(a.Scheme, a.ID, a.Perms&framework.PermWrite != 0)
	}
	// Output: world anyone false
}

// Operations of a batch succeed or fail by themselves, and take one round trip together.
func ExampleBatchBuilder() {
	ctx := context.Background()
	client := start(ctx)
	defer client.Close(ctx)

	op := client.TransactionOp()
	results, err := client.Batch().ForOperations(ctx,
		op.Create().ForPath("/batch"),
		op.Delete().ForPath("/batch/missing"),
		op.SetData().ForPath("/batch", []byte("new")))
	if err != nil {
		log.Fatal(err)
	}
	for _, r := range results {
		fmt.Println(r.Op, r.Err == nil, errors.Is(r.Err, framework.ErrNoNode))
	}
	// Output:
	// create true false
	// delete false true
	// setData true false
}

func ExampleTransactionBuilder() {
	ctx := context.Background()
	client := start(ctx)
	defer client.Close(ctx)

	op := client.TransactionOp()
	results, err := client.Transaction().ForOperations(ctx,
		op.Create().WithData([]byte("7")).ForPath("/job"),
		op.Create().WithMode(framework.PersistentSequential).ForPath("/job/step-"),
		op.SetData().WithVersion(0).ForPath("/job", []byte("8")))
	if err != nil {
		log.Fatal(err)
	}
	for _, r := range results {
		fmt.Println(r.Op, r.Path, r.Stat.Version)
	}
	// Output:
	// create /job 0
	// create /job/step-0000000000 0
	// setData /job 1
}

// Work in the background belongs to the client: Close gives it the time that its context has.
func ExampleCreateBuilder_InBackground() {
	ctx := context.Background()
	client := start(ctx)

	created := func(_ context.Context, path string, err error) { fmt.Println(path, err) }
	if err := client.Create().InBackground(ctx, "/background", created); err != nil {
		log.Fatal(err)
	}
	if err := client.Close(ctx); err != nil {
		log.Fatal(err)
	}
	// Output: /background <nil>
}

// A server joins an ensemble, unless somebody else has changed it since.
func ExampleReconfigBuilder() {
	ctx := context.Background()
	client := start(ctx, framework.WithAuthorization("digest", []byte("super:secret")))
	defer client.Close(ctx)

	config, err := client.Reconfig().
		Joining("server.4=zk4:2888:3888:participant;2181").
		FromConfig(0x100000000).
		ForEnsemble(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(string(config))
}
