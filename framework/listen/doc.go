// Package listen has the listener sets of the client and of the recipes.
//
// A source of events has a [Set] and hands out its [Listenable], to which listeners are
// added. Every listener gets every event that is notified while it is in the set, in one
// order for all of them, one at a time.
//
// Events from before a listener was added are not replayed. A slow listener delays no others. Its
// queue has a limit that its source sets, see [Set.Limit]. When the queue is full, the source merges
// later events into fewer that say the same in the end, or into one that says to read again: the
// source's documentation says what its listeners get. Without a limit a blocked listener costs memory
// for each event; connection states have none, because they are few.
//
// Everything is safe for concurrent use. A listener is called on a goroutine that exists only
// while it has events to deliver, so a set without events and a removed listener cost nothing.
// A panic in a listener is not recovered.
//
// The context of a listener ends only when the set is closed.
//
// The counterparts in Java are Listenable and the ListenerManager classes of
// org.apache.curator.framework.listen. There the caller passes an executor; here each
// listener has its own goroutine.
package listen
