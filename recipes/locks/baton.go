package locks

import (
	"strings"

	"github.com/go-curator/curator/internal/zkconn"
)

// The baton is how a holder that lets go tells the waiter right behind it so, and nobody
// else: that one is let in without another look at the queue.
//
// The holder of an exclusive lock releases it with one transaction that creates a marker beside its
// node, deletes the marker and deletes the node. Nobody ever sees the marker, but who has
// set a watch on its path is told that it was created.
//
// It proves that the waiter is next. The holder was the first, which stays so until its node is
// deleted; the transaction is applied only while that is there; so at that moment nobody else was
// ahead of the waiter, which has chosen the nearest node ahead of it that counts, and
// nobody can have come in between since. Nothing but the release makes a marker. The
// deletion of the node alone proves nothing: it may be that of a waiter that has given up.
//
// The waiter must still be in the queue when that happens. Its own node was watched before: if the
// watch has not fired, and its event would have come first, the node was there. And the
// event came on the session that owns the node: else the watch ends with another event.
//
// What would not be sound: a baton from a reader or from one of several leases, for it says
// nothing of the others; from a write lease after a downgrade, whose reader has taken a
// place ahead of waiters that have looked already; from a waiter; and a change of the own
// node's data as the sign, which a request to revoke looks like.
//
// A holder that did not wait itself does not bother: most often nobody waits behind it, and
// if one does it counts down.

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
	return h.in.shortcuts != nil && h.in.shortcuts.passes && h.waited && !h.reader && !evict
}

// shortcuts are what the rules of this package's drivers allow beyond what any driver does.
type shortcuts struct {
	// ahead returns those of the queue that ours waits for: when fewer than maxLeases of
	// them are there it is let in.
	ahead func(queue []string, ours string) []string
	// steady tells whether it is certain that nobody else comes to be ahead of who waits
	// for these.
	steady func(ahead []string) bool
	// handsOver tells whether a node's holder may pass the baton.
	handsOver func(name string) bool
	// passes tells whether this kind of hold passes the baton.
	passes bool
}

var (
	mutexShortcuts     = &shortcuts{ahead: before, steady: always, handsOver: anyone, passes: true}
	semaphoreShortcuts = &shortcuts{ahead: before, steady: always, handsOver: nobody}
	// A reader that was a writer takes the writer's place, ahead of those behind it: it does not
	// keep readers out, but writers.
	readShortcuts  = &shortcuts{ahead: writersBefore, steady: always, handsOver: anyone}
	writeShortcuts = &shortcuts{ahead: before, steady: noWriter, handsOver: isWriter, passes: true}
)

func always([]string) bool      { return true }
func anyone(string) bool        { return true }
func nobody(string) bool        { return false }
func isWriter(name string) bool { return strings.Contains(name, writeName) }
