package bench

import (
	"context"
	"errors"
)

// errUnsupported: the peer has nothing for the workload.
var errUnsupported = errors.New("unsupported workload")

// lease is what was acquired.
type lease interface {
	Release(ctx context.Context) error
}

// lock is a lock as one user of it sees it. Its methods are called by one goroutine at a
// time.
type lock interface {
	Acquire(ctx context.Context) (lease, error)
}

// lockKind is a kind of lock.
type lockKind int

const (
	mutex       lockKind = iota
	uncontended          // a mutex that nobody else wants: one that excludes nobody will do
	bare                 // only one that excludes nobody
	semaphore
	readLock
	writeLock
	handedOver // a mutex that goroutines hand over
	latch      // a leader latch: acquired when it leads, released when it is closed
)

// session is a connection to ZooKeeper of its own, by one of the clients that run in this
// process.
type session interface {
	// lock returns a lock at path, or errUnsupported. It makes no request. leases is for
	// semaphores.
	lock(kind lockKind, path string, leases int) (lock, error)
	close() error
}

// tryLocker is a lock that can be asked for without waiting.
type tryLocker interface {
	// tryAcquire returns nil, nil if the lock is not free.
	tryAcquire(ctx context.Context) (lease, error)
}

// reentrant is a lease under which the same lock is acquired once more.
type reentrant interface{ Context() context.Context }
