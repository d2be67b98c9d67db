package atomics_test

import (
	"context"
	"testing"
	"time"

	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/recipes/atomics"
	"github.com/go-curator/curator/recipes/locks"
	"github.com/go-curator/curator/retry"
)

// contend has the next n writes of the client come too late.
func (e *env) contend(n int) {
	for range n {
		e.network.On(jute.OpSetData, suite.Late, func() { e.write(seven) })
	}
}

func (e *env) newLock(client int, opts ...locks.MutexOption) *locks.InterProcessMutex {
	e.t.Helper()
	c := e.client
	if client != 0 {
		c = e.other
	}
	lock := suite.Got(locks.NewInterProcessMutex(c, e.path+"-lock", opts...)).OK(e.t)
	return lock
}

// Without a lock the policy says when it is enough; with one it goes on, and says what it took.
func TestPromotion(t *testing.T) {
	onServers(t, func(e *env) {
		twice := retry.NTimes(2, time.Millisecond)
		e.write(seven)
		e.contend(3)
		_, err := e.newLong(e.client, twice).Increment(e.t.Context())
		e.wantErr(err, atomics.ErrContended, false)
		e.wantOnServer(7)

		n := e.newLong(e.client, twice, atomics.WithPromotedToLock(e.newLock(0), twice))
		e.contend(4)
		out := suite.Got(n.Increment(e.t.Context())).OK(e.t)
		if s := out.Stats; out.Post != 8 || s.OptimisticTries != 3 || s.PromotedTries != 2 || s.PromotedTime <= 0 {
			e.t.Errorf("%+v", out)
		}
		e.contend(6)
		_, err = n.Increment(e.t.Context())
		e.wantErr(err, atomics.ErrContended, false)
		if names, err := e.newLock(1).ParticipantNodes(e.t.Context()); err != nil || len(names) != 0 {
			e.t.Errorf("the lock has %q, %v", names, err)
		}
	})
}

// A lock that is not acquired, and one whose reply was lost: nothing was changed.
func TestPromotionFails(t *testing.T) {
	t.Parallel()
	onServers(t, func(e *env) {
		e.write(seven)
		held := suite.Got(e.newLock(1).Acquire(e.t.Context())).OK(e.t)
		lock := e.newLock(0, locks.WithMaxWait(time.Second)) // a real server may take a while to answer
		n := e.newLong(e.client, retry.None(), atomics.WithPromotedToLock(lock, often))
		e.contend(1)
		_, err := n.Increment(e.t.Context())
		e.wantErr(err, atomics.ErrContended, false)
		e.wantErr(err, locks.ErrNotAcquired, false)

		ctx, cancel := context.WithCancel(e.t.Context())
		defer cancel()
		n = e.newLong(e.client, retry.None(), atomics.WithPromotedToLock(e.newLock(0), often))
		e.contend(1)
		e.network.On(jute.OpCreate2, suite.CutAfter, cancel) // the create of the lock's node
		_, err = n.Increment(ctx)
		e.wantErr(err, context.Canceled, false)
		suite.OK(e.t, held.Release(e.t.Context()))
		e.wantOnServer(7)
	})
}

// The end of ctx between two tries is told with what was met until then.
func TestContendedUntilContextEnds(t *testing.T) {
	inVirtualTime(t, func(e *env) {
		e.write(seven)
		ctx, cancel := context.WithTimeout(e.t.Context(), time.Second)
		defer cancel()
		e.contend(1)
		_, err := e.newLong(e.client, retry.NTimes(1, time.Minute)).Increment(ctx)
		e.wantErr(err, atomics.ErrContended, false)
		e.wantErr(err, context.DeadlineExceeded, false)
	})
}
