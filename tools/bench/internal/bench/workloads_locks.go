package bench

import (
	"fmt"

	"github.com/go-curator/curator/tools/bench/internal/protocol"
)

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
