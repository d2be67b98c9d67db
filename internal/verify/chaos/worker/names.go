package worker

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
