package nodes_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/recipes/internal/turns"
	"github.com/go-curator/curator/recipes/nodes"
)

// Start takes over what is not this client's. Later on the node of another client is left alone.
func TestTakeover(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ there, wanted framework.CreateMode }{
		"ephemeral":            {framework.Ephemeral, framework.Ephemeral},
		"persistent":           {framework.Persistent, framework.Ephemeral},
		"ephemeral, to stay":   {framework.Ephemeral, framework.Persistent},
		"container, ephemeral": {framework.Container, framework.Ephemeral},
	} {
		t.Run(name, func(t *testing.T) {
			suite.EachOf(t, withRealServer, func(t *testing.T, b *suite.Backend) {
				e := newEnv(t, b)
				e.occupy(e.operator, c.there)
				e.keep(c.wanted, nodes.WithTakeover())
				e.start()
				e.creations(1)
				if c.wanted == framework.Persistent {
					e.until(ours)
					e.closed()
					return
				}
				e.untilOwned(ours)
				e.replace()
				e.network.Cut()
				e.operate(e.client.Sync().ForPath(t.Context(), "/"))
				e.quiet()
				if data, stat, _ := e.read(); data != theirs || stat.Version != 0 || stat.EphemeralOwner != e.operator.SessionID() {
					t.Fatalf("the node that was taken over has %s, %+v", data, stat)
				}
				e.delete()
				e.untilOwned(ours)
				e.closed()
			})
		})
	}
}

// A node that may be taken over leaves time, after its deletion, for a program that deletes it and
// then creates its own.
func TestTakeoverInTwoSteps(t *testing.T) {
	suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
		e := newEnv(t, b)
		e.keep(framework.Ephemeral, nodes.WithTakeover())
		e.start()
		for range 2 {
			e.delete()
			elapse(40 * time.Millisecond)
			e.occupy(e.operator, framework.Ephemeral)
			e.quiet()
			if data, _, _ := e.read(); data != theirs {
				t.Fatalf("the node has %s", data)
			}
			e.delete()
			e.untilOwned(ours)
			elapse(time.Minute)
		}
		e.closed()
	})
}

// replace has the operator put its own node in place of the kept one.
func (e *env) replace() {
	e.t.Helper()
	op := e.operator.TransactionOp()
	create := op.Create().WithMode(framework.Ephemeral).WithData([]byte(theirs))
	_, err := e.operator.Transaction().ForOperations(e.t.Context(), op.Delete().ForPath(e.path), create.ForPath(e.path))
	e.operate(err)
}

// A node with children cannot be taken over.
func TestTakeoverRefused(t *testing.T) {
	suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
		e := newEnv(t, b)
		e.occupy(e.operator, framework.Persistent)
		_, err := e.operator.Create().ForPath(t.Context(), e.path+"/child")
		e.operate(err)
		e.keep(framework.Ephemeral, nodes.WithTakeover())
		suite.WantErr(t, e.node.Start(t.Context()), framework.ErrNotEmpty)
		e.operate(e.operator.Delete().ForPath(t.Context(), e.path+"/child"))
		e.start()
		e.untilOwned(ours)
		e.closed()
	})
}

// Leave leaves the node, and a Close behind it, too.
func TestLeave(t *testing.T) {
	suite.EachOf(t, withRealServer, func(t *testing.T, b *suite.Backend) {
		e := newEnv(t, b)
		e.keep(framework.Persistent)
		e.start()
		e.operate(e.node.Leave(t.Context()))
		e.close()
		e.until(ours)
		if n := e.watches(e.client); n > 0 {
			t.Errorf("%d watches are left", n)
		}
		var none *nodes.PersistentNode
		e.operate(none.Leave(t.Context()))
	})
}

// A Close whose context has ended can be repeated to wait for the deletion.
func TestCloseAgain(t *testing.T) {
	suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
		e := newEnv(t, b)
		e.keep(framework.Ephemeral)
		e.start()
		heal := e.network.Isolate()
		for range 2 {
			ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
			suite.WantErr(t, e.node.Close(ctx), nodes.ErrDeletePending, context.DeadlineExceeded)
			cancel()
		}
		time.AfterFunc(time.Second, heal)
		e.close()
		e.wantNone()
	})
}

// Close joins the listeners that a Start has called which failed afterwards.
func TestCloseAfterFailedStart(t *testing.T) {
	suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
		e := newEnv(t, b)
		e.keep(framework.EphemeralSequential, nodes.WithProtection())
		release, done := make(chan struct{}), false
		e.node.CreatedListenable().Add(func(context.Context, string) {
			<-release
			done = true
		})
		ctx, cancel := context.WithCancel(t.Context())
		e.network.On(jute.OpGetData, suite.CutBefore, cancel) // the node is created
		suite.WantErr(t, e.node.Start(ctx), context.Canceled)
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		if err := e.node.Close(ended); err == nil || !strings.Contains(err.Error(), "listeners still running: 1") {
			t.Errorf("Close with an ended context: %v", err)
		}
		time.AfterFunc(time.Minute, func() { close(release) })
		if e.close(); !done {
			t.Error("Close returned while a listener was running")
		}
		e.untilNone()
	})
}

// Nodes with turns are looked at one after the other when a session has ended.
func TestTurns(t *testing.T) {
	suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
		e := newEnv(t, b)
		const pause = time.Second
		e.keep(framework.Ephemeral, nodes.WithTurns(turns.New(1, func() time.Duration { return pause })))
		e.start()
		e.network.Expire(t)
		e.untilOwned(ours)
		e.delete() // a deletion has a pause of its own, and needs no turn
		e.untilOwned(ours)
		e.closed()
	})
}
