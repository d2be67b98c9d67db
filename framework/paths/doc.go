// Package paths takes paths of ZooKeeper apart and puts them together, and does what takes
// more than one operation on a tree: making a path, emptying a node, ensuring containers.
//
// None of the operations on a tree is atomic. What others create and delete meanwhile is
// tolerated, and may be there, or gone, when a function returns. One that fails may have
// done a part of its work; calling it again goes on with the rest.
//
// [Make], [Split], [Node], [ParentAndNode] and [SequentialSuffix] only look at text: they
// accept every string and validate nothing, which the operation does that gets the path.
// The others work through the client that they are given, with its namespace and its retry
// policy, and return its errors; their contexts bound the call. All functions, and
// [EnsureContainers], are safe for concurrent use. Nothing is left running when they
// return.
//
// The counterparts in Java are org.apache.curator.utils.ZKPaths, which fails on paths that
// are not valid, and org.apache.curator.framework.EnsureContainers.
package paths
