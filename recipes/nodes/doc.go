// Package nodes keeps nodes: a [PersistentNode] creates its node again after disconnections,
// the ends of sessions and deletions by others. A [GroupMember] keeps a node that represents
// this process in a group, and knows the other members.
//
// # What is not guaranteed
//
// A kept node does not exist at every moment. When its session ends, or when somebody deletes
// it, the node is missing until it has been created again. That takes a round trip or two, or
// as long as there is no connection. When others overwrite the data, it is written again after
// the next reconnect and when the node is created again, but not immediately: two keepers that
// want different data would write forever. An ephemeral node does not prove that its owner
// still runs, because the server keeps the node for up to the session timeout.
//
// A kept node is no lock. Two keepers of one path share one node; use package locks for mutual
// exclusion.
//
// # Concurrency, contexts and Close
//
// All methods may be called from several goroutines. Start returns when the node exists, and
// Close deletes it; see framework.Component. A context bounds only the call that it is given
// to. One goroutine per node does all the work, and Close joins it. Listeners are called on
// their own goroutines. Close does not wait for a loop over Updates, which ends soon after it.
//
// If the client is closed first, the goroutine ends, and ephemeral nodes are deleted with the
// session. A persistent node stays, so close the PersistentNode before the client.
//
// # Java
//
// The counterparts are PersistentNode, PersistentEphemeralNode, PersistentTtlNode and
// GroupMember, with which these types share nodes and groups. Differences: Start waits until
// the node exists, and returns permanent errors; a node of an earlier session of this client is
// replaced immediately, and not when the server ends that session; after a reconnect one read
// shows whether a write is needed; SetData says whether the data is written; a deleted node is
// created again after growing pauses, and not in a tight loop.
package nodes
