package nodes_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/recipes/nodes"
)

// withRealServer is where a test runs whose claim includes what a server does.
const withRealServer = suite.InVirtualTime | suite.OnRealServer

// The states of a kept node, and what may happen in each. Every cell names its test, which runs
// for an ephemeral node; TestOneNode has the other modes.
//
//	                starting          kept               writing           closing
//	not sent        StartCutBefore    -                  SetCutBefore      CloseCutBefore
//	reply lost      StartCutAfter     -                  SetCutAfter       CloseCutAfter
//	suspended       StartSuspended    Reconnect          SetSuspended      CloseSuspended
//	lost            StartExpired      Expired            SetExpired        CloseExpired
//	lagging         -                 Lagging            SetLagging        CloseLagging
//	node deleted    StartDeleted      Deleted            SetDeleted        CloseDeleted
//	parent deleted  StartNoParent     ParentDeleted      SetParentDeleted  CloseParentDeleted
//	ctx ends        StartEnds         StartContextEnds   SetEnds           CloseSuspended
//	Close           StartClosed       Closed             SetClosed         ClosedTwice
//	Close, ended    StartClosed       ClosedEnded        SetClosed         CloseSuspended
//	client closed   StartClientClosed ClientClosed       SetClientClosed   CloseAfterClient
var cells = []struct {
	name string
	on   suite.Backends
	test func(t *testing.T, e *env)
}{
	{"StartCutBefore", withRealServer, func(t *testing.T, e *env) {
		hit := e.network.On(jute.OpCreate2, suite.CutBefore, nil)
		e.start()
		<-hit
		e.untilOwned(ours)
		e.closed()
	}},
	{"StartCutAfter", withRealServer, func(t *testing.T, e *env) {
		e.directory()
		hit := e.network.On(jute.OpCreate2, suite.CutAfter, nil)
		e.start()
		<-hit
		e.untilOwned(ours)
		e.creations(1)
		e.closed()
	}},
	{"StartSuspended", suite.InVirtualTime, func(t *testing.T, e *env) {
		heal := e.network.Isolate()
		time.AfterFunc(suite.SessionTimeout/2, heal)
		e.start()
		e.untilOwned(ours)
		e.closed()
	}},
	{"StartExpired", withRealServer, func(t *testing.T, e *env) {
		e.directory()
		hit := e.network.On(jute.OpCreate2, suite.CutAfter, func() { e.network.Expire(t) })
		e.start()
		<-hit
		e.untilOwned(ours)
		e.closed()
	}},
	{"StartDeleted", withRealServer, func(t *testing.T, e *env) { // between the create and the read that is lost
		e.directory()
		hit := e.network.On(jute.OpCreate2, suite.CutAfter, func() { e.operate(e.operator.Delete().ForPath(t.Context(), e.path)) })
		e.start()
		<-hit
		e.untilOwned(ours)
		e.closed()
	}},
	{"StartNoParent", withRealServer, func(t *testing.T, e *env) {
		e.keep(framework.Ephemeral, nodes.WithoutParents())
		suite.WantErr(t, e.node.Start(t.Context()), framework.ErrNoNode)
		e.directory()
		e.start()
		e.untilOwned(ours)
		e.closed()
	}},
	{"StartEnds", suite.InVirtualTime, func(t *testing.T, e *env) {
		e.directory()
		ctx, cancel := context.WithCancel(t.Context())
		hit := e.network.On(jute.OpCreate2, suite.CutAfter, cancel)
		suite.WantErr(t, e.node.Start(ctx), context.Canceled)
		<-hit
		e.untilNone()
		if n := e.watches(e.client); n > 0 {
			t.Fatalf("%d watches are left", n)
		}
		e.start()
		e.untilOwned(ours)
		e.closed()
	}},
	{"StartClosed", withRealServer, func(t *testing.T, e *env) {
		e.directory()
		ctx, cancel := context.WithCancel(t.Context())
		cancel() // of Close, which works although it has ended
		closed := make(chan error, 1)
		hit := e.network.On(jute.OpCreate2, suite.CutAfter, func() {
			heal := e.network.Isolate()
			go func() {
				closed <- e.node.Close(ctx)
				heal()
			}()
		})
		suite.WantErr(t, e.node.Start(t.Context()), framework.ErrClosed)
		<-hit
		e.operate(<-closed)
		e.untilNone()
	}},
	{"StartClientClosed", suite.InVirtualTime, func(t *testing.T, e *env) {
		e.operate(e.client.Close(t.Context()))
		suite.WantErr(t, e.node.Start(t.Context()), framework.ErrClosed)
		e.wantNone()
	}},

	{"Reconnect", withRealServer, func(t *testing.T, e *env) {
		e.start()
		before := e.untilOwned(ours)
		e.network.Cut()
		e.overwriteUntilRestored()
		if after := e.untilOwned(ours); after.Czxid != before.Czxid {
			t.Fatal("the node was made again")
		}
		e.closed()
	}},
	{"Expired", withRealServer, func(t *testing.T, e *env) {
		e.start()
		before := e.client.SessionID()
		e.network.Expire(t)
		suite.Eventually(t, "another session", func() bool { return e.client.SessionID() != before && e.client.SessionID() != 0 })
		e.untilOwned(ours)
		e.creations(2)
		e.closed()
	}},
	{"Lagging", suite.InVirtualTime, func(t *testing.T, e *env) {
		e.start()
		e.operate(readOf(e))
		e.network.Lag()
		heal := e.network.Isolate()
		e.delete()
		heal()
		e.untilOwned(ours)
		e.closed()
	}},
	{"Deleted", withRealServer, func(t *testing.T, e *env) {
		e.start()
		for range 3 {
			e.delete()
			e.untilOwned(ours)
		}
		e.creations(4)
		e.closed()
	}},
	{"ParentDeleted", withRealServer, func(t *testing.T, e *env) {
		e.start()
		e.deleteAll()
		e.untilOwned(ours)
		e.closed()
	}},
	{"StartContextEnds", suite.InVirtualTime, func(t *testing.T, e *env) {
		ctx, cancel := context.WithCancel(t.Context())
		e.operate(e.node.Start(ctx))
		cancel()
		e.delete()
		e.untilOwned(ours)
		e.closed()
	}},
	{"Closed", withRealServer, func(t *testing.T, e *env) {
		e.start()
		e.closed()
		suite.WantErr(t, e.node.Start(t.Context()), framework.ErrClosed)
		suite.WantErr(t, e.node.SetData(t.Context(), nil), framework.ErrClosed)
		e.wantNone()
	}},
	{"ClosedEnded", suite.InVirtualTime, func(t *testing.T, e *env) {
		e.start()
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		e.operate(e.node.Close(ctx))
		e.wantNone()
	}},
	{"ClientClosed", suite.InVirtualTime, func(t *testing.T, e *env) {
		e.start()
		e.operate(e.client.Close(t.Context()))
		e.untilNone()
		suite.Eventually(t, "the end of the keeper", func() bool {
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
			defer cancel()
			return errors.Is(e.node.SetData(ctx, nil), framework.ErrClosed)
		})
		e.close()
	}},

	{"SetCutBefore", withRealServer, func(t *testing.T, e *env) {
		e.start()
		hit := e.network.On(jute.OpSetData, suite.CutBefore, nil)
		e.operate(e.node.SetData(t.Context(), []byte(changed)))
		<-hit
		e.untilOwned(changed)
		e.closed()
	}},
	{"SetCutAfter", withRealServer, func(t *testing.T, e *env) {
		e.start()
		hit := e.network.On(jute.OpSetData, suite.CutAfter, nil)
		e.operate(e.node.SetData(t.Context(), []byte(changed)))
		<-hit
		e.untilOwned(changed)
		e.closed()
	}},
	{"SetSuspended", withRealServer, func(t *testing.T, e *env) {
		e.start()
		heal := e.network.Isolate()
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		suite.WantErr(t, e.node.SetData(ctx, []byte(changed)), nodes.ErrPending, context.DeadlineExceeded)
		if got := string(e.node.Data()); got != changed {
			t.Fatalf("Data is %q", got)
		}
		heal()
		e.untilOwned(changed)
		e.closed()
	}},
	{"SetExpired", withRealServer, func(t *testing.T, e *env) {
		e.start()
		hit := e.network.On(jute.OpSetData, suite.CutBefore, func() { e.network.Expire(t) })
		e.operate(e.node.SetData(t.Context(), []byte(changed)))
		<-hit
		e.untilOwned(changed)
		e.closed()
	}},
	{"SetLagging", suite.InVirtualTime, func(t *testing.T, e *env) {
		e.start()
		e.network.Lag()
		hit := e.network.On(jute.OpSetData, suite.CutAfter, nil)
		e.operate(e.node.SetData(t.Context(), []byte(changed)))
		<-hit
		e.untilOwned(changed)
		e.closed()
	}},
	{"SetDeleted", withRealServer, func(t *testing.T, e *env) {
		e.start()
		hit := e.network.On(jute.OpSetData, suite.Late, e.delete)
		e.operate(e.node.SetData(t.Context(), []byte(changed)))
		<-hit
		e.untilOwned(changed)
		e.closed()
	}},
	{"SetParentDeleted", withRealServer, func(t *testing.T, e *env) {
		e.start()
		hit := e.network.On(jute.OpSetData, suite.Late, e.deleteAll)
		e.operate(e.node.SetData(t.Context(), []byte(changed)))
		<-hit
		e.untilOwned(changed)
		e.closed()
	}},
	{"SetEnds", suite.InVirtualTime, func(t *testing.T, e *env) {
		e.start()
		ctx, cancel := context.WithCancel(t.Context())
		hit := e.network.On(jute.OpSetData, suite.CutAfter, cancel)
		if err := e.node.SetData(ctx, []byte(changed)); err != nil { // the keeper may be quicker
			suite.WantErr(t, err, nodes.ErrPending, context.Canceled)
		}
		<-hit
		e.untilOwned(changed)
		e.closed()
	}},
	{"SetClosed", withRealServer, func(t *testing.T, e *env) {
		e.start()
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		closed := make(chan error, 1)
		hit := e.network.On(jute.OpSetData, suite.CutAfter, func() {
			heal := e.network.Isolate()
			go func() {
				closed <- e.node.Close(ctx)
				heal()
			}()
		})
		suite.WantErr(t, e.node.SetData(t.Context(), []byte(changed)), framework.ErrClosed)
		<-hit
		if err := <-closed; err != nil {
			suite.WantErr(t, err, context.DeadlineExceeded)
		}
		e.untilNone()
	}},
	{"SetClientClosed", suite.InVirtualTime, func(t *testing.T, e *env) {
		e.start()
		closed := make(chan error, 1)
		hit := e.network.On(jute.OpSetData, suite.Late, func() {
			go func() { closed <- e.client.Close(context.WithoutCancel(t.Context())) }()
		})
		if err := e.node.SetData(t.Context(), []byte(changed)); err != nil {
			suite.WantErr(t, err, framework.ErrClosed)
		}
		<-hit
		e.operate(<-closed)
		e.untilNone()
	}},

	{"CloseCutBefore", withRealServer, func(t *testing.T, e *env) {
		e.start()
		hit := e.network.On(jute.OpDelete, suite.CutBefore, nil)
		e.closed()
		<-hit
	}},
	{"CloseCutAfter", withRealServer, func(t *testing.T, e *env) {
		e.start()
		hit := e.network.On(jute.OpDelete, suite.CutAfter, nil)
		e.closed()
		<-hit
	}},
	{"CloseSuspended", withRealServer, func(t *testing.T, e *env) {
		e.start()
		heal := e.network.Isolate()
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		before := time.Now()
		if err := e.node.Close(ctx); err != nil {
			suite.WantErr(t, err, context.DeadlineExceeded)
		}
		if took := time.Since(before); took < 500*time.Millisecond || took > 10*time.Second {
			t.Errorf("Close took %v", took)
		}
		heal()
		e.untilNone()
	}},
	{"CloseExpired", withRealServer, func(t *testing.T, e *env) {
		e.start()
		hit := e.network.On(jute.OpDelete, suite.CutBefore, func() { e.network.Expire(t) })
		e.closed()
		<-hit
	}},
	{"CloseLagging", suite.InVirtualTime, func(t *testing.T, e *env) {
		e.start()
		e.network.Lag()
		hit := e.network.On(jute.OpDelete, suite.CutBefore, nil)
		e.closed()
		<-hit
	}},
	{"CloseDeleted", withRealServer, func(t *testing.T, e *env) {
		e.start()
		hit := e.network.On(jute.OpDelete, suite.Late, e.delete)
		e.closed()
		<-hit
	}},
	{"CloseParentDeleted", withRealServer, func(t *testing.T, e *env) {
		e.start()
		hit := e.network.On(jute.OpDelete, suite.Late, e.deleteAll)
		e.closed()
		<-hit
	}},
	{"ClosedTwice", suite.InVirtualTime, func(t *testing.T, e *env) {
		e.start()
		other := make(chan error)
		go func() { other <- e.node.Close(context.WithoutCancel(t.Context())) }()
		e.close()
		e.operate(<-other)
		e.wantNone()
	}},
	{"CloseAfterClient", suite.InVirtualTime, func(t *testing.T, e *env) {
		e.start()
		e.operate(e.client.Close(t.Context()))
		e.close()
		e.wantNone()
	}},
}

func TestFaults(t *testing.T) {
	t.Parallel()
	for _, cell := range cells {
		t.Run(cell.name, func(t *testing.T) {
			t.Parallel()
			suite.EachOf(t, cell.on, func(t *testing.T, b *suite.Backend) {
				e := newEnv(t, b)
				e.keep(framework.Ephemeral)
				cell.test(t, e)
			})
		})
	}
}

// directory makes the parent of the node, so that a create is the keeper's first request.
func (e *env) directory() {
	e.t.Helper()
	_, err := e.operator.Create().CreatingParentsIfNeeded().ForPath(e.t.Context(), e.dir)
	e.operate(err)
}

func (e *env) deleteAll() {
	e.t.Helper()
	e.operate(e.operator.Delete().DeletingChildrenIfNeeded().ForPath(e.t.Context(), e.dir))
}

// readOf reads the node by the client that is tested: what a server that lags knows.
func readOf(e *env) error {
	_, err := e.client.GetData().ForPath(e.t.Context(), e.node.ActualPath())
	return err
}

// overwriteUntilRestored overwrites the data, and cuts the connection until the keeper has put it
// right: the data may be overwritten behind the look that follows a reconnect.
func (e *env) overwriteUntilRestored() {
	e.t.Helper()
	e.overwrite(theirs)
	suite.Eventually(e.t, "the data", func() bool {
		data, _, there := e.read()
		if there && data == theirs && e.client.ConnectionState().IsConnected() {
			e.network.Cut()
		}
		return there && data == ours
	})
}
