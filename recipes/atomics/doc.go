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
// and the change is not repeated. The client cannot find out whether it was made, because
// another client may have written the same value. Java repeats it, and may count twice. For
// unique numbers that may have gaps, such as ids, use [CachedAtomicNumber].
//
// A Get may be behind the changes of other clients.
//
// A change is conditional on the version of the node, not on the node itself. A node that is deleted
// and created again has the versions of the old one again, and a change that began before may then
// overwrite the value of the new node. The client sees that by the reply, and logs it; it cannot undo
// it. Do not delete a counter while it is in use. For the same reason a process relies on a value that
// it has written for 10 s at most, and never on one at a node's first version; else it reads the value
// again.
//
// # Concurrency
//
// All methods may be called from several goroutines. A context bounds the call that it is given
// to. No goroutine is left when a call returns, except that the client finishes taking a block
// of numbers after its callers have given up.
//
// # Name
//
// The package is called atomics, not atomic, because its users import sync/atomic, too.
//
// Java: org.apache.curator.framework.recipes.atomic. Differences: a change that did not succeed
// returns an error and not a flag, numbers do not wrap around, and an increment without
// contention is one request.
package atomics

import "errors"

// Errors of this package; compare with errors.Is. Data that is too short for a number is
// codec.ErrDecode.
var (
	// ErrContended is returned when others changed the value at every try until the retry policy
	// gave up, or ctx ended. Nothing was changed. Java: a result that has not succeeded.
	ErrContended = errors.New("others kept changing the value")
	// ErrOverflow is returned when the result does not fit into the number. Nothing was changed.
	// Java wraps around.
	ErrOverflow = errors.New("the number overflows")
)
