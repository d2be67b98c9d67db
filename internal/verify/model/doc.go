// Package model explores the algorithms of the recipes: every interleaving of a few contenders, the
// servers and a limited number of faults. It is an explicit-state model, and no part of the client:
// it checks the rules of docs/lock-model.md, and not the code that follows them.
//
// The model of ZooKeeper (tree.go, server.go, connection.go):
//
//   - There is one order of transactions. Each session's server has applied a prefix of it, so every
//     choice of server and every lag is covered.
//   - A server answers the requests of a session in order. Requests may be under way for any time,
//     and several may be sent in one write.
//   - A watch fires once, and its event comes before the reply to any read that reflects the change.
//   - The end of a session is a transaction, which deletes its nodes.
//   - A connection that breaks loses replies. Writes that were sent may be applied until the session
//     is known to another server, or is over.
//   - A client reconnects to any server that has applied what it has seen.
//
// The algorithms react to replies and events, and know nothing else: locks and semaphores with and
// without the release marker (lock*.go), the leader latch that keeps its node (latch*.go), the double
// barrier (barrier*.go), and Java Curator's counterparts.
//
// What is looked for (check.go) has a letter. X says that a state of the model is too small.
//
//	A   two nodes that were both granted exist at once, or more than a semaphore has leases
//	B   a grant of a node that was never first
//	C   a contender that is first, or that waits, will not be woken
//	E   a holder may read a state that is older than the release of its predecessor
//	F   two believe that they hold the lock at once, although the clocks are good
//	G   a holder's node is gone, and nothing will say so
//	L   no latch leads, or two lead, and nothing will change that
//	O   a node is left that nobody knows
//	P1  a barrier lets a member in without an open round, or opens for too few
//	P2  a member leaves before another member of its round
//	P3  a member waits for ever
//	P4  Enter fails although the member was counted
//	P5  the "ready" of a round that is over stays, or that of another round is removed
//	P6  a member in Java passes alone, when all others have left
//	T   a token is lower than an earlier one
//
// A Config names contenders, faults, and the mistake, if any, that its algorithms make on purpose. A
// Config without a mistake must hold; one with a mistake must break. Explore ends when every
// reachable state was seen, or at a limit, and says which.
//
// Replay (replay.go, follower*.go, trace.go) goes the other way: it is given what servers and clients
// have noted of a real lock, and looks for a path of the model that shows it.
//
// What the verdict does not cover: more contenders and more faults than those of the Config, time
// other than its order, the ACLs, and the code.
package model
