package lockqueue

import (
	"github.com/go-curator/curator/internal/zkconn"
	"github.com/go-curator/curator/recipes/internal/watchset"
)

// The release marker tells the waiter right behind a holder that the holder has released, so
// that the waiter is granted without another look at the queue (rules 3, 5 and 6).
//
// A holder of an exclusive lock releases with one transaction: it creates the marker beside its
// own node, deletes the marker, and deletes its own node. No list ever shows the marker, but a
// client with an exists watch on the marker's path, [layout.ReleaseMarker], gets NodeCreated.
//
// Why this proves that the waiter is next:
//   - The holder was first, and stays first until its node is deleted.
//   - The transaction is applied only while the holder's node exists. So at that moment nobody
//     else was ahead of the waiter, which watches the nearest node ahead of it that counts.
//   - Only a release creates a marker. A deletion alone proves nothing: a waiter that gives up
//     deletes its node, too.
//   - The waiter's own node exists: its watch was set before, and has not fired.
//   - The event came on the session that owns the waiter's node. When a session ends, its
//     watches end with another event.
//
// These releases must not have a marker:
//   - that of a reader, or of one of several leases: it says nothing about the other holders;
//   - that of a writer that was downgraded: the reader has taken its place;
//   - that of a waiter that gives up: it was not first.
//
// A change of the holder's data would not do instead of a marker, because a request to revoke
// the lock changes the data, too.
//
// A holder that never waited writes no marker (rule 6), because usually nobody waits behind it. A
// contender that is next needs none: see next.go.

// released reports whether the holder right ahead has released.
func released(set *watchset.Set) bool {
	for w := range set.Backward() {
		if w.Tag == marker && w.Fired() == zkconn.NodeCreated {
			return true
		}
	}
	return false
}
