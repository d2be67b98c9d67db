// Package watch follows the events of a node, or of a tree, for longer than a connection.
//
// # What is not guaranteed
//
// An event says that something has changed, and not to what: read it. What happened while the
// client was cut off is not told. After every reconnect framework.WatchReset says that there may
// have been changes. Events say nothing of the state at Start: read it after Start to miss nothing.
// Programs that want the nodes, and not the events, are better served by a cache.
//
// # Concurrency, contexts and Close
//
// All methods may be called from several goroutines. Start returns when the server has the watch,
// and Close removes it; see framework.Component. A context bounds the call that it is given to.
// The watcher has no goroutine of its own but those of its listeners, which Close joins. When the
// client is closed there are no more events; Close is still to be called.
//
// # Java
//
// The counterpart is PersistentWatcher. Differences: Start waits until the server has the watch,
// and returns what is wrong; after a reconnect the session layer puts the watch back, together
// with all others and without a request of its own; there is one listener set, in which
// framework.WatchReset is an event; the end of the client ends Events, and is no event.
package watch
