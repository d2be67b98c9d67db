package locks

import (
	"slices"

	"github.com/go-curator/curator/internal/zkconn"
)

// The countdown lets a waiter in that has seen enough of those ahead of it go, without
// another look at the queue.
//
// Nodes do not come back, and new ones come behind. So those that were ahead when the waiter looked are
// all that can be ahead of it ever after, and with every deletion that it is told of it is one
// less. When fewer are left than the lock has leases, it is let in, whatever they went for.
//
// There are two exceptions. A writer that becomes a reader makes a node at its own place, ahead
// of writers that have looked already: these do not count down while a writer is ahead.
// And a node of the waiter's own session may have gone with the session, and the waiter's node in
// the same transaction.
//
// The own node is watched as for the baton.

// countedDown tells whether the contender is let in. Not if it is for several leases: not all
// of its nodes are watched.
func (c *contender) countedDown() bool {
	if !c.wish.steady {
		return false
	}
	left := c.wish.left
	for _, w := range c.vigil.watches {
		if w.role != nodeAhead || w.fired() != zkconn.NodeDeleted {
			continue
		}
		if w.owner == c.node.Session {
			return false
		}
		left--
	}
	return left < c.in.maxLeases
}

// before returns who is ahead in the queue.
func before(queue []string, ours string) []string {
	return queue[:max(0, slices.Index(queue, ours))]
}

// writersBefore returns the writers ahead of a reader, but for the one that it was.
func writersBefore(queue []string, ours string) []string {
	var writers []string
	for _, name := range before(queue, ours) {
		if isWriter(name) && orderOf(name) != orderOf(ours) {
			writers = append(writers, name)
		}
	}
	return writers
}

func noWriter(ahead []string) bool { return !slices.ContainsFunc(ahead, isWriter) }
