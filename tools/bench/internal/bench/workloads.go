package bench

import (
	"fmt"

	"github.com/go-curator/curator/tools/bench/internal/protocol"
)

// workloads returns all workloads, in the order of the report.
func workloads() []workload { return append(lockWorkloads(), recipeWorkloads()...) }

// lockWorkloads returns the workloads of the locks, and of the client that they use.
func lockWorkloads() []workload {
	all := []workload{
		{name: "floor", kind: protocol.Floor, clients: 1, quick: true, distant: true, local: onOnePath(bare), about: "one client creates a node and deletes it: each peer's own floor"},
		{name: "solo", kind: protocol.Solo, clients: 1, quick: true, distant: true, local: onOnePath(uncontended), about: "one client acquires and releases a lock that nobody else wants"},
	}
	for _, n := range []int{2, 8, 32} {
		all = append(all, workload{
			name: fmt.Sprintf("contend-%d", n), kind: protocol.Contend, clients: n, quick: n == 8, distant: n <= 8, local: onOnePath(mutex),
			about: fmt.Sprintf("%d clients on one lock", n),
		})
	}
	for _, n := range []int{10, 100, 300, 1000} {
		all = append(all, workload{
			name: fmt.Sprintf("drain-%d", n), kind: protocol.Drain, clients: drainClients, waiters: n, quick: n == 300, distant: n == 100, repeat: true, local: drain,
			about: fmt.Sprintf("%d waiters of %d clients queue behind a holder, which then lets go: an operation is a hand-over", n, drainClients),
		})
	}
	for _, n := range []int{8, 64} {
		all = append(all, workload{
			name: fmt.Sprintf("spread-%d", n), kind: protocol.Spread, clients: n, distant: n == 8, local: onPathsOfTheirOwn,
			about: fmt.Sprintf("%d clients on locks of their own", n),
		})
	}
	for _, n := range []int{1, 128} {
		all = append(all, workload{
			name: fmt.Sprintf("throughput-%d", n), clients: 1, waiters: n, local: throughput,
			about: fmt.Sprintf("%d goroutines of one client read a node; raw writes %d requests at a time", n, n),
		})
	}
	return append(all, []workload{
		{name: "semaphore", kind: protocol.Semaphore, clients: 8, leases: 4, quick: true, distant: true, local: onOnePath(semaphore), about: "8 clients share 4 leases"},
		{name: "readers", kind: protocol.Readers, clients: 8, quick: true, distant: true, local: onOnePath(readLock), about: "8 clients on one read lock"},
		{name: "mix-90-10", kind: protocol.Mix, clients: 8, writes: 10, local: readsAndWrites, about: "8 clients on a read-write lock, one acquisition of ten is a writer's"},
		{name: "mix-50-50", kind: protocol.Mix, clients: 8, writes: 50, local: readsAndWrites, about: "8 clients on a read-write lock, every other acquisition is a writer's"},
		{name: "reentry", kind: protocol.Reentry, clients: 1, local: reentry, about: "a lock that is held is acquired again"},
		{name: "try-free", kind: protocol.TryFree, clients: 1, distant: true, local: tryFree, about: "a lock that is free is asked for without waiting"},
		{name: "try-busy", kind: protocol.TryBusy, clients: 2, distant: true, local: tryBusy, about: "a lock that somebody else holds is asked for without waiting"},
		{name: "goroutines", clients: 8, local: inOneSession(mutex), about: "8 goroutines of one client on one lock"},
		{name: "local-handover", clients: 8, local: inOneSession(handedOver), about: "the same, and they hand it over without the server, 100 times in a row at most"},
		{name: "crash", kind: protocol.Hold, waiters: 3, local: crash, about: "the holder's process is killed: an operation is from there to the next grant; the session lasts " + crashTimeout.String()},
		{name: "hold-10k", waiters: 10_000, local: holdMany, about: "one client acquires 10,000 locks; memory for each"},
		{name: "wait-10k", waiters: 10_000, local: waitMemory, about: "10,000 goroutines of one client wait, 100 for each lock; memory for each"},
	}...)
}

// recipeWorkloads returns the workloads of the other recipes.
func recipeWorkloads() []workload {
	all := []workload{
		{name: "leader-join", kind: protocol.LeaderJoin, clients: 1, local: onOnePath(latch), about: "one client starts a leader latch, waits until it leads, and closes it"},
		{name: "leader-succession-100", kind: protocol.LeaderSuccession, clients: drainClients, waiters: 100, repeat: true, local: succession, about: fmt.Sprintf("100 leader latches of %d clients stand behind a leader; each is closed as soon as it leads: an operation is a succession", drainClients)},
		{name: "leader-1000", waiters: 1000, local: latchMemory, about: "one client has 1,000 leader latches, 100 in each election; memory for each"},
		{name: "cache-load-10k", kind: protocol.CacheLoad, clients: 1, waiters: 10_000, repeat: true, local: cacheLoad, about: "one client starts a cache of 10,000 nodes"},
		{name: "cache-load-50k", kind: protocol.CacheLoad, clients: 1, waiters: 50_000, repeat: true, local: cacheLoad, about: "one client starts a cache of 50,000 nodes"},
		{name: "cache-load-100k", clients: 1, waiters: 100_000, repeat: true, local: cacheLoad, about: "one client starts a cache of 100,000 nodes; Java Curator 5.4 fails at 65,535"},
		{name: "cache-get-10k", clients: 1, waiters: 10_000, local: cacheGet, about: "one goroutine reads the nodes of a cache of 10,000 from it"},
		{name: "cache-follow", kind: protocol.CacheFollow, clients: 2, local: cacheFollow, about: fmt.Sprintf("one client writes to %d nodes, %d writes at a time, while a cache of another follows: an operation is a write, and the time that of a change until a listener is told", followedNodes, writesAtOnce)},
		{name: "cache-reload-10k", clients: 1, waiters: 10_000, repeat: true, local: cacheReload, about: "the connection of a cache of 10,000 nodes is cut: an operation is the comparison that follows"},
		{name: "queue-put", kind: protocol.QueuePut, clients: 1, local: queuePut, about: "one client puts items into a queue"},
		{name: "queue-once", kind: protocol.QueueConsume, clients: 1, waiters: backlog, repeat: true, local: queueConsume, about: fmt.Sprintf("one consumer drains %d items, each at most once", backlog)},
		{name: "queue-locked", kind: protocol.QueueConsume, clients: 1, waiters: backlog, leases: 1, repeat: true, local: queueConsume, about: fmt.Sprintf("one consumer drains %d items, each at least once, with a lock path", backlog)},
		{name: "discovery-register", kind: protocol.DiscoveryRegister, clients: 1, local: discoveryRegister, about: "one client registers an instance of a service and unregisters it"},
		{name: "discovery-choose", kind: protocol.DiscoveryChoose, clients: 1, local: discoveryChoose, about: fmt.Sprintf("one client has a provider of %d instances choose: an operation is %d choices", chosenFrom, choicesAtOnce)},
		{name: "discovery-query-1000", kind: protocol.DiscoveryQuery, clients: 1, waiters: 1000, local: discoveryQuery, about: "one client queries the 1,000 instances of a service"},
		{name: "discovery-again-1000", clients: 1, waiters: 1000, repeat: true, local: discoveryAgain, about: "the session of a client with 1,000 instances has ended: an operation is an instance, and the latency the time from when it can connect again until all are registered"},
	}
	all = append(all, workload{
		name: "group-100", kind: protocol.Group, clients: 8, waiters: 100, repeat: true, local: groupJoin,
		about: "100 members of 8 clients join a group at once, until each knows all of them: an operation is a member",
	})
	for _, n := range []int{1, 8} {
		all = append(all, workload{
			name: fmt.Sprintf("atomic-%d", n), kind: protocol.Atomic, clients: n, local: increments,
			about: fmt.Sprintf("%d clients add one to a number", n),
		})
	}
	all = append(all, workload{
		name: "barrier-8", kind: protocol.Barrier, clients: 8, local: barrierRounds,
		about: "8 clients enter and leave a double barrier together, round after round: an operation is a member's part of a round",
	})
	return all
}
