package modeled_test

import (
	"context"
	"errors"
	"testing"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/suite"
)

// A call is one request of package framework, whose own tests have its faults. Here is what comes
// out of them: which calls are repeated, and which say that they may have been applied.

// run is one call that meets a fault.
type run struct {
	*fixture
	ctx    context.Context
	cancel context.CancelFunc
	heal   func() // ends what a fault has begun; may be nil
}

func set(r *run) error {
	_, err := r.orders().Resolved("x").Set(r.ctx, Order{Item: "new"})
	return err
}

func update(r *run) error {
	_, err := r.orders().Resolved("x").Update(r.ctx, Order{Item: "new"})
	return err
}

func modify(r *run) error {
	_, err := r.orders().Resolved("x").Modify(r.ctx, func(o Order) (Order, error) {
		o.Item, o.Count = "new", o.Count+1
		return o, nil
	})
	return err
}

func remove(r *run) error { return r.orders().Resolved("x").Delete(r.ctx) }

func readThrough(r *run) error {
	c := r.cached(r.all().Child("none"))
	_, err := c.ReadThrough(r.ctx, r.root.Child("x"))
	return err
}

// Faults.
func expire(r *run)       { r.network.Expire(r.t) }
func lag(r *run)          { r.network.Lag() }
func endCtx(r *run)       { r.cancel() }
func deleteNode(r *run)   { r.delete(r.root.Child("x").String()) }
func deleteParent(r *run) { r.delete(r.root.String()) }

func isolateAndEndCtx(r *run) {
	r.heal = r.network.Isolate()
	r.cancel()
}

// faster has another client write between the read and the write.
func faster(r *run) { r.set("x", "faster") }

func (r *run) delete(path string) {
	if err := r.observer.Delete().DeletingChildrenIfNeeded().ForPath(r.t.Context(), path); err != nil {
		r.t.Error(err)
	}
}

func closeClient(r *run) { suite.StartClose(r.t, r.client) }

type cell struct {
	name  string
	call  func(r *run) error
	op    jute.Op // the request that the fault befalls
	fate  suite.Fate
	fault func(r *run)
	want  error  // nil if the call succeeds
	maybe bool   // the error says that it may have been applied
	item  string // of the node afterwards, "" if it is missing
}

var cells = []cell{
	{name: "set not sent", call: set, op: opCreate, fate: suite.CutBefore, item: "new"},
	{name: "set's reply lost", call: set, op: opCreate, fate: suite.CutAfter, item: "new"},
	{name: "set's reply lost, session lost", call: set, op: opCreate, fate: suite.CutAfter, fault: expire, item: "new"},
	{name: "set's reply lost, lagging server", call: set, op: opCreate, fate: suite.CutAfter, fault: lag, item: "new"},
	{name: "set, node deleted", call: set, op: opSetData, fate: suite.Late, fault: deleteNode, item: "new"},
	{name: "set, parent deleted", call: set, op: opSetData, fate: suite.Late, fault: deleteParent, item: "new"},
	{name: "set not sent, ctx ends", call: set, op: opCreate, fate: suite.CutBefore, fault: endCtx, want: context.Canceled, maybe: true, item: "old"},
	{name: "set not sent, client closed", call: set, op: opCreate, fate: suite.CutBefore, fault: closeClient, want: framework.ErrClosed, maybe: true, item: "old"},

	{name: "update not sent", call: update, op: opSetData, fate: suite.CutBefore, want: framework.ErrConnectionLoss, maybe: true, item: "old"},
	{name: "update's reply lost", call: update, op: opSetData, fate: suite.CutAfter, want: framework.ErrConnectionLoss, maybe: true, item: "new"},
	{name: "update, node deleted", call: update, op: opSetData, fate: suite.Late, fault: deleteNode, want: framework.ErrNoNode},
	{name: "update, parent deleted", call: update, op: opSetData, fate: suite.Late, fault: deleteParent, want: framework.ErrNoNode},
	{name: "update cut off, ctx ends", call: update, op: opSetData, fate: suite.Late, fault: isolateAndEndCtx, want: context.Canceled, maybe: true, item: "old"},

	{name: "modify, read not sent", call: modify, op: opGetData, fate: suite.CutBefore, item: "new"},
	{name: "modify, read lost, lagging server", call: modify, op: opGetData, fate: suite.CutAfter, fault: lag, item: "new"},
	{name: "modify, read lost, session lost", call: modify, op: opGetData, fate: suite.CutAfter, fault: expire, item: "new"},
	{name: "modify, another is faster", call: modify, op: opSetData, fate: suite.Late, fault: faster, item: "new"},
	{name: "modify, node deleted", call: modify, op: opSetData, fate: suite.Late, fault: deleteNode, want: framework.ErrNoNode},
	{name: "modify's reply lost", call: modify, op: opSetData, fate: suite.CutAfter, want: framework.ErrConnectionLoss, maybe: true, item: "new"},

	{name: "delete not sent", call: remove, op: opDelete, fate: suite.CutBefore},
	{name: "delete's reply lost", call: remove, op: opDelete, fate: suite.CutAfter},
	{name: "delete not sent, session lost", call: remove, op: opDelete, fate: suite.CutBefore, fault: expire},
	{name: "delete, parent deleted", call: remove, op: opDelete, fate: suite.Late, fault: deleteParent, want: framework.ErrNoNode},
	{name: "delete not sent, ctx ends", call: remove, op: opDelete, fate: suite.CutBefore, fault: endCtx, want: context.Canceled, maybe: true},

	{name: "read through not sent", call: readThrough, op: opGetData, fate: suite.CutBefore, item: "old"},
	{name: "read through, reply lost", call: readThrough, op: opGetData, fate: suite.CutAfter, item: "old"},
	{name: "read through, session lost", call: readThrough, op: opGetData, fate: suite.CutAfter, fault: expire, item: "old"},
	{name: "read through, lagging server", call: readThrough, op: opGetData, fate: suite.CutAfter, fault: lag, item: "old"},
}

// cheap are the cells that run on a real server, too.
var cheap = map[string]bool{"set's reply lost": true, "delete's reply lost": true, "modify, another is faster": true}

func TestFaults(t *testing.T) {
	for _, c := range cells {
		on := suite.InVirtualTime
		if cheap[c.name] {
			on = suite.InVirtualTime | suite.OnRealServer
		}
		t.Run(c.name, func(t *testing.T) {
			suite.EachOf(t, on, func(t *testing.T, b *suite.Backend) { c.test(newFixture(t, b)) })
		})
	}
}

func (c cell) test(f *fixture) {
	f.set("x", "old")
	r := &run{fixture: f}
	r.ctx, r.cancel = context.WithCancel(f.t.Context())
	defer r.cancel()
	hit := f.network.On(c.op, c.fate, func() {
		if c.fault != nil {
			c.fault(r)
		}
	})
	err := c.call(r)
	<-hit
	if r.heal != nil {
		r.heal()
	}
	if c.want == nil && err != nil {
		f.t.Error(err)
	} else {
		suite.WantErr(f.t, err, c.want)
	}
	if framework.MaybeApplied(err) != c.maybe {
		f.t.Errorf("maybe applied: %v, of %v", framework.MaybeApplied(err), err)
	}
	suite.Eventually(f.t, "the item "+c.item, func() bool {
		nodes, err := f.all().ChildNodes(context.WithoutCancel(f.t.Context()))
		if errors.Is(err, framework.ErrClosed) {
			return true
		}
		if err != nil {
			f.t.Error(err)
		}
		return len(nodes) == 0 && c.item == "" || len(nodes) == 1 && nodes[0].Model.Item == c.item
	})
}
