// Package paths joins and splits paths of ZooKeeper. It also has functions for trees that need
// several operations: creating a path, deleting the children of a node, ensuring containers.
//
// The operations on a tree are not atomic. They tolerate nodes that others create and delete
// meanwhile, and such nodes may exist, or not, when a function returns. A function that fails
// may have done a part of its work; another call continues with the rest.
//
// [Make], [Split], [Node], [ParentAndNode] and [SequentialSuffix] only handle text: they accept
// every string and do not validate it. The operation that gets the path validates it. The other
// functions use the given client, with its namespace and its retry policy, and return its
// errors; their contexts bound the call. All functions, and [EnsureContainers], are safe for
// concurrent use. No goroutine is left when they return.
//
// The counterparts in Java are org.apache.curator.utils.ZKPaths, which fails on paths that
// are not valid, and org.apache.curator.framework.EnsureContainers.
package paths
