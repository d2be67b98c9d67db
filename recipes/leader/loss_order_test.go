package leader_test

import (
	"context"
	"sync"
	"testing"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/recipes/leader"
	"github.com/go-curator/curator/recipes/locks"
)

// setDataCut has several changes of a node fail with their connection, and wants the lease ended whenever
// one has. ctx is the lease's, or one that is bound to it.
func setDataCut(ctx context.Context, t *testing.T, c *framework.Client, n *suite.Network, path string, lease *locks.Lease) {
	t.Helper()
	n.On(jute.OpSetData, suite.CutBefore, nil)
	var calls sync.WaitGroup
	for range 5 {
		calls.Go(func() {
			_, err := c.SetData().ForPath(context.WithoutCancel(ctx), path, []byte("x"))
			if ended, told := ctx.Err(), lease.Err(); err != nil && (ended == nil || told == nil) {
				t.Errorf("%v, and the term goes on: its context has ended with %v, the lease with %v", err, ended, told)
			}
		})
	}
	calls.Wait()
}

// When an operation fails with its connection, the term has ended by then.
func TestTermEndsBeforeCallsFail(t *testing.T) {
	suite.EachOf(t, suite.InVirtualTime|suite.OnRealServer, func(t *testing.T, b *suite.Backend) {
		e := newEnv(t, b)
		path := b.Path("written")
		suite.Got(e.observer.Create().CreatingParentsIfNeeded().ForPath(t.Context(), path)).OK(t)
		m := e.joined("latch")
		losses := 10
		if !b.Virtual {
			losses = 3 // each takes half a second
		}
		for range losses {
			lease := m.leads()
			setDataCut(lease.Context(), t, m.client, m.network, path, lease)
		}
		m.close()
		client, network := b.Client(t)
		selector := suite.Got(leader.NewLeaderSelector(client, b.Path("selector"))).OK(t)
		terms := 0
		err := selector.Run(t.Context(), func(ctx context.Context, lease *locks.Lease) error {
			if terms++; terms > losses {
				return leader.ErrStop
			}
			setDataCut(ctx, t, client, network, path, lease)
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	})
}

// Close of a latch whose lease is just being lost says nothing of that: its node has gone.
func TestCloseBehindALoss(t *testing.T) {
	suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
		e := newEnv(t, b)
		for range 100 {
			m := e.joined("latch")
			lease := m.leads()
			closed := make(chan error, 1)
			context.AfterFunc(lease.Context(), func() { closed <- m.Close(t.Context()) })
			m.network.Cut()
			suite.OK(t, <-closed)
		}
	})
}
