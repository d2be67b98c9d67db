package locks

import "github.com/go-curator/curator/internal/zkconn"

// The baton is how a holder that lets go tells the waiter right behind it so, and nobody
// else: that one is let in without another look at the queue.
//
// The holder of an exclusive lock releases it with one transaction that creates a marker
// beside its node, deletes the marker and deletes the node. Nobody ever sees the marker, but
// who has set a watch on its path is told that it was created.
//
// It proves that the waiter is next. The holder was the first, which stays so until its node
// is deleted; the transaction is applied only while that is there; so at that moment nobody
// else was ahead of the waiter, which has chosen the nearest node ahead of it that counts,
// and nobody can have come in between since. Nothing but the release makes a marker. The
// deletion of the node alone proves nothing: it may be that of a waiter that has given up.
//
// The waiter must still be in the queue when that happens. Its own node was watched before:
// if the watch has not fired, and its event would have come first, the node was there. And
// the event came on the session that owns the node: else the watch ends with another event.
//
// What would not be sound: a baton from a reader or from one of several leases, for it says
// nothing of the others; from a write lease after a downgrade, whose reader has taken a
// place ahead of waiters that have looked already; from a waiter; and a change of the own
// node's data as the sign, which a request to revoke looks like.
//
// Nor would it be sound to count the nodes ahead as they go: one transaction can delete
// several contenders, ours the last of them, as the end of a session does, or zkCli's
// deleteall.
//
// A holder that did not wait itself does not bother: most often nobody waits behind it.

// marker returns the path of a node's marker.
func marker(node string) string { return node + ".released" }

// passed tells whether the holder right ahead has passed the baton.
func (v *vigil) passed() bool {
	for _, w := range v.watches {
		if w.role == markerNode && w.fired() == zkconn.NodeCreated {
			return true
		}
	}
	return false
}

// passesBaton tells whether the node of a hold is deleted with a baton; h.mu is held.
func (h *hold) passesBaton(evict bool) bool {
	return h.in.baton.passes && h.waited && !h.reader && !evict
}

// batonRules say which kinds of locks have to do with the baton. The zero value is none: so
// it is for several leases, for rules of a user's, and with WithPlainProtocol.
type batonRules struct {
	// passes: the lock's holders pass it.
	passes bool
	// awaited tells whether the holder of a node that is waited for may pass it.
	awaited func(name string) bool
}

var (
	mutexBaton = batonRules{true, func(string) bool { return true }}
	writeBaton = batonRules{true, isWriter}
	readBaton  = batonRules{false, isWriter}
)
