// Package ephemeral has the state of an ephemeral node of this client: whether the node can be
// relied on, how it is lost, and its deletion.
//
// A node can outlive its holder. A lock's node has one holder, or several in turn when it is
// handed over between goroutines. A leader latch's node has a new holder for each term. So the
// hook on the session, the watch on the node and its deletion belong to the [Node], and its
// [Holder] can change.
//
// The files:
//
//	node.go    a node and its holder
//	hold.go    how a holder takes the node, and the check of the clock before that
//	loss.go    how a loss is noticed and reported to the holder
//	watch.go   the watch on the node itself
//	delete.go  the deletion
package ephemeral
