// Package pathtree is a tree of nodes by path, with immutable versions.
//
// One goroutine changes a [Tree]. [Tree.Publish] returns its present root: a [Node] and all
// nodes below it, which never change again and may be read by any goroutine, without a lock.
// Two versions share their equal parts. So a version costs the nodes on the way to changed
// nodes, and [Diff] of two versions costs about the same.
//
// The children of a node are a B-tree, ordered by name, so changing or finding one of very many
// children takes only a few steps.
package pathtree
