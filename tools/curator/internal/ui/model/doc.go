// Package model turns the nodes of a tree into recipes: which node is a lock, an election or a
// queue, who holds it, who waits in which order, and who held it before. It has no I/O and no
// clock: its caller passes changes with the times at which they were seen. The same changes
// give the same contents. A Model is for one goroutine at a time.
//
// Recipes are recognised by the names of their nodes, as Curator writes them, and if names are
// not enough by the data. docs/ui.md lists what cannot be known. In addition:
//
//   - A LeaderSelector has the nodes of a mutex. It counts as an election if its nodes have an
//     id. A DistributedBarrier is a plain node: it is recognised only if its name, or its
//     parent's, has the word barrier. A counter is a node with four or eight bytes that are no
//     text.
//   - An InterProcessSemaphore has the nodes of a mutex. All holders but the first are shown as
//     waiters.
//   - A client that takes a lease of an InterProcessSemaphoreV2 is a waiter until its lease is granted,
//     although the lease has a node already.
//   - The maximum of a semaphore is known only to its users. It is inferred while somebody waits.
//   - The server does not record when a waiter became a holder. The model uses the time at
//     which the change was seen.
//   - A contender that was first in the queue and is gone at the next change counts as a former
//     holder, although it may have given up.
package model
