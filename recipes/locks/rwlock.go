package locks

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/layout"
	"github.com/go-curator/curator/recipes/internal/lockqueue"
)

// InterProcessReadWriteLock is a fair lock held by many readers or one writer.
//
// Readers and writers wait in one queue. A reader waits for the writers ahead of it, a writer
// for everybody ahead. ReadLock.Acquire with a write lease's context does not wait, and the
// read lease stays when the write lease is released (a downgrade). WriteLock.Acquire with a
// read lease's context immediately returns ErrDeadlock.
//
// Java: InterProcessReadWriteLock, with which it shares the lock.
type InterProcessReadWriteLock struct {
	_     noCopy
	read  ReadLock
	write WriteLock
}

// NewInterProcessReadWriteLock returns the lock at path. It does no I/O. Errors:
// framework.ErrInvalidPath, framework.ErrInvalidOption, framework.ErrNotStarted for a
// nil client.
//
// Java: InterProcessReadWriteLock.
func NewInterProcessReadWriteLock(client *framework.Client, path string, opts ...ReadWriteLockOption) (*InterProcessReadWriteLock, error) {
	client, cfg, err := newConfig(client, opts, ReadWriteLockOption.applyReadWrite)
	if err != nil {
		return nil, err
	}
	write, err := newQueueLock(client, path, cfg, rules{
		kind: writeKind, lockName: layout.WriteMark, driver: writeDriver{}, maxLeases: 1, children: readWriteKind,
		marksRelease: true, marks: layout.IsWriter, next: layout.IsReader, // a writer may be downgraded
	})
	if err != nil {
		return nil, err
	}
	read, err := newQueueLock(client, path, cfg, rules{
		kind: readKind, lockName: layout.ReadMark, driver: readDriver{first: cfg.plain}, maxLeases: 1, children: readWriteKind, shared: true,
		marks: layout.IsWriter, next: layout.IsWriter,
	})
	if err != nil {
		return nil, err
	}
	read.writers, write.readers = write, read
	l := &InterProcessReadWriteLock{}
	l.read.queue, l.write.queue = read, write
	return l, nil
}

// ReadLock returns the readers' side. It returns the same object every time.
//
// Java: readLock.
func (l *InterProcessReadWriteLock) ReadLock() *ReadLock {
	if l == nil {
		return nil
	}
	return &l.read
}

// WriteLock returns the writers' side. It returns the same object every time.
//
// Java: writeLock.
func (l *InterProcessReadWriteLock) WriteLock() *WriteLock {
	if l == nil {
		return nil
	}
	return &l.write
}

// Downgrade turns a write lease of this lock into a read lease, and lets no writer in between.
// It acquires the read lock at the writer's place in the queue, releases write, and waits for
// this release at most for WithReleaseTimeout. The read lease has the writer's token. On an
// error write is still held, unless it was lost, which ends Downgrade. Work must go on with the
// read lease's context; the write lease's context has ended. ctx bounds the acquisition of the
// read lock.
//
// Java: acquiring the read lock while holding the write lock.
func (l *InterProcessReadWriteLock) Downgrade(ctx context.Context, write *Lease) (*Lease, error) {
	if l == nil || l.read.queue == nil {
		return nil, errNilArgument
	}
	queue := l.read.queue
	if write.never() || write.hold == nil || write.hold.lock.key() != l.write.queue.key() {
		return nil, fmt.Errorf("lock %s: %w: the lease is none of its write leases", queue.path, framework.ErrInvalidOption)
	}
	read, err := queue.takePlaceOf(ctx, write)
	if err != nil {
		return nil, err
	}
	// The outcome does not matter: the writer's node existed when the reader's node was made,
	// and the reader's node keeps other writers out.
	_ = write.giveBack(ctx)
	return read, nil
}

// takePlaceOf acquires a read lease that takes the place of a write lease in the queue. It fails when the
// write lease ends: in another session there is no place to take.
func (l *queueLock) takePlaceOf(ctx context.Context, write *Lease) (*Lease, error) {
	a, err := l.begin(ctx, true)
	if err != nil {
		return nil, err
	}
	defer a.close()
	if err := write.Err(); err != nil {
		return a.end(nil, err)
	}
	a.writer = write.hold
	waitCtx, cancel := context.WithCancelCause(a.waitCtx)
	defer cancel(nil)
	defer write.hold.bind(write.node, cancel)()
	a.waitCtx = waitCtx
	return a.end(l.contend(a))
}

// ReadLock is the readers' side of a lock. Its leases are shared: nested ones do not
// exclude each other.
//
// Java: InterProcessReadWriteLock.ReadLock.
type ReadLock struct {
	_     noCopy
	queue *queueLock
}

// WriteLock is the writers' side of a lock.
//
// Java: InterProcessReadWriteLock.WriteLock.
type WriteLock struct {
	_     noCopy
	queue *queueLock
}

var (
	_ InterProcessLock = (*ReadLock)(nil)
	_ InterProcessLock = (*WriteLock)(nil)
)

// Acquire waits until no writer is ahead; see InterProcessLock. With the context of a write
// lease of the same lock it does not wait: see InterProcessReadWriteLock.Downgrade.
//
// Java: acquire.
func (l *ReadLock) Acquire(ctx context.Context) (*Lease, error) {
	return l.lock().acquire(ctx, true)
}

// TryAcquire takes a read lease if no writer is ahead; see InterProcessLock.
//
// Java: acquire(0, unit).
func (l *ReadLock) TryAcquire(ctx context.Context) (*Lease, error) {
	return l.lock().acquire(ctx, false)
}

// ParticipantNodes lists the readers' nodes, in order.
//
// Java: getParticipantNodes.
func (l *ReadLock) ParticipantNodes(ctx context.Context) ([]string, error) {
	return l.lock().side(ctx)
}

// IsAcquiredInThisProcess reports whether the client that this lock was made with holds it
// for reading, through this object or another; see InterProcessMutex.
//
// Java: isAcquiredInThisProcess.
func (l *ReadLock) IsAcquiredInThisProcess() bool { return l.lock().isHeld() }

// IsOwnedBy reports whether ctx carries a live read lease of this lock.
//
// Java: isOwnedByCurrentThread.
func (l *ReadLock) IsOwnedBy(ctx context.Context) bool {
	return l.lock().ownedBy(ctx)
}

// Acquire waits until nobody is ahead; see InterProcessLock. With the context of a read lease
// of the same lock, and of no write lease, it returns ErrDeadlock, because it would wait for
// its own caller.
//
// Java: acquire.
func (l *WriteLock) Acquire(ctx context.Context) (*Lease, error) {
	return l.lock().acquire(ctx, true)
}

// TryAcquire takes the write lease if nobody holds the lock; see InterProcessLock.
//
// Java: acquire(0, unit).
func (l *WriteLock) TryAcquire(ctx context.Context) (*Lease, error) {
	return l.lock().acquire(ctx, false)
}

// ParticipantNodes lists the writers' nodes, in order.
//
// Java: getParticipantNodes.
func (l *WriteLock) ParticipantNodes(ctx context.Context) ([]string, error) {
	return l.lock().side(ctx)
}

// IsAcquiredInThisProcess reports whether the client that this lock was made with holds it
// for writing, through this object or another; see InterProcessMutex.
//
// Java: isAcquiredInThisProcess.
func (l *WriteLock) IsAcquiredInThisProcess() bool { return l.lock().isHeld() }

// IsOwnedBy reports whether ctx carries a live write lease of this lock.
//
// Java: isOwnedByCurrentThread.
func (l *WriteLock) IsOwnedBy(ctx context.Context) bool {
	return l.lock().ownedBy(ctx)
}

// side lists the nodes of one side.
func (l *queueLock) side(ctx context.Context) ([]string, error) {
	nodes, err := l.participants(ctx)
	return slices.DeleteFunc(nodes, func(node string) bool { return !strings.Contains(lockqueue.Name(node), l.lockName) }), err
}

// lock returns the queue, nil for a nil lock and for the zero value.
func (l *ReadLock) lock() *queueLock {
	if l == nil {
		return nil
	}
	return l.queue
}

// lock returns the queue, nil for a nil lock and for the zero value.
func (l *WriteLock) lock() *queueLock {
	if l == nil {
		return nil
	}
	return l.queue
}

// writeDriver lets a writer in when nobody is ahead of it.
type writeDriver struct{ StandardLockInternalsDriver }

// FixForSorting returns the number of a reader's or writer's node.
func (writeDriver) FixForSorting(name, _ string) string { return layout.ReadWriteNumber(name) }

// readDriver lets a reader in when no writer is ahead of it. Other readers wait for the nearest
// writer: while its node exists nothing changes. Java Curator waits for the first writer, and
// lists the queue again for each.
type readDriver struct {
	StandardLockInternalsDriver
	first bool // wait for the first writer, as Curator does
}

// FixForSorting returns the number of a reader's or writer's node.
func (readDriver) FixForSorting(name, _ string) string { return layout.ReadWriteNumber(name) }

// GetsTheLock looks for the nearest writer ahead. A writer with the same number does not count: the
// reader was downgraded from it.
func (d readDriver) GetsTheLock(children []string, ours string, _ int) PredicateResults {
	writers := layout.WritersAhead(children, ours)
	switch {
	case len(writers) == 0:
		return PredicateResults{GetsTheLock: slices.Contains(children, ours)}
	case d.first:
		return PredicateResults{PathsToWatch: writers[:1]}
	default:
		return PredicateResults{PathsToWatch: writers[len(writers)-1:]}
	}
}
