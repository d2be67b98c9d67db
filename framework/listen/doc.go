// Package listen has the listener sets of the client and of the recipes.
//
// A source of events has a [Set] and hands out its [Listenable], to which listeners are
// added. Every listener gets every event that is notified while it is in the set, in one
// order for all of them, one at a time.
//
// There is no replay of what happened before a listener was added, and no limit to what
// waits for a slow one: a listener that cannot keep up costs memory, and holds up nobody.
//
// Everything is safe for concurrent use. A listener is called on a goroutine that exists
// only while it has events to deliver, so that a set without events and a listener that
// was removed cost nothing. A panic in a listener is not recovered.
//
// The context of a listener ends when the set is closed, and with nothing else.
//
// The counterparts in Java are Listenable and the ListenerManager classes of
// org.apache.curator.framework.listen. There the caller passes an executor; here each
// listener has its own goroutine.
package listen
