package bench

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/recipes/leader"
	"github.com/go-curator/curator/recipes/locks"
	"github.com/go-curator/curator/retry"
	"github.com/go-curator/curator/tools/bench/internal/measure"
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

// tryLocker is a lock that can be acquired without waiting.
type tryLocker interface {
	// tryAcquire returns nil, nil if the lock is not free.
	tryAcquire(ctx context.Context) (lease, error)
}

// reentrant is a lease under which the same lock can be acquired again.
type reentrant interface{ Context() context.Context }

// session is a ZooKeeper session of one of the clients that run in this process.
type session struct {
	conn any // the client, or the connection

	// lock returns a lock at path, or errUnsupported. It makes no request. leases is for semaphores.
	lock  func(kind lockKind, path string, leases int) (lock, error)
	close func() error
}

// openFunc opens a session. The counter counts the bytes and requests on its connections.
type openFunc func(ctx context.Context, address string, timeout time.Duration, counter *measure.Counter) (*session, error)

// kinds are the locks of a client of type C. The functions make no request.
type kinds[C any] map[lockKind]func(client C, path string, leases int) (lock, error)

// alike returns kinds of locks that one function makes.
func alike[C any](of []lockKind, make func(client C, path string) lock) kinds[C] {
	all := kinds[C]{}
	for _, kind := range of {
		all[kind] = func(client C, path string, _ int) (lock, error) { return make(client, path), nil }
	}
	return all
}

// opens returns a function that opens the sessions of a client with the given locks. dial returns when
// the client has a session, which end ends.
func opens[C any](dial func(ctx context.Context, address string, timeout time.Duration, counter *measure.Counter) (client C, end func() error, err error), locks kinds[C]) openFunc {
	return func(ctx context.Context, address string, timeout time.Duration, counter *measure.Counter) (*session, error) {
		client, end, err := dial(ctx, address, timeout, counter)
		if err != nil {
			return nil, err
		}
		return &session{client, func(kind lockKind, path string, leases int) (lock, error) {
			if locks[kind] == nil {
				return nil, errUnsupported
			}
			return locks[kind](client, path, leases)
		}, end}, nil
	}
}

// dialCurator starts a client of Curator for Go with the default settings.
func dialCurator(ctx context.Context, address string, timeout time.Duration, counter *measure.Counter) (*framework.Client, func() error, error) {
	client, err := startClient(ctx, address, framework.WithDialer(counter.DialContext), framework.WithSessionTimeout(timeout))
	if err != nil {
		return nil, nil, err
	}
	end := func() error {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		return client.Close(ctx)
	}
	if err := client.BlockUntilConnected(ctx); err != nil {
		return nil, nil, errors.Join(err, end())
	}
	return client, end, nil
}

func startClient(ctx context.Context, address string, opts ...framework.Option) (*framework.Client, error) {
	// 10,000 waiters of one client take more than three quarters of the default jute.maxbuffer. The servers have that, and read
	// transactions of twice its size.
	opts = append(opts, framework.WithLogger(slog.New(slog.DiscardHandler)), framework.WithJuteMaxBuffer(2<<20))
	client, err := framework.NewClient(address, retry.BoundedExponentialBackoff(50*time.Millisecond, time.Second, 10), opts...)
	if err != nil {
		return nil, err
	}
	return client, client.Start(ctx)
}

// curatorKinds are our locks.
var curatorKinds = kinds[*framework.Client]{
	mutex: newMutex, uncontended: newMutex, semaphore: newSemaphore,
	readLock:  readWriteLock((*locks.InterProcessReadWriteLock).ReadLock),
	writeLock: readWriteLock((*locks.InterProcessReadWriteLock).WriteLock),
	latch:     func(client *framework.Client, path string, _ int) (lock, error) { return latchLock{client, path}, nil },
	handedOver: func(client *framework.Client, path string, _ int) (lock, error) {
		return asLock(locks.NewInterProcessMutex(client, path, locks.WithLocalHandover(100)))
	},
}

func newMutex(client *framework.Client, path string, _ int) (lock, error) {
	return asLock(locks.NewInterProcessMutex(client, path))
}

func newSemaphore(client *framework.Client, path string, leases int) (lock, error) {
	return asLock(locks.NewInterProcessSemaphore(client, path, leases))
}

// newSemaphoreV2 returns a semaphore with Java's layout.
func newSemaphoreV2(client *framework.Client, path string, leases int) (lock, error) {
	return asLock(locks.NewInterProcessSemaphoreV2(client, path, leases))
}

// readWriteLock makes one of the two locks of a read-write lock.
func readWriteLock[L locks.InterProcessLock](of func(*locks.InterProcessReadWriteLock) L) func(client *framework.Client, path string, _ int) (lock, error) {
	return func(client *framework.Client, path string, _ int) (lock, error) {
		both, err := locks.NewInterProcessReadWriteLock(client, path)
		if err != nil {
			return nil, err
		}
		return curatorLock{of(both)}, nil
	}
}

// curatorLock is any of our locks.
type curatorLock struct{ locks.InterProcessLock }

// asLock converts the result of a constructor of package locks.
func asLock[L locks.InterProcessLock](l L, err error) (lock, error) {
	if err != nil {
		return nil, err
	}
	return curatorLock{l}, nil
}

func (l curatorLock) Acquire(ctx context.Context) (lease, error) {
	held, err := l.InterProcessLock.Acquire(ctx)
	if err != nil {
		return nil, err // not an interface with a nil pointer
	}
	return held, nil
}

func (l curatorLock) tryAcquire(ctx context.Context) (lease, error) {
	held, err := l.TryAcquire(ctx)
	switch {
	case errors.Is(err, locks.ErrNotAcquired):
		return nil, nil
	case err != nil:
		return nil, err
	}
	return held, nil
}

// latchLock is an election as a lock. Acquire creates and starts a latch, and returns when it leads.
// Release closes the latch.
type latchLock struct {
	client *framework.Client
	path   string
}

func (l latchLock) Acquire(ctx context.Context) (lease, error) {
	started, err := startLatch(ctx, l.client, l.path)
	if err != nil {
		return nil, err
	}
	if _, err := started.Await(ctx); err != nil {
		return nil, errors.Join(err, started.Close(ctx))
	}
	return leading{started}, nil
}

func startLatch(ctx context.Context, client *framework.Client, path string) (*leader.LeaderLatch, error) {
	started, err := leader.NewLeaderLatch(client, path, leader.WithID("bench"))
	if err != nil {
		return nil, err
	}
	return started, started.Start(ctx)
}

// leading is a latch that leads.
type leading struct{ *leader.LeaderLatch }

func (l leading) Release(ctx context.Context) error { return l.Close(ctx) }
