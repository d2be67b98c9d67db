package main

import (
	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/recipes/locks"
)

// kind is a thing that a command runs under.
type kind struct {
	name    string // of the command of curator
	noun    string // "the lock", in messages
	verb    string // what others do who have it, in messages
	short   string
	help    string
	example string
	open    func(client *framework.Client, path string, flags runFlags) (locks.InterProcessLock, error)
}

// kinds are all of them. There is one set of rules for a command that runs, whatever it
// runs under.
var kinds = []kind{
	{
		name: "lock", noun: "the lock", verb: "held", short: "Run a command while holding a lock",
		help: lockHelp, example: lockExample,
		open: func(client *framework.Client, path string, _ runFlags) (locks.InterProcessLock, error) {
			return locks.NewInterProcessMutex(client, path)
		},
	},
	{
		name: "rlock", noun: "the read lock", verb: "held", short: "Run a command while holding a read lock",
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
		name: "wlock", noun: "the write lock", verb: "held", short: "Run a command while holding a write lock",
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
		name: "semaphore", noun: "the semaphore", verb: "held", short: "Run a command while holding one of N leases",
		help: semaphoreHelp, example: semaphoreExample,
		open: func(client *framework.Client, path string, flags runFlags) (locks.InterProcessLock, error) {
			return locks.NewInterProcessSemaphoreV2(client, path, flags.leases)
		},
	},
	{
		name: "elect", noun: "the election", verb: "led", short: "Run a command while leading an election",
		help: electHelp, example: electExample,
		// This is what a LeaderSelector of package leader, and Java's, has: a mutex whose nodes
		// have the participants' ids as their data. A selector itself has no --try.
		open: func(client *framework.Client, path string, flags runFlags) (locks.InterProcessLock, error) {
			return locks.NewInterProcessMutex(client, path, locks.WithNodeData([]byte(flags.id)))
		},
	},
}
