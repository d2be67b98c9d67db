// Package pathtree is a tree of nodes by path, of which versions can be kept.
//
// One goroutine changes a [Tree]. [Tree.Publish] returns its root as it is now: a [Node] and
// everything below it, which never changes again and may be read by any goroutine, without a
// lock. Two versions share what is equal in both. So a version costs the nodes on the way to
// what has changed, and [Diff] of two versions costs about the same.
//
// The children of a node are a B-tree, ordered by name: a node may have very many, and one of
// them can still be changed, or found, in a few steps.
package pathtree
