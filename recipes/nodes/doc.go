// Package nodes keeps nodes in existence: a [PersistentNode] keeps one node through
// disconnections, the ends of sessions and deletions by others. A [GroupMember] keeps a node
// that stands for this process in a group, and knows the other members.
//
// # What is not guaranteed
//
// A kept node is not always there. When its session ends, or when somebody deletes it, the node
// is missing until it has been made again. That takes a round trip or two, or as long as there
// is no connection. When others overwrite the data, it is written again after the next reconnect
// and when the node is made again, and not at once: two keepers that want different data would
// write for ever. That an ephemeral node is there does not prove that its owner still runs: the
// server keeps the node for up to the session timeout.
//
// A kept node is no lock. Two keepers of one path share one node, and each believes in it; use
// package locks where one process is to be alone.
//
// # Concurrency, contexts and Close
//
// All methods may be called from several goroutines. Start returns when the node is there, and
// Close deletes it; see framework.Component. A context bounds the call that it is given to, and
// nothing else. One goroutine per node does all the work, and Close joins it. Listeners are
// called on goroutines of their own. Close does not wait for a loop over Updates, which ends
// soon after it.
//
// The client can end first: then the goroutine ends by itself, and ephemeral nodes go with the
// session. A persistent node stays, because nobody is left who could delete it: close the node
// first.
//
// # Java
//
// The counterparts are PersistentNode, PersistentEphemeralNode, PersistentTtlNode and
// GroupMember, with which these types share nodes and groups. Differences: Start waits until the
// node is there, and returns what is wrong; a node of an earlier session of this client is
// replaced at once, and not when the server ends that session; after a reconnect one read finds
// whether anything is to be done, and nothing is written if not; SetData says whether the data
// is written; a deleted node is made again after pauses that grow, and not in a tight loop.
package nodes
