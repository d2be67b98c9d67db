// Package watch follows the events of a node, or of a tree, for longer than a connection.
//
// # What is not guaranteed
//
// An event says that a node has changed, but does not have its new data: read the node. There
// are no events for changes while the client was cut off. After every reconnect
// framework.WatchReset says that there may have been changes. A listener or a loop that is so slow
// that 65,536 events wait for it loses later ones, and is told so by framework.WatchReset, too. There
// are no events for the state at Start: read it after Start to miss nothing. Programs that need the nodes, and not the
// events, should use a cache.
//
// # Concurrency, contexts and Close
//
// All methods may be called from several goroutines. Start returns when the server has the watch, or at once
// with WithStartInBackground, and Close removes it; see framework.Component. A context bounds the call that
// it is given to. The watcher has no goroutines except those of its listeners, and that of a Start in the
// background, which Close joins. When the client is closed there are no more events; call Close also then.
//
// # Java
//
// The counterpart is PersistentWatcher. Differences: Start waits until the server has the
// watch, and returns errors, without WithStartInBackground; after a reconnect the session layer restores the watch, in one
// request with all others; there is one listener set, in which framework.WatchReset is an
// event; the end of the client ends Events, and is no event.
package watch
