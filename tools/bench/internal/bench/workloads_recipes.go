package bench

import (
	"context"
	"fmt"

	"github.com/go-curator/curator/tools/bench/internal/measure"
	"github.com/go-curator/curator/tools/bench/internal/protocol"
)

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
		name: "group-100", kind: protocol.Group, clients: 8, waiters: 100, repeat: true,
		about: "100 members of 8 clients join a group at once, until each knows all of them: an operation is a member",
		local: func(ctx context.Context, l *local, w workload, path string, _ timing) (measure.Run, error) {
			return l.groupJoin(ctx, w.clients, w.waiters, path)
		},
	})
	for _, n := range []int{1, 8} {
		all = append(all, workload{
			name: fmt.Sprintf("atomic-%d", n), kind: protocol.Atomic, clients: n, about: fmt.Sprintf("%d clients add one to a number", n),
			local: func(ctx context.Context, l *local, w workload, path string, t timing) (measure.Run, error) {
				return l.increments(ctx, w.clients, path, t)
			},
		})
	}
	all = append(all, workload{
		name: "barrier-8", kind: protocol.Barrier, clients: 8,
		about: "8 clients enter and leave a double barrier together, round after round: an operation is a member's part of a round",
		local: func(ctx context.Context, l *local, w workload, path string, t timing) (measure.Run, error) {
			return l.rounds(ctx, w.clients, path, t)
		},
	})
	return all
}
