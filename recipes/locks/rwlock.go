package locks

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/telemetry"
)

// InterProcessReadWriteLock is a fair lock held by many readers or one writer.
//
// Readers and writers queue in one line: a reader waits for the writers ahead of it, a
// writer for everybody ahead. A write lease's context takes a read lease at once, which
// stays when the write lease is released (a downgrade); a read lease's context cannot take
// the write lock, which is ErrDeadlock at once.
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
func NewInterProcessReadWriteLock(client *framework.Client, path string, opts ...ReadWriteLockOption) (*InterProcessReadWriteLock, error) {
	cfg, err := newConfig(opts, ReadWriteLockOption.applyReadWrite)
	if err != nil {
		return nil, err
	}
	write, err := newInternals(client, path, cfg, rules{
		kind: writeKind, lockName: writeName, driver: writeDriver{}, maxLeases: 1, children: readWriteKind,
		baton: writeBaton,
	})
	if err != nil {
		return nil, err
	}
	read, err := newInternals(client, path, cfg, rules{
		kind: readKind, lockName: readName, driver: readDriver{first: cfg.plain}, maxLeases: 1, children: readWriteKind, shared: true,
		baton: readBaton,
	})
	if err != nil {
		return nil, err
	}
	read.writers, write.readers = write, read
	l := &InterProcessReadWriteLock{}
	l.read.in, l.write.in = read, write
	return l, nil
}

// ReadLock returns the readers' side, always the same.
//
// Java: readLock.
func (l *InterProcessReadWriteLock) ReadLock() *ReadLock {
	if l == nil {
		return nil
	}
	return &l.read
}

// WriteLock returns the writers' side, always the same.
//
// Java: writeLock.
func (l *InterProcessReadWriteLock) WriteLock() *WriteLock {
	if l == nil {
		return nil
	}
	return &l.write
}

// Downgrade turns a write lease of this lock into a read lease without letting a writer in
// between: it acquires the read lock at the writer's place and releases write. The read
// lease shows the writer's token. On an error write is still held, unless it was lost.
// Work must go on with the read lease's context; the write lease's has ended.
//
// Java: acquiring the read lock while holding the write lock.
func (l *InterProcessReadWriteLock) Downgrade(ctx context.Context, write *Lease) (*Lease, error) {
	if l == nil || l.read.in == nil {
		return nil, errNilArgument
	}
	in := l.read.in
	if write.never() || write.hold == nil || write.hold.in.key() != l.write.in.key() {
		return nil, fmt.Errorf("lock %s: %w: the lease is none of its write leases", in.path, framework.ErrInvalidOption)
	}
	read, err := in.acquireAs(ctx, write)
	if err != nil {
		return nil, err
	}
	// What it says of the write lease does not matter: the writer's node was there when
	// the reader's was made, and that is what keeps other writers out.
	_ = write.Release(ctx)
	return read, nil
}

// ReadLock is the readers' side of a lock. Its leases are shared: nested ones do not
// exclude each other.
//
// Java: InterProcessReadWriteLock.ReadLock.
type ReadLock struct {
	_  noCopy
	in *internals
}

// WriteLock is the writers' side of a lock.
//
// Java: InterProcessReadWriteLock.WriteLock.
type WriteLock struct {
	_  noCopy
	in *internals
}

var (
	_ InterProcessLock = (*ReadLock)(nil)
	_ InterProcessLock = (*WriteLock)(nil)
)

// Acquire waits until no writer is ahead; see InterProcessLock. With the context of a write
// lease of the same lock it returns at once: see InterProcessReadWriteLock.Downgrade.
//
// Java: acquire.
func (l *ReadLock) Acquire(ctx context.Context) (*Lease, error) { return l.acquire(ctx, true) }

// TryAcquire takes a read lease if no writer is ahead; see InterProcessLock.
//
// Java: acquire(0, unit).
func (l *ReadLock) TryAcquire(ctx context.Context) (*Lease, error) { return l.acquire(ctx, false) }

func (l *ReadLock) acquire(ctx context.Context, wait bool) (*Lease, error) {
	if l == nil || l.in == nil {
		return nil, errNilArgument
	}
	return l.in.acquire(ctx, wait)
}

// ParticipantNodes lists the readers' nodes, in order.
//
// Java: getParticipantNodes.
func (l *ReadLock) ParticipantNodes(ctx context.Context) ([]string, error) {
	if l == nil || l.in == nil {
		return nil, errNilArgument
	}
	return l.in.side(ctx)
}

// IsAcquiredInThisProcess tells whether the client that this lock was made with holds it
// for reading, through this object or another.
//
// Java: isAcquiredInThisProcess.
func (l *ReadLock) IsAcquiredInThisProcess() bool { return l != nil && l.in.held() }

// IsOwnedBy tells whether ctx carries a live read lease of this lock.
//
// Java: isOwnedByCurrentThread.
func (l *ReadLock) IsOwnedBy(ctx context.Context) bool {
	return l != nil && l.in.ownedBy(ctx)
}

// Acquire waits until nobody is ahead; see InterProcessLock. With the context of a read lease
// of the same lock, and of no write lease, it returns ErrDeadlock: it would wait for its own
// caller.
//
// Java: acquire.
func (l *WriteLock) Acquire(ctx context.Context) (*Lease, error) { return l.acquire(ctx, true) }

// TryAcquire takes the write lease if nobody holds the lock; see InterProcessLock.
//
// Java: acquire(0, unit).
func (l *WriteLock) TryAcquire(ctx context.Context) (*Lease, error) { return l.acquire(ctx, false) }

func (l *WriteLock) acquire(ctx context.Context, wait bool) (*Lease, error) {
	if l == nil || l.in == nil {
		return nil, errNilArgument
	}
	return l.in.acquire(ctx, wait)
}

// ParticipantNodes lists the writers' nodes, in order.
//
// Java: getParticipantNodes.
func (l *WriteLock) ParticipantNodes(ctx context.Context) ([]string, error) {
	if l == nil || l.in == nil {
		return nil, errNilArgument
	}
	return l.in.side(ctx)
}

// IsAcquiredInThisProcess tells whether the client that this lock was made with holds it
// for writing, through this object or another.
//
// Java: isAcquiredInThisProcess.
func (l *WriteLock) IsAcquiredInThisProcess() bool { return l != nil && l.in.held() }

// IsOwnedBy tells whether ctx carries a live write lease of this lock.
//
// Java: isOwnedByCurrentThread.
func (l *WriteLock) IsOwnedBy(ctx context.Context) bool {
	return l != nil && l.in.ownedBy(ctx)
}

// side lists the nodes of one side.
func (in *internals) side(ctx context.Context) ([]string, error) {
	nodes, err := in.participants(ctx)
	return slices.DeleteFunc(nodes, func(node string) bool { return !strings.Contains(nameOf(node), in.lockName) }), err
}

// orderOf returns the number of a reader's or writer's node, "" if it is none.
func orderOf(name string) string {
	standard := StandardLockInternalsDriver{}
	if order := standard.FixForSorting(name, readName); order != "" {
		return order
	}
	return standard.FixForSorting(name, writeName)
}

// writeDriver lets a writer in that is ahead of everybody.
type writeDriver struct{ StandardLockInternalsDriver }

// FixForSorting returns the number of a reader's or writer's node.
func (writeDriver) FixForSorting(name, _ string) string { return orderOf(name) }

// readDriver lets a reader in that has no writer ahead. The others wait for the nearest
// one: while it is there nothing changes, and Curator, which waits for the first, looks
// again for every writer.
type readDriver struct {
	StandardLockInternalsDriver
	first bool // wait for the first writer, as Curator does
}

// FixForSorting returns the number of a reader's or writer's node.
func (readDriver) FixForSorting(name, _ string) string { return orderOf(name) }

// GetsTheLock looks for the nearest writer ahead. A writer whose number ours has is the one
// that ours was downgraded from: it is not in its way.
func (d readDriver) GetsTheLock(children []string, ours string, _ int) PredicateResults {
	writers := writersBefore(children, ours)
	switch {
	case len(writers) == 0:
		return PredicateResults{GetsTheLock: slices.Contains(children, ours)}
	case d.first:
		return PredicateResults{PathsToWatch: writers[:1]}
	default:
		return PredicateResults{PathsToWatch: writers[len(writers)-1:]}
	}
}

// seat prepares a write lease's hold for a reader at its place, unless it has ended: it must
// not pass the baton any more, to a writer that the reader keeps out.
func (h *hold) seat() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.reader = h.reader || h.err == nil
	return h.err
}

func isReader(name string) bool { return strings.Contains(name, readName) }
func isWriter(name string) bool { return strings.Contains(name, writeName) }

// writersBefore returns the writers ahead of a reader, but for the one that it was.
func writersBefore(queue []string, ours string) []string {
	var writers []string
	for _, name := range queue[:max(0, slices.Index(queue, ours))] {
		if isWriter(name) && orderOf(name) != orderOf(ours) {
			writers = append(writers, name)
		}
	}
	return writers
}

// acquireAs takes a read lease at the place of a write lease.
func (in *internals) acquireAs(ctx context.Context, write *Lease) (*Lease, error) {
	if ctx == nil {
		return nil, errNilContext
	}
	return in.traced(ctx, true, func(waitCtx context.Context, span *telemetry.Acquisition) (*Lease, error) {
		if err := write.Err(); err != nil {
			return nil, err
		}
		c := &contender{acquisition: acquisition{in: in, span: span}, wait: true, writer: write.hold, site: here()}
		return c.take(ctx, waitCtx)
	})
}
