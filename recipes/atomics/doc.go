// Package atomics has counters and values that are changed by compare and set, in nodes that it
// shares with the counters of Java Curator.
//
//	orders, err := atomics.NewDistributedAtomicLong(client, "/counters/orders", retry.NTimes(10, 10*time.Millisecond))
//	...
//	value, err := orders.Increment(ctx)
//	use(value.Post)
//
// # What is not guaranteed
//
// A change whose reply was lost may have been made. The error says so (framework.MaybeApplied),
// and the change is not repeated. It cannot be found out whether it was made, because another
// client may have written the same value. Java repeats it, and may count twice. Numbers that
// must differ, but may have gaps, such as ids, can be taken again: [CachedAtomicNumber] does.
//
// A Get may be behind the changes of other clients.
//
// Changes are compared by the version of the node. A node that is deleted and made again has its
// first version again, and a change that began before that may then replace what is in the new
// node. Do not delete a counter while it is in use. For the same reason a value that this
// process has written is trusted for a few seconds only; then it is read again.
//
// # Concurrency
//
// All methods may be called from several goroutines. A context bounds the call that it is given
// to. Nothing is left running, except that the client finishes a block of numbers that nobody
// waits for any more.
//
// # Name
//
// The package is called atomics, not atomic, because its users import sync/atomic, too.
//
// Java: org.apache.curator.framework.recipes.atomic. What differs: a change that did not succeed
// is an error and not a flag, numbers do not wrap around, and an increment without contention is
// one request.
package atomics
