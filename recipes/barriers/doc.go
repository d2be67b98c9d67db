// Package barriers lets processes wait for each other: at a [DistributedBarrier] until somebody
// opens it, at a [DistributedDoubleBarrier] until enough of them have come, and again until all
// of them are done.
//
// # What is not guaranteed
//
// Processes that have passed a barrier need not run at the same time, and those that have passed
// need not be alive any more. The members of a double barrier are counted by nodes, and a node
// may outlive its process by the session timeout. A member whose node goes, because its session
// ends or because an operator deletes it, counts as having left.
//
// A double barrier that is shared with members in Java needs a context with a deadline for
// Enter: Java's members remove the barrier's "ready" node while slow members have not seen it.
//
// # Concurrency
//
// All methods may be called from several goroutines, except that a DistributedDoubleBarrier is
// one member: it is in one call at a time, and others get ErrEntered. A context bounds the call
// that it is given to. Nothing is left running when a call returns, except the deletion of a
// node that the server could not be told of, which the client goes on with.
//
// # The files
//
//	barrier.go  the single barrier
//	double.go   the double barrier
//	enter.go    the states of Enter; rules B1 to B6
//	giveup.go   an Enter that fails; rule B7
//	leave.go    the steps of Leave; rules B8 to B11
//	round.go    who is a member of a round; rule B3
//	place.go    the barrier's nodes and the requests about them
//
// Java: DistributedBarrier and DistributedDoubleBarrier of
// org.apache.curator.framework.recipes.barriers. What differs: an Enter that fails leaves no
// node behind, and a double barrier can be used for one round after the other.
package barriers
