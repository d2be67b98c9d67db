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
// for as long as the client is cut off. Two processes may know different values at one instant.
// Values that are replaced quickly may never be seen; the last one is, and no older one is seen
// after a newer one. A process sees at once what it has set itself.
//
// A Set whose reply was lost may be applied later: see framework.MaybeApplied. It is never
// repeated by itself.
//
// # Concurrency
//
// All methods may be called from several goroutines. A context that is given to a method bounds
// that call and nothing else. Close joins what Start started.
//
// Java: org.apache.curator.framework.recipes.shared. What differs: Set and TrySet return the
// value that is there, listeners hear changes only, and there is no unversioned trySetValue.
package shared
