package watch_test

import (
	"context"
	"errors"
	"testing"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/suite"
)

// The states of a watcher, and what may happen in each.
//
//	            starting          started             closing
//	not sent    StartCutBefore    -                   CloseCutOff
//	reply lost  StartCutAfter     -                   CloseCutOff
//	suspended   StartCutBefore    Reconnect           CloseCutOff
//	lost        StartExpired      Expired             CloseCutOff
//	lagging     -                 Lagging             -
//	deleted     -                 Deleted             -
//	ctx ends    StartEnds         StartContextEnds    CloseEnded
//	Close       StartClosed       Closed              ClosedTwice
//	client      StartClientClosed ClientClosed        ClientClosed
var cells = map[string]func(t *testing.T, e *env){
	"StartCutBefore": func(t *testing.T, e *env) {
		hit := e.network.On(jute.OpAddWatch, suite.CutBefore, nil)
		e.start()
		<-hit
		e.works()
	},
	"StartCutAfter": func(t *testing.T, e *env) {
		hit := e.network.On(jute.OpAddWatch, suite.CutAfter, nil)
		e.start()
		<-hit
		e.works()
	},
	"StartExpired": func(t *testing.T, e *env) {
		hit := e.network.On(jute.OpAddWatch, suite.CutAfter, func() { e.network.Expire(t) })
		e.start()
		<-hit
		e.works()
	},
	"StartEnds": func(t *testing.T, e *env) {
		ctx, cancel := context.WithCancel(t.Context())
		hit := e.network.On(jute.OpAddWatch, suite.CutAfter, cancel)
		if err := e.watcher.Start(ctx); !errors.Is(err, context.Canceled) {
			t.Fatalf("Start returned %v", err)
		}
		<-hit
		e.untilConnected(0)
		e.wantWatches(0)
		e.start()
		e.works()
	},
	"StartContextEnds": func(t *testing.T, e *env) {
		ctx, cancel := context.WithCancel(t.Context())
		if err := e.watcher.Start(ctx); err != nil {
			t.Fatal(err)
		}
		cancel()
		e.works()
	},
	"StartClosed": func(t *testing.T, e *env) {
		var heal func()
		closed := make(chan error, 1)
		hit := e.network.On(jute.OpAddWatch, suite.CutAfter, func() {
			heal = e.network.Isolate()
			go func() { closed <- e.watcher.Close(context.WithoutCancel(t.Context())) }()
		})
		if err := e.watcher.Start(t.Context()); !errors.Is(err, framework.ErrClosed) {
			t.Fatalf("Start returned %v", err)
		}
		<-hit
		if err := <-closed; err != nil {
			t.Fatal(err)
		}
		heal()
		e.untilConnected(0)
		e.wantWatches(0)
	},
	"StartClientClosed": func(t *testing.T, e *env) {
		if err := e.client.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := e.watcher.Start(t.Context()); !errors.Is(err, framework.ErrClosed) {
			t.Fatalf("Start returned %v", err)
		}
	},
	"Reconnect": func(t *testing.T, e *env) {
		e.start()
		e.reconnect()
		e.create(e.path)
		e.until("reset /watched", "created /watched")
	},
	"Expired": func(t *testing.T, e *env) {
		e.start()
		before := e.client.SessionID()
		e.network.Expire(t)
		e.untilConnected(before)
		e.create(e.path)
		e.until("reset /watched", "created /watched")
	},
	"Lagging": func(t *testing.T, e *env) {
		e.start()
		e.network.Lag()
		e.reconnect()
		e.create(e.path)
		e.until("reset /watched", "created /watched")
	},
	"Deleted": func(t *testing.T, e *env) {
		e.create(e.path)
		e.start()
		e.delete(e.path)
		e.create(e.path)
		e.until("deleted /watched", "created /watched")
	},
	"Closed": func(t *testing.T, e *env) {
		e.start()
		e.close(t.Context())
		e.wantWatches(0)
		if err := e.watcher.Start(t.Context()); !errors.Is(err, framework.ErrClosed) {
			t.Fatalf("Start returned %v", err)
		}
	},
	"ClosedTwice": func(t *testing.T, e *env) {
		e.start()
		e.close(t.Context())
		e.close(t.Context())
	},
	"CloseEnded": func(t *testing.T, e *env) {
		e.start()
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		e.close(ctx)
		e.wantWatches(0)
	},
	"CloseCutOff": func(t *testing.T, e *env) {
		e.start()
		heal := e.network.Isolate()
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := e.watcher.Close(ctx); err != nil && !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("Close returned %v", err)
		}
		heal()
		e.untilConnected(0)
		e.wantWatches(0)
		e.until()
	},
	"ClientClosed": func(t *testing.T, e *env) {
		e.start()
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			for range e.watcher.Events(context.WithoutCancel(t.Context())) {
				t.Error("an event")
			}
		}()
		if err := e.client.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		<-ended
		e.close(t.Context())
	},
}

func TestFaults(t *testing.T) {
	t.Parallel()
	for name, test := range cells {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			suite.EachOf(t, suite.InVirtualTime|suite.OnRealServer, func(t *testing.T, b *suite.Backend) {
				test(t, newEnv(t, b, framework.PersistentRecursive))
			})
		})
	}
}
