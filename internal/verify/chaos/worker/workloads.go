package worker

import (
	"context"
	"math/rand/v2"
)

// workload is what some goroutines of a worker do until ctx ends. Its error ends the worker.
type workload struct {
	name       string
	goroutines int
	run        func(ctx context.Context, w *worker, random *rand.Rand) error
}

// workloads are all that there are.
func workloads() []workload {
	return []workload{
		{Mutex, 1, runMutex},
		{ReadWrite, 2, runReadWrite(ReadWrite)},
		{Downgrades, 1, runReadWrite(Downgrades)},
		{Semaphore, 1, runSemaphore(Semaphore)},
		{Lease, 1, runSemaphore(Lease)},
		{Multi, 1, runMulti},
		{Handover, 3, runHandover},
		{LockDelay, 1, runLockDelay},
		{Latch, 1, runLatch},
		{Selector, 1, runSelector},
		{Queue, 1, runQueue},
		{Barrier, 1, runBarrier},
		{Cache, 1, runCache},
		{JavaMutex, 1, runJavaMutex},
		{JavaRW, 1, runReadWrite(JavaRW)},
		{JavaLeases, 1, runJavaLeases},
		{KazooMutex, 1, runKazooMutex},
	}
}

// Names returns the names of all workloads.
func Names() (names []string) {
	for _, w := range workloads() {
		names = append(names, w.name)
	}
	return names
}
