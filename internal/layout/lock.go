package layout

import (
	"slices"
	"strings"
)

// Marks are the text before the number in the name of a contender's node.
const (
	LockMark  = "lock-" // of a mutex, a leader selector, an InterProcessSemaphore, and within a semaphore of Java
	LatchMark = "latch-"
	ReadMark  = "__READ__"
	WriteMark = "__WRIT__"
	LeaseMark = "lease-" // of a semaphore of Java
)

// Names of the children of a semaphore in Java's layout. See [SemaphoreV2].
const (
	LeasesDir = "leases"
	LocksDir  = "locks"
)

// RevokeRequest is the data that Curator writes into a contender's node to ask for the lock. It replaces
// what the node had.
const RevokeRequest = "__REVOKE__"

// Kinds of recipes, by the names of their nodes. A mutex, an InterProcessSemaphore and a leader selector
// have the same names, so all of them are KindMutex. The first four are kinds of locks.
const (
	KindMutex         = "mutex"
	KindReadWrite     = "read-write"
	KindSemaphoreV2   = "semaphore-v2" // in Java's layout
	KindLatch         = "latch"
	KindQueue         = "queue"
	KindClaims        = "claims" // the lock nodes of a queue's items
	KindDoubleBarrier = "double-barrier"
	KindGroup         = "group"
	KindKazoo         = "kazoo" // a lock of kazoo
)

// LockKind returns the kind of lock that a child with this name belongs to, "" for none. Every name that
// contains the mark of readers or writers belongs to a read-write lock, as in Java. Such a name need not
// be that of a contender: see [LockOrder].
func LockKind(name string) string {
	switch {
	case IsReader(name), IsWriter(name):
		return KindReadWrite
	case name == LeasesDir, name == LocksDir:
		return KindSemaphoreV2
	case Number(name, LockMark) != "":
		return KindMutex
	case Number(name, LatchMark) != "":
		return KindLatch
	}
	return ""
}

// LockKinds returns the kinds of locks that the children of a node belong to. Locks of different kinds do
// not exclude each other.
func LockKinds(names []string) (kinds []string) {
	for _, name := range names {
		if kind := LockKind(name); kind != "" && !slices.Contains(kinds, kind) {
			kinds = append(kinds, kind)
		}
	}
	return kinds
}

// IsReader reports whether a name is that of a reader of a read-write lock, by Java's rule.
func IsReader(name string) bool { return strings.Contains(name, ReadMark) }

// IsWriter reports whether a name is that of a writer of a read-write lock, by Java's rule.
func IsWriter(name string) bool { return strings.Contains(name, WriteMark) }

// ReadWriteNumber returns the number of a reader's or writer's node, "" for other names. A reader that
// was downgraded from a writer has the number of the writer.
func ReadWriteNumber(name string) string {
	if number := Number(name, ReadMark); number != "" {
		return number
	}
	return Number(name, WriteMark)
}

// WritersAhead returns the writers ahead of a reader in its queue, the first ones first. The writer that
// the reader was downgraded from does not count.
func WritersAhead(queue []string, reader string) (writers []string) {
	for _, name := range queue[:max(0, slices.Index(queue, reader))] {
		if IsWriter(name) && ReadWriteNumber(name) != ReadWriteNumber(reader) {
			writers = append(writers, name)
		}
	}
	return writers
}

// LockOrder returns the text by which a child of a lock is sorted: its number, or "" for a child that is
// no contender. It is always "" for kinds without a queue.
func LockOrder(kind, name string) string {
	switch kind {
	case KindMutex:
		return Number(name, LockMark)
	case KindLatch:
		return Number(name, LatchMark)
	case KindReadWrite:
		return ReadWriteNumber(name)
	}
	return ""
}

// ReleaseMarker returns the path of the node that a holder creates and deletes in the transaction that
// deletes its own node. No list ever shows it. Java has none.
func ReleaseMarker(node string) string { return node + releaseMarker }

// CutReleaseMarker returns the holder's node, if a path is that of a release marker.
func CutReleaseMarker(path string) (node string, ok bool) {
	return strings.CutSuffix(path, releaseMarker)
}

const releaseMarker = ".released"

// LockQueue has the holders and waiters of a mutex, latch or read-write lock.
type LockQueue struct {
	Holders, Waiters []string // names, in order
	Foreign          []string // the other children, by name
}

// ReadLockQueue returns the queue of a lock by the names of its children. leases is how many contenders
// hold a mutex at a time: 1, or the maximum of an InterProcessSemaphore, which no name has. The holders are
// those of this module's locks. A lock with a driver of the user may have others.
func ReadLockQueue(kind string, names []string, leases int) (q LockQueue) {
	turn := NewTurn(kind, leases)
	queue := Sort(names, func(name string) string { return LockOrder(kind, name) })
	for _, name := range queue {
		if holds, _ := turn.Next(name); holds {
			q.Holders = append(q.Holders, name)
		} else {
			q.Waiters = append(q.Waiters, name)
		}
	}
	if len(queue) < len(names) {
		for _, name := range names {
			if LockOrder(kind, name) == "" {
				q.Foreign = append(q.Foreign, name)
			}
		}
		slices.Sort(q.Foreign)
	}
	return q
}

// Turn decides which contenders of a queue hold the lock, one contender after the other.
type Turn struct {
	kind   string
	free   int    // leases that are left
	first  string // the number of the first contender
	mixed  bool   // another one has another number
	writer string // the number of the first writer
}

// NewTurn returns the Turn of an empty queue. See [ReadLockQueue].
func NewTurn(kind string, leases int) Turn {
	if kind != KindMutex {
		leases = 1
	}
	return Turn{kind: kind, free: max(leases, 1)}
}

// Next decides about the next contender of the queue. holds reports whether it holds the lock, more
// whether a contender behind it may hold the lock, too.
func (t *Turn) Next(name string) (holds, more bool) {
	if t.kind != KindReadWrite {
		t.free--
		return t.free >= 0, t.free > 0
	}
	number := ReadWriteNumber(name)
	if t.writer != "" && t.writer != number {
		return false, false
	}
	if t.first == "" {
		t.first = number
	}
	t.mixed = t.mixed || t.first != number
	if !IsWriter(name) {
		return true, true
	}
	holds = !t.mixed && t.writer == ""
	t.writer = number
	return holds, true
}
