// Package worker is a process that uses the recipes while somebody attacks it and its servers,
// and notes on its standard output what it asks for, what it is granted, and what it believes.
//
// What counts as belief is certain: a worker reads the clock, then asks the lease whether it is
// believed, and if so notes the time that it has read. So two workers that note beliefs which
// exclude each other did believe at the same instant, however slow the machine is, and even if
// they were stopped in between.
//
// The files:
//
//	worker.go    what a worker is told, what all workloads use and their names, and what is left at the end
//	run.go       a worker from its start to its end, and the list of its workloads
//	hold.go      one acquisition: from the call to the end of its release, and the texts that are changed
//	             under a lease
//	locks.go, queues.go, barriers.go  the workloads: locks and leaders; queues and caches; the double barrier
package worker

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/verify/chaos/history"
	"github.com/go-curator/curator/internal/verify/chaos/store"
	"github.com/go-curator/curator/internal/wait"
)

// Variable is the environment variable that has a worker's settings.
const Variable = "CURATOR_CHAOS_WORKER"

// Settings are what a worker is told.
type Settings struct {
	Name          string        // of the process, in events
	Connect       string        // the servers
	Root          string        // the path below which all nodes are
	Store         string        // the address of the store that checks tokens
	Session       time.Duration // the session timeout
	SessionPolicy bool          // leases outlive the loss of a connection
	Seed          uint64
	Workloads     []string
	Pause         time.Duration // the mean pause between two operations of a goroutine
}

// Told returns the settings of this process, if it is a worker.
func Told() (s Settings, is bool, err error) {
	text := os.Getenv(Variable)
	if text == "" {
		return s, false, nil
	}
	if err := json.Unmarshal([]byte(text), &s); err != nil {
		return s, true, fmt.Errorf("%s: %w", Variable, err)
	}
	return s, true, nil
}

// Environment returns the entry of the environment that tells a process its settings.
func (s Settings) Environment() (string, error) {
	text, err := json.Marshal(s)
	return Variable + "=" + string(text), err
}

// worker is a process.
type worker struct {
	Settings
	log    *history.Log
	client *framework.Client
	store  *store.Client
	ops    atomic.Int64
}

// note adds an event of this process.
func (w *worker) note(e history.Event) {
	e.Process = w.Name
	w.log.Add(e)
}

// fail notes what must not happen.
func (w *worker) fail(workload string, op int64, format string, args ...any) {
	w.note(history.Event{Kind: history.Failed, Workload: workload, Op: op, Text: fmt.Sprintf(format, args...)})
}

// pause waits for a random time between two operations. It is false when ctx has ended.
func (w *worker) pause(ctx context.Context, random *rand.Rand) bool {
	return wait.For(ctx, time.Duration(random.Int64N(int64(2*w.Pause)+1))) == nil
}

// closeTimeout bounds the end of a worker's client.
const closeTimeout = 15 * time.Second

// The workloads.
const (
	Mutex      = "mutex"
	ReadWrite  = "read-write"
	Semaphore  = "semaphore"
	Downgrades = "downgrades"
	Lease      = "lease"
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

// remainsTimeout is how long goroutines may take to end that have no more to do.
const remainsTimeout = 5 * time.Second

// noteRemains notes what is left when everything is closed: goroutines beyond those that there
// were before, with their stacks, and the size of the heap.
func (w *worker) noteRemains(before int) {
	ticker := time.NewTicker(10 * time.Millisecond)
	defer ticker.Stop()
	end := time.Now().Add(remainsTimeout)
	for runtime.NumGoroutine() > before && time.Now().Before(end) {
		<-ticker.C
	}
	left := history.Event{Kind: history.Remains, Value: int64(max(0, runtime.NumGoroutine()-before))}
	if left.Value > 0 {
		stacks := make([]byte, 1<<20)
		left.Text = string(stacks[:runtime.Stack(stacks, true)])
	}
	w.note(left)
	runtime.GC()
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	w.note(history.Event{Kind: history.Memory, Value: int64(memory.HeapAlloc)})
}
