package locks_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/recipes/locks"
)

// semaphores are the kinds of them, with n leases each.
var semaphores = map[string]func(e *env, n int) counted{
	"plain": func(e *env, n int) counted {
		client, _ := e.b.Client(e.t)
		return suite.Got(locks.NewInterProcessSemaphore(client, e.path, n)).OK(e.t)
	},
	"v2": func(e *env, n int) counted {
		client, _ := e.b.Client(e.t)
		return suite.Got(locks.NewInterProcessSemaphoreV2(client, e.path, n)).OK(e.t)
	},
}

// counted is what the semaphores have in common.
type counted interface {
	locks.InterProcessLock
	AcquireN(ctx context.Context, n int) (*locks.Lease, error)
}

func onSemaphores(t *testing.T, test func(e *env, semaphore func(n int) counted)) {
	for name, open := range semaphores {
		t.Run(name, func(t *testing.T) {
			onBackends(t, withRealServer, func(t *testing.T, e *env) {
				test(e, func(n int) counted { return open(e, n) })
			})
		})
	}
}

// TestSemaphoreLimit has more workers than leases, each with a client of its own.
func TestSemaphoreLimit(t *testing.T) {
	onSemaphores(t, func(e *env, semaphore func(n int) counted) {
		const most = 3
		var mu sync.Mutex
		in, peak := 0, 0
		var running sync.WaitGroup
		for i := range 6 {
			s := semaphore(most)
			running.Go(func() {
				for round := range 4 {
					n := 1 + (i+round)%most
					lease, err := s.AcquireN(e.t.Context(), n)
					if err != nil {
						e.t.Error(err)
						return
					}
					mu.Lock()
					in += n
					peak = max(peak, in)
					if in > most {
						e.t.Errorf("%d leases are held", in)
					}
					mu.Unlock()
					<-time.After(time.Millisecond)
					mu.Lock()
					in -= n
					mu.Unlock()
					if len(lease.Parts()) != n || lease.Token() != -1 {
						e.t.Errorf("%d parts, token %d", len(lease.Parts()), lease.Token())
					}
					if err := lease.Release(e.t.Context()); err != nil {
						e.t.Error(err)
					}
				}
			})
		}
		running.Wait()
		if peak < 2 {
			e.t.Errorf("at most %d leases were held at a time", peak)
		}
	})
}

// TestAcquireN takes several leases, all or none.
func TestAcquireN(t *testing.T) {
	onSemaphores(t, func(e *env, semaphore func(n int) counted) {
		s, other := semaphore(3), semaphore(3)
		if _, err := s.AcquireN(e.t.Context(), 4); !errors.Is(err, locks.ErrTooManyLeases) {
			e.t.Errorf("4 of 3: %v", err)
		}
		if _, err := s.AcquireN(e.t.Context(), 0); err == nil {
			e.t.Error("0 leases were acquired")
		}
		two := suite.Got(s.AcquireN(e.t.Context(), 2)).OK(e.t)
		ctx, cancel := context.WithTimeout(e.t.Context(), 300*time.Millisecond)
		defer cancel()
		if _, err := other.AcquireN(ctx, 2); !errors.Is(err, locks.ErrNotAcquired) || !errors.Is(err, context.DeadlineExceeded) {
			e.t.Errorf("2 more of 3: %v", err)
		}
		one, err := other.TryAcquire(e.t.Context())
		suite.Eventually(e.t, "the place to be given up", func() bool {
			if err != nil {
				one, err = other.TryAcquire(e.t.Context())
			}
			return err == nil
		})
		if _, err := other.TryAcquire(e.t.Context()); !errors.Is(err, locks.ErrNotAcquired) {
			e.t.Errorf("a fourth: %v", err)
		}
		waiting := e.start(e.t.Context(), other)
		suite.OK(e.t, two.Parts()[0].Release(e.t.Context())) // one of them alone
		third := e.granted(waiting)
		for _, lease := range []*locks.Lease{third, one, two} {
			e.release(lease)
		}
		if two.Err() == nil || two.Context().Err() == nil {
			e.t.Error("a released lease is believed in")
		}
	})
}
