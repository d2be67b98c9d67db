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

// The workloads.
const (
	Mutex      = "mutex"
	ReadWrite  = "read-write"
	Semaphore  = "semaphore"
	Multi      = "multi"
	Handover   = "handover"
	LockDelay  = "lock-delay"
	Latch      = "latch"
	Selector   = "selector"
	Queue      = "queue"
	Barrier    = "barrier"
	Cache      = "cache"
	JavaMutex  = "java-mutex"
	JavaRW     = "java-read-write"
	JavaLeases = "java-semaphore"
	KazooMutex = "kazoo-mutex"
)

// workloads are all that there are.
func workloads() []workload {
	return []workload{
		{Mutex, 1, runMutex},
		{ReadWrite, 2, runReadWrite(ReadWrite)},
		{Semaphore, 1, runSemaphore},
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

// Members is how many members the double barrier waits for.
const Members = 3

// Leases is how many leases each semaphore has.
const Leases = 2

// The nodes that are there before the workers, below the root.
const (
	RegistersNode = "/registers" // has one for each guarded register
	EffectsNode   = "/effects"   // has the effects of the queue's items, in folders
	CacheNode     = "/cache"     // has the nodes of CacheNodes
	EffectFolders = 16
)

// GuardedRegisters returns the names of the registers that are nodes.
func GuardedRegisters() []string { return []string{ReadWrite, Latch, Multi} }

// CacheNodes returns the names of the nodes that always have the same data.
func CacheNodes() []string { return []string{"a", "b", "c"} }
