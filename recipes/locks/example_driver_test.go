package locks_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"strings"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/recipes/locks"
)

// kazooDriver also counts the nodes of kazoo's Lock, the client for Python: a UUID in hex,
// "__lock__" and the server's number. Curator's own driver overlooks them, so that
// a Python and a Go process would both get in.
//
// The server numbers all nodes of a path from one counter, for all clients. That is
// what makes this driver right: sorted by that number a new node comes last. A driver
// must not sort a newcomer before others, for its priority, say. A contender that was the first
// holds the lock and does not look at the queue again; the newcomer, seeing itself ahead,
// would hold it, too. Who wants priorities needs a queue per priority, or a leader that
// hands out the work.
type kazooDriver struct {
	locks.StandardLockInternalsDriver
}

// FixForSorting returns the number of a node of Curator or kazoo.
func (d kazooDriver) FixForSorting(name, lockName string) string {
	if order := d.StandardLockInternalsDriver.FixForSorting(name, lockName); order != "" {
		return order
	}
	return d.StandardLockInternalsDriver.FixForSorting(name, "__lock__")
}

// A driver that shares a lock with kazoo. kazoo for its part is told to look at Curator's
// nodes: Lock(client, path, extra_lock_patterns=("-lock-",)).
func ExampleLockInternalsDriver() {
	ctx := context.Background()
	client := start(ctx)
	defer client.Close(ctx)

	// What kazoo leaves in the lock's directory while it holds the lock.
	kazoo, err := client.Create().CreatingParentsIfNeeded().WithMode(framework.EphemeralSequential).
		ForPath(ctx, "/locks/shared/"+strings.Repeat("0f", 16)+"__lock__")
	if err != nil {
		log.Fatal(err)
	}
	for _, driver := range []locks.LockInternalsDriver{locks.StandardLockInternalsDriver{}, kazooDriver{}} {
		mutex, err := locks.NewInterProcessMutex(client, "/locks/shared", locks.WithDriver(driver))
		if err != nil {
			log.Fatal(err)
		}
		lease, err := mutex.TryAcquire(ctx)
		fmt.Printf("%T sees that the lock is busy: %t\n", driver, errors.Is(err, locks.ErrNotAcquired))
		if err := lease.Release(ctx); err != nil {
			log.Fatal(err)
		}
	}
	if err := client.Delete().ForPath(ctx, kazoo); err != nil {
		log.Fatal(err)
	}
	// Output:
	// locks.StandardLockInternalsDriver sees that the lock is busy: false
	// locks_test.kazooDriver sees that the lock is busy: true
}
