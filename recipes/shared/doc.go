// Package shared has values that several processes share: each process follows a node, and may
// set it. [Value] is of any type, by a codec. [Count] is an integer in the format of Java's
// SharedCount, such as the maximum of a semaphore:
//
//	limit, err := shared.NewCount(client, "/limits/workers", 4)
//	...
//	if err := limit.Start(ctx); err != nil { ... }
//	defer limit.Close(ctx)
//	semaphore, err := locks.NewInterProcessSemaphoreV2WithCount(client, "/locks/workers", limit)
//
// # What is not guaranteed
//
// The known value is behind the server's by the time that a watch's event and a read take, and
// while the client is cut off. Two processes may have different values at the same time. Values
// that are replaced quickly may never be seen, but the last value is, and no older value is
// seen after a newer one. A process sees its own change immediately.
//
// A Set whose reply was lost may be applied later: see framework.MaybeApplied. It is not
// repeated.
//
// # Concurrency
//
// All methods may be called from several goroutines. A method's context bounds only that call.
// Close joins the goroutines of Start.
//
// Java: org.apache.curator.framework.recipes.shared. Differences: Set and TrySet return the
// present value, listeners get only changes, and there is no unversioned trySetValue.
package shared
