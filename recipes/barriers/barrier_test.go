package barriers_test

import (
	"context"
	"path"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/internal/zkconn"
	"github.com/go-curator/curator/recipes/barriers"
	"github.com/go-curator/curator/retry"
	"github.com/go-curator/curator/state"
	"github.com/go-curator/curator/tools/curatortest"
)

// gate is a single barrier on a client with faults.
type gate struct {
	*env
	client  *framework.Client
	network *suite.Network
	*barriers.DistributedBarrier
}

func (e *env) gate(opts ...framework.Option) *gate {
	e.t.Helper()
	client, network := e.b.Client(e.t, opts...)
	suite.OK(e.t, client.BlockUntilConnected(e.t.Context()))
	barrier := suite.Got(barriers.NewDistributedBarrier(client, e.path)).OK(e.t)
	return &gate{e, client, network, barrier}
}

// closed returns a gate in front of a barrier that is closed, and a call that waits there.
func (e *env) closed() (*gate, *call) {
	e.t.Helper()
	g := e.gate()
	suite.OK(e.t, g.Set(e.t.Context()))
	waiting := e.start(e.t.Context(), g.Wait)
	g.untilWatching()
	waiting.waits()
	return g, waiting
}

func (g *gate) untilWatching() {
	g.t.Helper()
	p := party{env: g.env, client: g.client}
	p.watching(1)
}

func (g *gate) wantNoWatch() {
	g.t.Helper()
	p := party{env: g.env, client: g.client}
	suite.Eventually(g.t, "no watch", func() bool { return p.watches() == 0 })
}

// The matrix of a barrier that is there or not, and of waits with a bound and without.
func TestBarrier(t *testing.T) {
	onServers(t, func(e *env) {
		g := e.gate()
		suite.OK(e.t, g.Wait(e.t.Context())) // no barrier
		suite.OK(e.t, g.Remove(e.t.Context()))
		suite.OK(e.t, g.Set(e.t.Context()))
		suite.OK(e.t, g.Set(e.t.Context()))
		ctx, cancel := context.WithCancel(e.t.Context())
		defer cancel()
		waiting := e.start(ctx, g.Wait)
		g.untilWatching()
		cancel()
		err := waiting.ended()
		e.wantErr(err, barriers.ErrNotPassed)
		e.wantErr(err, context.Canceled)
		g.wantNoWatch()
		var waiters sync.WaitGroup
		var gates []*gate
		for range 5 {
			other := e.gate()
			gates = append(gates, other)
			waiters.Go(func() {
				if err := other.Wait(e.t.Context()); err != nil {
					e.t.Error(err)
				}
			})
		}
		for _, other := range gates {
			other.untilWatching()
		}
		suite.OK(e.t, g.Remove(e.t.Context()))
		waiters.Wait()
		suite.OK(e.t, g.Remove(e.t.Context()))
		suite.OK(e.t, g.Wait(e.t.Context()))
		for _, other := range gates {
			other.wantNoWatch()
		}
	})
}

// A barrier that is opened and closed again at once was open.
func TestBarrierClosedAgain(t *testing.T) {
	onServers(t, func(e *env) {
		g, waiting := e.closed()
		suite.OK(e.t, e.operator.Delete().ForPath(e.t.Context(), e.path))
		waiting.ok()
		suite.OK(e.t, g.Set(e.t.Context()))
		waiting = e.start(e.t.Context(), g.Wait)
		g.untilWatching()
		_, err := e.operator.SetData().ForPath(e.t.Context(), e.path, []byte("closed")) // no reason to pass
		suite.OK(e.t, err)
		g.untilWatching()
		waiting.waits()
		suite.OK(e.t, g.Remove(e.t.Context()))
		waiting.ok()
	})
}

// A barrier that is opened and closed again before the waiter looks was open: in one transaction, and
// while the waiter is cut off.
func TestBarrierOpenBetweenLooks(t *testing.T) {
	for name, cutOff := range map[string]bool{"at once": false, "while cut off": true} {
		t.Run(name, func(t *testing.T) {
			onServers(t, func(e *env) {
				g, waiting := e.closed()
				heal := func() {}
				if cutOff {
					heal = g.network.Isolate()
				}
				op := e.operator.TransactionOp()
				suite.Got(e.operator.Transaction().ForOperations(e.t.Context(), op.Delete().ForPath(e.path), op.Create().ForPath(e.path))).OK(e.t)
				heal()
				suite.Eventually(e.t, "the end of the wait", func() bool { return len(waiting.done) == 1 })
				waiting.ok()
				g.wantNoWatch()
			})
		})
	}
}

// The table of faults of the single barrier: a call that waits.
func TestWaitFaults(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]func(e *env, g *gate){
		"suspended":     func(_ *env, g *gate) { g.network.Cut() },
		"lost":          func(e *env, g *gate) { g.network.Expire(e.t) },
		"lagging":       func(_ *env, g *gate) { g.network.Lag(); g.network.Cut() },
		"before send":   func(_ *env, g *gate) { g.network.On(jute.OpExists, suite.CutBefore, nil); g.network.Cut() },
		"reply lost":    func(_ *env, g *gate) { g.network.On(jute.OpExists, suite.CutAfter, nil); g.network.Cut() },
		"several times": func(e *env, g *gate) { g.network.Expire(e.t); g.network.Cut() },
	} {
		t.Run(name, func(t *testing.T) {
			onServers(t, func(e *env) {
				g, waiting := e.closed()
				looks := g.network.Requests(jute.OpExists)
				fault(e, g)
				suite.Eventually(e.t, "another look", func() bool { return g.network.Requests(jute.OpExists) > looks })
				g.untilWatching()
				waiting.waits()
				suite.OK(e.t, e.operator.Delete().ForPath(e.t.Context(), e.path))
				waiting.ok()
				g.wantNoWatch()
			})
		})
	}
	t.Run("opened while cut off", func(t *testing.T) {
		onServers(t, func(e *env) {
			g, waiting := e.closed()
			heal := g.network.Isolate()
			suite.OK(e.t, e.operator.Delete().ForPath(e.t.Context(), e.path))
			heal()
			waiting.ok()
		})
	})
	t.Run("parent deleted", func(t *testing.T) {
		onServers(t, func(e *env) {
			g, waiting := e.closed()
			suite.OK(e.t, e.operator.Delete().DeletingChildrenIfNeeded().ForPath(e.t.Context(), path.Dir(e.path)))
			waiting.ok()
			suite.OK(e.t, g.Set(e.t.Context()))
		})
	})
	t.Run("ctx ended", func(t *testing.T) {
		onServers(t, func(e *env) {
			g := e.gate()
			suite.OK(e.t, g.Set(e.t.Context()))
			ended, cancel := context.WithCancel(e.t.Context())
			cancel()
			err := g.Wait(ended)
			e.wantErr(err, context.Canceled)
			e.wantErr(g.Set(ended), context.Canceled)
			e.wantErr(g.Remove(ended), context.Canceled)
			g.wantNoWatch()
		})
	})
	t.Run("client closed", func(t *testing.T) {
		onServers(t, func(e *env) {
			g, waiting := e.closed()
			suite.OK(e.t, g.client.Close(e.t.Context()))
			e.wantErr(waiting.ended(), framework.ErrClosed)
			e.wantErr(g.Wait(e.t.Context()), framework.ErrClosed)
			e.wantErr(g.Set(e.t.Context()), framework.ErrClosed)
		})
	})
}

// Set and Remove are repeated when a reply is lost: both say how it is to be.
func TestSetAndRemoveFaults(t *testing.T) {
	for name, fate := range map[string]suite.Fate{"before send": suite.CutBefore, "reply lost": suite.CutAfter} {
		t.Run(name, func(t *testing.T) {
			onServers(t, func(e *env) {
				g := e.gate()
				suite.OK(e.t, g.Set(e.t.Context()))
				g.network.On(jute.OpDelete, fate, nil)
				suite.OK(e.t, g.Remove(e.t.Context()))
				g.network.On(jute.OpCreate2, fate, nil)
				suite.OK(e.t, g.Set(e.t.Context()))
				there, err := e.operator.CheckExists().ForPath(e.t.Context(), e.path)
				if err != nil || !there {
					e.t.Errorf("the barrier is there: %t, %v", there, err)
				}
			})
		})
	}
}

// A client whose policy gives up gets an answer.
func TestWaitOnDeadServer(t *testing.T) {
	inVirtualTime(t, func(e *env) {
		client, network := e.b.Client(e.t)
		once, err := framework.NewClient(e.b.ConnectString(), retry.None(), framework.WithDialer(network.Dial),
			framework.WithConnectionTimeout(time.Second), framework.WithLogger(client.Logger()))
		suite.OK(e.t, err)
		network.Isolate()
		suite.OK(e.t, once.Start(e.t.Context()))
		defer once.Close(e.t.Context())
		single := suite.Got(barriers.NewDistributedBarrier(once, e.path)).OK(e.t)
		e.wantErr(single.Wait(e.t.Context()), framework.ErrConnectionLoss)
		double := suite.Got(barriers.NewDistributedDoubleBarrier(once, e.path, 2)).OK(e.t)
		e.wantErr(double.Enter(e.t.Context()), framework.ErrConnectionLoss)
		e.wantErr(double.Leave(e.t.Context()), barriers.ErrEntered)
	})
}

// The wait begins with a sync: a barrier that was set before is seen on every server.
func TestWaitSyncs(t *testing.T) {
	inVirtualTime(t, func(e *env) {
		g := e.gate()
		suite.OK(e.t, g.Wait(e.t.Context())) // the barrier is missing
		suite.OK(e.t, e.gate().Set(e.t.Context()))
		g.network.Lag()
		g.network.Cut()
		suite.OK(e.t, g.client.BlockUntilConnected(e.t.Context()))
		short, cancel := context.WithTimeout(e.t.Context(), time.Second)
		defer cancel()
		e.wantErr(g.Wait(short), barriers.ErrNotPassed)
	})
}

// A server that is behind and refuses the sync of the wait does not let anybody through.
func TestWaitSyncRefused(t *testing.T) {
	inVirtualTime(t, func(e *env) {
		g := e.gate()
		suite.OK(e.t, e.gate().Set(e.t.Context()))
		g.network.FallBehind()
		e.b.Server().Inject(curatortest.Rule{Op: "sync", SessionID: g.client.SessionID(), Do: curatortest.Fail(zkconn.ErrThrottled)})
		waiting := e.start(e.t.Context(), g.Wait)
		g.untilWatching()
		waiting.waits()
		suite.OK(e.t, g.Remove(e.t.Context()))
		waiting.ok()
	})
}

// A server without a quorum, which shows the barrier as it was, lets nobody through either.
func TestWaitReadOnly(t *testing.T) {
	inVirtualTime(t, func(e *env) {
		g := e.gate(framework.WithReadOnly())
		suite.OK(e.t, e.gate().Set(e.t.Context()))
		restore := g.network.WithoutQuorum()
		suite.Eventually(e.t, "a connection for reads alone", func() bool { return g.client.ConnectionState() == state.ReadOnly })
		waiting := e.start(e.t.Context(), g.Wait)
		synctest.Wait()
		waiting.waits()
		restore()
		g.untilWatching()
		waiting.waits()
		suite.OK(e.t, e.operator.Delete().ForPath(e.t.Context(), e.path))
		waiting.ok()
	})
}
