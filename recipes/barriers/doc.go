// Package barriers lets processes wait for each other: at a [DistributedBarrier] until somebody
// opens it, at a [DistributedDoubleBarrier] until enough processes have entered, and again
// until all of them leave.
//
// # What is not guaranteed
//
// Processes that have passed a barrier may run at different times, and some of them may have
// died. The members of a double barrier are counted by nodes, and a node may outlive its
// process by the session timeout. A member whose node is deleted, because its session ends or
// by an operator, counts as having left.
//
// A double barrier that is shared with members in Java needs a context with a deadline for
// Enter: Java's members may remove the barrier's "ready" node before slow members have seen it.
// And a member in Java that finds the "ready" of a round whose last member has died passes alone.
// Members in Go remove it, when they leave that round or enter the next one; but not if all of the
// round have died and no other one comes, if a member in Java has made it, or if they may not write
// to the barrier's node.
//
// Each opening writes to the barrier's node. Its data stays, its version rises, and watches of
// its data fire.
//
// # Concurrency
//
// All methods may be called from several goroutines, except that a DistributedDoubleBarrier is
// one member: it is in one call at a time, and others get ErrEntered. A context bounds the call
// that it is given to. No goroutine is left when a call returns, except that the client
// continues to delete a node if the server did not answer.
//
// # The files
//
//	barrier.go  the single barrier; the errors
//	double.go   the double barrier
//	enter.go    the states of Enter; rules B1 to B6
//	giveup.go   an Enter that fails; rule B7
//	leave.go    the steps of Leave; rules B8 to B11
//	ready.go    who is a member of a round, and the "ready" of a round that has died; rules B3, B4 and B10
//	place.go    the barrier's nodes, the requests about them, and the limit of the number of members
//
// Java: DistributedBarrier and DistributedDoubleBarrier of
// org.apache.curator.framework.recipes.barriers. Differences: an Enter that fails leaves no
// node behind, and a double barrier can be used for several rounds, one after the other.
package barriers
