package locks_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/recipes/locks"
	"github.com/go-curator/curator/state"
)

// A context that was bound to a lease ends when Release is called, not some time later.
func TestBoundContextEndsAtOnce(t *testing.T) {
	virtually(t, func(t *testing.T, e *env) {
		for range 20 {
			lease := e.acquire(e.mutex)
			bound := lease.Bind(t.Context())
			e.release(lease)
			suite.WantErr(t, context.Cause(bound), locks.ErrReleased)
			suite.Got(e.mutex.Acquire(bound)).Fails(t, locks.ErrReleased)
			suite.WantErr(t, context.Cause(lease.Bind(t.Context())), locks.ErrReleased)
		}
		e.wantNodes(0)
	})
}

// A policy that takes every state for an error keeps nobody from the lock while there is
// a connection.
func TestOddErrorPolicy(t *testing.T) {
	virtually(t, func(t *testing.T, e *env) {
		e.network.Cut()
		suite.Eventually(t, "a connection", func() bool { return e.client.ConnectionState() == state.Reconnected })
		e.release(e.acquire(e.mutex))
	}, framework.WithErrorPolicy(everythingIsAnError{}))
}

type everythingIsAnError struct{}

func (everythingIsAnError) IsErrorState(state.ConnectionState) bool { return true }

// Whatever the order of the releases, the outermost lease's slot is taken until the last
// of those below it goes, and free then.
func TestReleaseOrders(t *testing.T) {
	virtually(t, func(t *testing.T, e *env) {
		for _, order := range [][]int{{1, 2, 3}, {1, 3, 2}, {2, 1, 3}, {2, 3, 1}, {3, 1, 2}, {3, 2, 1}} {
			chain := []*locks.Lease{e.acquire(e.mutex)}
			for range 3 {
				chain = append(chain, e.acquireFrom(chain[len(chain)-1].Context(), e.mutex))
			}
			for _, i := range order {
				suite.Got(e.mutex.TryAcquire(chain[0].Context())).Fails(t, locks.ErrNotAcquired)
				e.release(chain[i])
			}
			sibling, err := e.mutex.TryAcquire(chain[0].Context())
			if err != nil {
				t.Fatalf("released in the order %v: %v", order, err)
			}
			e.release(sibling)
			e.release(chain[0])
		}
		e.wantNodes(0)
	})
}

// Close has begun and still waits for something: nobody is let in any more.
func TestNoGrantDuringClose(t *testing.T) {
	virtually(t, func(t *testing.T, e *env) {
		first := e.acquire(e.mutex)
		second := e.queue(t.Context(), e.mutex, 2)
		released := make(chan error, 1)
		go func() {
			<-first.Context().Done()
			released <- first.Release(t.Context())
		}()
		suite.OK(t, e.client.Close(t.Context()))
		<-second.done
		suite.WantErr(t, second.err, framework.ErrClosed)
		suite.WantErr(t, <-released, locks.ErrLockLost)
		e.untilNodes(0)
	})
}

// Do's caller is told of a loss also when the server does not answer to the release in time:
// of a lease's own, if the work has failed, and of a part's, whatever the others come to.
func TestDoUnconfirmed(t *testing.T) {
	failed := errors.New("failed")
	short := locks.WithReleaseTimeout(50 * time.Millisecond)
	suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
		for _, work := range []error{nil, failed} {
			e := newEnv(t, b)
			ctx, cancel := context.WithCancel(t.Context())
			var lease *locks.Lease
			var heal func()
			err := locks.Do(ctx, e.lock(e.client, short), func(_ context.Context, l *locks.Lease) error {
				lease, heal = l, e.network.Isolate()
				e.network.Cut()
				e.lost(l, locks.LossSuspended)
				cancel()
				return work
			})
			heal()
			if errors.Is(err, locks.ErrReleasePending) || !errors.Is(err, work) || errors.Is(err, locks.ErrLockLost) != (work != nil) {
				t.Errorf("work that returns %v: %v", work, err)
			}
			e.release(lease) // waits for the outcome

			e = newEnv(t, b)
			multi := suite.Got(locks.NewInterProcessMultiLock(e.mutexAt("/a", e.otherClient(), short), e.mutexAt("/b", e.client, short))).OK(t)
			ctx, cancel = context.WithCancel(t.Context())
			err = locks.Do(ctx, multi, func(_ context.Context, l *locks.Lease) error {
				lease, heal = l, e.network.Isolate()
				lost := l.Parts()[0]
				e.delete(lost.Path())
				e.lost(lost, locks.LossNodeDeleted)
				cancel()
				return work
			})
			heal()
			if errors.Is(err, locks.ErrReleasePending) || !errors.Is(err, locks.ErrLockLost) || work != nil && !errors.Is(err, work) {
				t.Errorf("work that returns %v, with a part lost: %v", work, err)
			}
			suite.WantErr(t, lease.Release(t.Context()), locks.ErrLockLost)
		}
	})
}

func TestDo(t *testing.T) {
	virtually(t, func(t *testing.T, e *env) {
		failed := errors.New("work failed")
		err := locks.Do(t.Context(), e.mutex, func(ctx context.Context, lease *locks.Lease) error {
			if !e.mutex.IsOwnedBy(ctx) || lease.Err() != nil {
				t.Error("fn's context re-enters")
			}
			return failed
		})
		suite.WantErr(t, err, failed)
		if errors.Is(err, locks.ErrLockLost) {
			t.Fatalf("error %v", err)
		}
		e.wantNodes(0)

		// The work's context ends, the lock is released all the same.
		ctx, cancel := context.WithCancel(t.Context())
		err = locks.Do(ctx, e.mutex, func(ctx context.Context, _ *locks.Lease) error {
			cancel()
			<-ctx.Done()
			return ctx.Err()
		})
		suite.WantErr(t, err, context.Canceled)
		e.wantNodes(0)

		// The lock is lost while fn works, which does not look.
		err = locks.Do(t.Context(), e.mutex, func(ctx context.Context, lease *locks.Lease) error {
			e.network.Expire(t)
			<-ctx.Done()
			return nil
		})
		suite.WantErr(t, err, locks.ErrLockLost)

		// A panic releases the lock and goes on.
		func() {
			defer func() {
				if recover() != "boom" {
					t.Error("the panic was swallowed")
				}
			}()
			_ = locks.Do(t.Context(), e.mutex, func(context.Context, *locks.Lease) error { panic("boom") })
		}()
		e.wantNodes(0)
	})
}

func TestTryDo(t *testing.T) {
	virtually(t, func(t *testing.T, e *env) {
		lease := e.acquire(e.other())
		err := locks.TryDo(t.Context(), e.mutex, func(context.Context, *locks.Lease) error {
			t.Error("called although the lock is busy")
			return nil
		})
		suite.WantErr(t, err, locks.ErrNotAcquired)
		e.release(lease)
		called := false
		err = locks.TryDo(t.Context(), e.mutex, func(context.Context, *locks.Lease) error {
			called = true
			return nil
		})
		if err != nil || !called {
			t.Fatalf("error %v, called %t", err, called)
		}
	})
}
