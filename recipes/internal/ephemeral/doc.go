// Package ephemeral keeps what a client knows about an ephemeral node of its own: whether the
// node can be relied on, and what becomes of it.
//
// A node can outlive its holder. A lock's node has one holder, or several in turn when it is
// handed over between goroutines. A leader latch's node has a new holder for each term. So the
// hook on the session, the watch on the node and its deletion belong to the [Node], and a
// [Holder] comes and goes.
//
// The files:
//
//	node.go    a node and its holder
//	grant.go   how a holder takes the node, and the look at the clock before that
//	loss.go    how a loss is noticed, and how the holder is told
//	watch.go   the watch on the node itself
//	delete.go  the deletion
package ephemeral
