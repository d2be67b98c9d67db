package main

import (
	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/recipes/locks"
)

// kind is a kind of lock that CMD can run under.
type kind struct {
	name    string // of the command of curator
	noun    string // for messages, such as "the lock"
	held    string // for messages, such as "held" by somebody
	got     string // for messages, such as "acquired"
	short   string
	help    string
	example string
	open    func(client *framework.Client, path string, flags runFlags) (locks.InterProcessLock, error)
}

// kinds are all kinds of locks. The rules for CMD are the same for all of them.
var kinds = []kind{
	{
		name: "lock", noun: "the lock", held: "held", got: "acquired", short: "Run a command while holding a lock",
		help: lockHelp, example: lockExample,
		open: func(client *framework.Client, path string, _ runFlags) (locks.InterProcessLock, error) {
			return locks.NewInterProcessMutex(client, path)
		},
	},
	{
		name: "rlock", noun: "the read lock", held: "held", got: "acquired", short: "Run a command while holding a read lock",
		help: rlockHelp, example: rlockExample,
		open: func(client *framework.Client, path string, _ runFlags) (locks.InterProcessLock, error) {
			lock, err := locks.NewInterProcessReadWriteLock(client, path)
			if err != nil {
				return nil, err
			}
			return lock.ReadLock(), nil
		},
	},
	{
		name: "wlock", noun: "the write lock", held: "held", got: "acquired", short: "Run a command while holding a write lock",
		help: wlockHelp, example: wlockExample,
		open: func(client *framework.Client, path string, _ runFlags) (locks.InterProcessLock, error) {
			lock, err := locks.NewInterProcessReadWriteLock(client, path)
			if err != nil {
				return nil, err
			}
			return lock.WriteLock(), nil
		},
	},
	{
		name: "semaphore", noun: "the semaphore", held: "held", got: "acquired", short: "Run a command while holding one of N leases",
		help: semaphoreHelp, example: semaphoreExample,
		open: func(client *framework.Client, path string, flags runFlags) (locks.InterProcessLock, error) {
			return locks.NewInterProcessSemaphoreV2(client, path, flags.leases)
		},
	},
	{
		name: "elect", noun: "the election", held: "led", got: "won", short: "Run a command while leading an election",
		help: electHelp, example: electExample,
		// The LeaderSelector of package leader, and that of Java, use a mutex, with the ids of the
		// participants as the data of its nodes. A LeaderSelector itself could not do --try.
		open: func(client *framework.Client, path string, flags runFlags) (locks.InterProcessLock, error) {
			return locks.NewInterProcessMutex(client, path, locks.WithNodeData([]byte(flags.id)))
		},
	},
}
