// Package model turns the nodes of a tree into recipes: which node is a lock, an election or a
// queue, who holds it, who waits in which order, and who held it before. It has no I/O and no
// clock: it is told of changes, and when they were seen. Given the same changes it has the same
// contents. A Model is for one goroutine at a time.
//
// Recipes are recognised by the names of their nodes, as Curator writes them, and where names do
// not suffice by the data. Some things cannot be known:
//
//   - A LeaderSelector has the nodes of a mutex. It is taken for an election if its nodes carry an
//     id. A DistributedBarrier is a plain node: it is recognised only if its name, or its
//     parent's, has the word barrier. A counter is a node with four or eight bytes that are no
//     text.
//   - An InterProcessSemaphore has the nodes of a mutex. All holders but the first are shown as
//     waiters.
//   - The maximum of a semaphore is known only to its users. It is inferred while somebody waits.
//   - The server does not record when a waiter became a holder: that is when the change was seen.
//   - A contender that was first in the queue and is gone when the next look is taken is counted
//     as having held the lock. It may have given up.
package model
