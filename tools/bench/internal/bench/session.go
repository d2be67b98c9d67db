package bench

import (
	"context"
	"errors"
)

// errUnsupported is returned by a peer that does not have the workload.
var errUnsupported = errors.New("unsupported workload")

// lease is an acquired lock.
type lease interface {
	Release(ctx context.Context) error
}

// lock is a lock for one user. Its methods must be called by only one goroutine at a time.
type lock interface {
	Acquire(ctx context.Context) (lease, error)
}

// lockKind is a kind of lock.
type lockKind int

const (
	mutex       lockKind = iota
	uncontended          // a mutex without other contenders; also a lock that excludes nobody
	bare                 // only a lock that excludes nobody
	semaphore
	readLock
	writeLock
	handedOver // a mutex that goroutines of one client hand over without the server
	latch      // a leader latch: acquired when it leads, released when it is closed
)

// session is a ZooKeeper session of one of the clients that run in this process.
type session interface {
	// lock returns a lock at path, or errUnsupported. It makes no request. leases is for
	// semaphores.
	lock(kind lockKind, path string, leases int) (lock, error)
	close() error
}

// tryLocker is a lock that can be acquired without waiting.
type tryLocker interface {
	// tryAcquire returns nil, nil if the lock is not free.
	tryAcquire(ctx context.Context) (lease, error)
}

// reentrant is a lease under which the same lock can be acquired again.
type reentrant interface{ Context() context.Context }
