package locks_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/recipes/locks"
	"github.com/go-curator/curator/retry"
)

// The first program with Java Curator, call for call: a client, a mutex, acquire, work,
// release, close. In a program of your own prefer Do: see the package's example.
func Example_fromJava() {
	ctx := context.Background()
	retryPolicy := retry.ExponentialBackoff(1000*time.Millisecond, 3)
	client, err := framework.NewClient(connectString, retryPolicy)
	if err != nil {
		log.Fatal(err)
	}
	if err := client.Start(ctx); err != nil {
		log.Fatal(err)
	}
	mutex, err := locks.NewInterProcessMutex(client, "/curator/lock")
	if err != nil {
		log.Fatal(err)
	}
	// Take the lock.
	lease, err := mutex.Acquire(ctx)
	if err != nil {
		log.Fatal(err)
	}
	// We have it: do the work.
	fmt.Println("Enter mutex")
	// The work is done: give the lock back.
	if err := lease.Release(ctx); err != nil {
		log.Fatal(err)
	}
	// Close the client.
	if err := client.Close(ctx); err != nil {
		log.Fatal(err)
	}
	// Output: Enter mutex
}

// Readers are in together; a writer waits until they are gone, and keeps others out.
func ExampleInterProcessReadWriteLock() {
	ctx := context.Background()
	client := start(ctx)
	defer client.Close(ctx)

	lock, err := locks.NewInterProcessReadWriteLock(client, "/locks/catalogue")
	if err != nil {
		log.Fatal(err)
	}
	one, err := lock.ReadLock().Acquire(ctx)
	if err != nil {
		log.Fatal(err)
	}
	two, err := lock.ReadLock().Acquire(ctx)
	if err != nil {
		log.Fatal(err)
	}
	_, err = lock.WriteLock().TryAcquire(ctx)
	fmt.Println("a writer beside two readers:", errors.Is(err, locks.ErrNotAcquired))
	if err := errors.Join(one.Release(ctx), two.Release(ctx)); err != nil {
		log.Fatal(err)
	}
	err = locks.TryDo(ctx, lock.WriteLock(), func(ctx context.Context, lease *locks.Lease) error {
		fmt.Println("the writer is alone")
		return nil
	})
	if err != nil {
		log.Fatal(err)
	}
	// Output:
	// a writer beside two readers: true
	// the writer is alone
}

// A writer publishes and then reads on, without letting another writer in between.
func ExampleInterProcessReadWriteLock_Downgrade() {
	ctx := context.Background()
	client := start(ctx)
	defer client.Close(ctx)

	lock, err := locks.NewInterProcessReadWriteLock(client, "/locks/index")
	if err != nil {
		log.Fatal(err)
	}
	write, err := lock.WriteLock().Acquire(ctx)
	if err != nil {
		log.Fatal(err)
	}
	read, err := lock.Downgrade(ctx, write)
	if err != nil {
		log.Fatal(err)
	}
	defer read.Release(ctx)
	fmt.Println("the write lease:", write.Err())
	fmt.Println("the token is the writer's:", read.Token() == write.Token())
	_, err = lock.ReadLock().TryAcquire(ctx)
	fmt.Println("another reader:", err)
	// Output:
	// the write lease: lock not held: released
	// the token is the writer's: true
	// another reader: <nil>
}

// At most two at a time: each Acquire takes a lease, also with the context of another.
func ExampleInterProcessSemaphore() {
	ctx := context.Background()
	client := start(ctx)
	defer client.Close(ctx)

	semaphore, err := locks.NewInterProcessSemaphore(client, "/semaphores/uploads", 2)
	if err != nil {
		log.Fatal(err)
	}
	var leases []*locks.Lease
	for {
		lease, err := semaphore.TryAcquire(ctx)
		if errors.Is(err, locks.ErrNotAcquired) {
			break
		}
		if err != nil {
			log.Fatal(err)
		}
		leases = append(leases, lease)
	}
	fmt.Println("leases:", len(leases))
	for _, lease := range leases {
		if err := lease.Release(ctx); err != nil {
			log.Fatal(err)
		}
	}
	// Output: leases: 2
}

// Two accounts are locked together, always in the same order, so that two transfers
// between the same accounts do not wait for each other.
func ExampleInterProcessMultiLock() {
	ctx := context.Background()
	client := start(ctx)
	defer client.Close(ctx)

	var accounts []locks.InterProcessLock
	for _, account := range []string{"alice", "bob"} {
		mutex, err := locks.NewInterProcessMutex(client, "/locks/accounts/"+account)
		if err != nil {
			log.Fatal(err)
		}
		accounts = append(accounts, mutex)
	}
	both, err := locks.NewInterProcessMultiLock(accounts...)
	if err != nil {
		log.Fatal(err)
	}
	err = locks.Do(ctx, both, func(ctx context.Context, lease *locks.Lease) error {
		fmt.Println("parts:", len(lease.Parts()))
		_, err := accounts[1].TryAcquire(context.Background()) // not by ctx, which re-enters
		fmt.Println("bob is locked, too:", errors.Is(err, locks.ErrNotAcquired))
		return nil
	})
	fmt.Println(err)
	// Output:
	// parts: 2
	// bob is locked, too: true
	// <nil>
}

// What is written to ZooKeeper under a lock can be made to depend on the lock itself: the
// write of a holder who has lost it, and does not know yet, is refused.
func ExampleLease_Guard() {
	ctx := context.Background()
	client := start(ctx)
	defer client.Close(ctx)

	mutex, err := locks.NewInterProcessMutex(client, "/locks/report")
	if err != nil {
		log.Fatal(err)
	}
	lease, err := mutex.Acquire(ctx)
	if err != nil {
		log.Fatal(err)
	}
	done := client.TransactionOp().Create().ForPath("/report-done")
	_, err = lease.Guard(ctx, done)
	fmt.Println("while it is held:", err)
	fmt.Println("asked of the quorum:", lease.Verify(ctx))

	if err := lease.Release(ctx); err != nil {
		log.Fatal(err)
	}
	_, err = lease.Guard(ctx, client.TransactionOp().Delete().ForPath("/report-done"))
	fmt.Println("afterwards:", err)
	// Output:
	// while it is held: <nil>
	// asked of the quorum: <nil>
	// afterwards: lock not held: released
}
