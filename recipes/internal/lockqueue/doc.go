// Package lockqueue joins a queue of ephemeral sequential nodes and waits until the contender
// is let in. Locks and semaphores are built on it. [Rules] has the differences between them.
//
// A [Contender] is one acquisition in the queue. [Contender.Next] takes it through these states, and returns
// at the two that its user decides about:
//
//	state    what it does                                          goes on with
//	create   make the node and list the queue, in one write        look
//	look     sort the queue: first, or behind which nodes?         first, arm, restart
//	arm      others are ahead: Next returns them. Then set the     wait, first, look, restart
//	         watches of the wait, in one write
//	wait     sleep until a watch fires                             first, look, restart
//	first    Next returns the nodes, and the user holds them:      held by Held; by Again
//	         only the session is still to be checked               look, restart
//	restart  the node is gone: delete what is left, begin again    create
//	held     the nodes are the user's                              create; with Spec.Stays look
//
// Every state may also end with an error. Then, and when the user does not go on, End deletes the nodes,
// in the background if the server cannot be reached.
//
// Nothing calls the user back, except the pure functions of Rules, Spec.Owned.Unwatched from a goroutine of the
// client, and the [ephemeral.Holder] of a node that is held.
//
// The rules of the lock model (docs/lock-model.md) are implemented in these places:
//
//	1  create and list in one write; who is let  place.go, decide.go
//	   in by the list
//	2  which watches a wait sets, in which order arm.go
//	3  the marker is a grant                     wait.go
//	4  the meaning of each event                 wait.go
//	5  how a holder releases                     recipes/locks, release.go; package ephemeral, delete.go
//	6  a holder that never waited does not mark  package ephemeral, MayMark in node.go
//	   the only one behind a node is next        wait.go
//	7  sync after a reconnect                    internal/zkconn, owner.go
//	8  after a reconnect look again              wait.go
//	9  give back every watch                     wait.go; package watchset, Close
//	10 the end of the sequence numbers           requests.go
//	11 no grant on a session in doubt            package ephemeral, hold.go and loss.go
package lockqueue
