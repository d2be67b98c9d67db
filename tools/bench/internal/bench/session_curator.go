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
	"github.com/go-curator/curator/tools/bench/internal/wire"
)

// curatorSession is a client of Curator for Go.
type curatorSession struct {
	client *framework.Client
	v2     bool // its semaphores have Java's layout
}

// openCurator returns a session of a client with the default settings.
func openCurator(ctx context.Context, address string, timeout time.Duration, counter *wire.Counter) (session, error) {
	policy := retry.BoundedExponentialBackoff(50*time.Millisecond, time.Second, 10)
	client, err := framework.NewClient(address, policy, framework.WithDialer(counter.DialContext),
		framework.WithSessionTimeout(timeout), framework.WithLogger(slog.New(slog.DiscardHandler)))
	if err != nil {
		return nil, err
	}
	if err := client.Start(ctx); err != nil {
		return nil, err
	}
	s := &curatorSession{client: client}
	if err := client.BlockUntilConnected(ctx); err != nil {
		return nil, errors.Join(err, s.close())
	}
	return s, nil
}

// openCuratorV2 is openCurator for the semaphore with Java's layout.
func openCuratorV2(ctx context.Context, address string, timeout time.Duration, counter *wire.Counter) (session, error) {
	s, err := openCurator(ctx, address, timeout, counter)
	if err == nil {
		s.(*curatorSession).v2 = true
	}
	return s, err
}

func (s *curatorSession) lock(kind lockKind, path string, leases int) (lock, error) {
	if s.v2 {
		if kind != semaphore {
			return nil, errUnsupported
		}
		return asLock(locks.NewInterProcessSemaphoreV2(s.client, path, leases))
	}
	switch kind {
	case mutex, uncontended:
		return asLock(locks.NewInterProcessMutex(s.client, path))
	case latch:
		return latchLock{s.client, path}, nil
	case handedOver:
		return asLock(locks.NewInterProcessMutex(s.client, path, locks.WithLocalHandover(100)))
	case semaphore:
		return asLock(locks.NewInterProcessSemaphore(s.client, path, leases))
	case readLock, writeLock:
		rw, err := locks.NewInterProcessReadWriteLock(s.client, path)
		if err != nil {
			return nil, err
		}
		if kind == readLock {
			return curatorLock{rw.ReadLock()}, nil
		}
		return curatorLock{rw.WriteLock()}, nil
	}
	return nil, errUnsupported
}

func (s *curatorSession) close() error {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	return s.client.Close(ctx)
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
