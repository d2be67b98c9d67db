package locks

import (
	"fmt"
	"slices"

	"github.com/go-curator/curator/internal/layout"
	"github.com/go-curator/curator/recipes/internal/lockqueue"
	"github.com/go-curator/curator/tracing"
)

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
