// Package lockqueue joins a queue of ephemeral sequential nodes and waits until the contender
// is let in. Locks and semaphores are built on it. [Rules] has the differences between them.
//
// A [Contender] is one acquisition in the queue. It goes through these states:
//
//	state    what it does                                          goes on with
//	create   make the node and list the queue, in one write        look
//	look     sort the queue: first, or behind which nodes?         grant, arm, restart
//	arm      set the watches of the wait, in one write             wait, grant, look, restart
//	wait     sleep until a watch fires                             grant, look, restart
//	grant    check the session, hand the nodes to the caller       granted, look, restart
//	restart  the node is gone: delete what is left, begin again    create
//
// Every state may also end with an error. Then the contender deletes its nodes, in the background
// if the server cannot be reached.
//
// The rules of the lock model (docs/lock-model.md) are implemented in these places:
//
//	1  create and list in one write              create.go, look.go
//	2  which watches a wait sets, in which order arm.go
//	3  the marker is a grant                     marker.go, wait.go
//	4  the meaning of each event                 wait.go
//	5  how a holder releases                     recipes/locks, hold.go; package ephemeral, delete.go
//	6  a holder that never waited does not mark  package ephemeral, MayMark in node.go
//	   the only one behind a node is next        next.go
//	7  sync after a reconnect                    internal/zkconn, session.go
//	8  after a reconnect look again              wait.go
//	9  give back every watch                     wait.go; package watchset, Close
//	10 the end of the sequence numbers           children.go
//	11 no grant on a session in doubt            package ephemeral, grant.go and loss.go
package lockqueue
