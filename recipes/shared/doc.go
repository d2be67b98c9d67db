// Package shared has values that processes share. [CountReader] follows an integer in the
// format of Java's SharedCount, such as the maximum of a semaphore:
//
//	count, err := shared.NewCountReader(client, "/limits/workers", 4)
//	...
//	if err := count.Start(ctx); err != nil { ... }
//	defer count.Close(ctx)
//	semaphore, err := locks.NewInterProcessSemaphoreV2WithCount(client, "/locks/workers", count)
//
// # What is not guaranteed
//
// A reader is behind the server by the time that a watch's event and a read take, and for
// as long as it is cut off. Two readers may know different values at one instant. Values
// that are replaced quickly may never be seen; the last one is, and none is seen again once
// a newer one was.
//
// # Concurrency
//
// All methods may be called from several goroutines. A context that is given to a method
// bounds that call and nothing else. Close joins what Start started.
package shared
