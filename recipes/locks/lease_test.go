package locks_test

import (
	"context"
	"testing"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/recipes/locks"
	"github.com/go-curator/curator/state"
)

// The session ends, somebody else holds the lock, and then the answer to our delete, that
// there is no such node, is lost: that is not our delete's doing.
func TestReleaseAfterAnotherHolder(t *testing.T) {
	virtually(t, func(t *testing.T, e *env) {
		lease := e.acquire(e.mutex)
		next := e.queue(t.Context(), e.other(), 2)
		old := e.client.SessionID()
		heal := e.network.Isolate()
		e.network.Cut()
		e.lost(lease, locks.LossSuspended)
		e.release(e.granted(next))
		heal()
		suite.Eventually(t, "a new session", func() bool { id := e.client.SessionID(); return id != 0 && id != old })
		hit := e.network.On(jute.OpDelete, suite.CutAfter, nil)
		suite.WantErr(t, lease.Release(t.Context()), locks.ErrLockLost)
		<-hit
	})
}

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
