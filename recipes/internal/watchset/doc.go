// Package watchset waits until one of several one-shot watches fires.
//
// Recipes wait for more than one node at a time: a lock watches its own node and nodes ahead
// of it, a barrier watches "ready" and its first member, a semaphore watches its leases and
// its mutex. A [Set] holds these watches and wakes one goroutine when any of them fires.
// Watches that are still needed after the goroutine has read the nodes again are kept.
// [Set.Close] gives back every remaining watch.
package watchset
