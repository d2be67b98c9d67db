package locks

import (
	"fmt"
	"slices"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/layout"
	"github.com/go-curator/curator/internal/zkclient"
	"github.com/go-curator/curator/recipes/internal/lockqueue"
	"github.com/go-curator/curator/tracing"
)

// LockInternalsDriver makes and orders a mutex's nodes. It does no I/O: it describes the
// node, which is then created in one write with the first list of the queue. Its methods
// must be pure functions, safe for concurrent use.
//
// Java: LockInternalsDriver.
type LockInternalsDriver interface {
	LockInternalsSorter

	// CreatesTheLock completes the create of a contender's node, which is protected. The
	// node must stay ephemeral and sequential: other modes are refused.
	CreatesTheLock(create framework.CreateBuilder) framework.CreateBuilder

	// GetsTheLock decides, from the names of the contenders in their order, whether ours is
	// let in. It must let at most maxLeases in. A contender that is in must stay in,
	// whatever nodes are added later.
	GetsTheLock(children []string, ours string, maxLeases int) PredicateResults
}

// LockInternalsSorter returns the text by which a child of the lock's path is sorted. It
// returns "" for a child that is no contender; such a child is ignored. The order must be
// that of creation: if a new node could sort before an existing one, for example by
// priority, two contenders would be let in.
//
// Java: LockInternalsSorter.
type LockInternalsSorter interface {
	FixForSorting(name, lockName string) string
}

// PredicateResults is the answer of a driver.
//
// Java: PredicateResults.
type PredicateResults struct {
	GetsTheLock bool
	// PathsToWatch has names of children. At least one of them must be deleted before our node
	// can be let in. The queue is listed again when one of them is deleted. It is not used if
	// our node is let in.
	PathsToWatch []string
}

// StandardLockInternalsDriver has the rules of Curator's mutex. Embed it to change some of
// them.
//
// Java: StandardLockInternalsDriver.
type StandardLockInternalsDriver struct{}

var _ LockInternalsDriver = StandardLockInternalsDriver{}

// FixForSorting returns the text after the last lockName if it is a sequence number of the
// server. Otherwise it returns "".
func (StandardLockInternalsDriver) FixForSorting(name, lockName string) string {
	return layout.Number(name, lockName)
}

// CreatesTheLock leaves the node ephemeral, sequential and protected, in containers.
func (StandardLockInternalsDriver) CreatesTheLock(create framework.CreateBuilder) framework.CreateBuilder {
	return create
}

// GetsTheLock lets the first maxLeases in. The others wait until one of the maxLeases nodes
// directly ahead of them is deleted. Java Curator waits only for the first of these nodes, and
// does not notice when another one is deleted.
func (StandardLockInternalsDriver) GetsTheLock(children []string, ours string, maxLeases int) PredicateResults {
	i := slices.Index(children, ours)
	if i < maxLeases {
		return PredicateResults{GetsTheLock: i >= 0}
	}
	return PredicateResults{PathsToWatch: slices.Clone(children[i-maxLeases : i])}
}

// Kinds of locks. A lease re-enters only a lock of its own kind.
const (
	mutexKind       = layout.KindMutex
	semaphoreKind   = "semaphore"
	semaphoreV2Kind = layout.KindSemaphoreV2
	readKind        = "read"
	writeKind       = "write"

	readWriteKind = layout.KindReadWrite // the kind of the children of readers and writers
)

// telemetryKinds has the names of the kinds in spans and metrics.
var telemetryKinds = map[string]string{
	mutexKind: tracing.KindMutex, readKind: tracing.KindRead, writeKind: tracing.KindWrite,
	semaphoreKind: tracing.KindSemaphore, semaphoreV2Kind: tracing.KindSemaphore,
	layout.KindLatch: tracing.KindLatch,
}

// rules are the differences between kinds of locks.
type rules struct {
	kind      string
	lockName  string
	driver    LockInternalsDriver
	maxLeases int
	children  string // the result of layout.LockKind for the lock's own children; others are refused; "" refuses none
	shared    bool   // nested leases do not exclude each other
	flat      bool   // leases do not nest
	keepsLost bool   // the node of a lost hold is left to the recipe that made it

	marksRelease bool                   // the lock's holders mark their release; see package lockqueue
	marks        func(name string) bool // the holder of this node may mark its release; nil for nobody
	next         func(name string) bool // no other node can take the place of this one; nil for none
}

var _ lockqueue.Rules = rules{}

// Order returns the text that a child is sorted by.
func (r rules) Order(name string) string { return r.driver.FixForSorting(name, r.lockName) }

// Check refuses children of a lock that does not exclude this one.
func (r rules) Check(names []string) error {
	for _, name := range names {
		if err := r.refuse(name); err != nil {
			return err
		}
	}
	return nil
}

// Decide asks the driver.
func (r rules) Decide(queue []string, own string) lockqueue.Decision {
	results := r.driver.GetsTheLock(queue, own, r.maxLeases)
	next := r.next != nil && slices.Index(queue, own) == 1 && slices.Equal(results.PathsToWatch, queue[:1]) && r.next(queue[0])
	return lockqueue.Decision{Admitted: results.GetsTheLock, Behind: results.PathsToWatch, Next: next}
}

// Marks reports whether the holder of a node may mark its release.
func (r rules) Marks(name string) bool { return r.marks != nil && r.marks(name) }

func (r rules) refuse(name string) error {
	if r.children == "" {
		return nil
	}
	switch kind := layout.LockKind(name); kind {
	case "", r.children:
		return nil
	case mutexKind:
		return fmt.Errorf("%w: mutex or semaphore (%s)", ErrKindMismatch, name)
	default:
		return fmt.Errorf("%w: %s (%s)", ErrKindMismatch, kind, name)
	}
}

func anyNode(string) bool { return true }

// identity is the key under which a context carries a lease. Lock objects of the same client, path
// and kind have the same one.
type identity struct {
	client     zkclient.Identity
	full, kind string
}
