package modeled_test

import (
	"errors"
	"testing"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/recipes/locks"
	"github.com/go-curator/curator/recipes/modeled"
)

const (
	opGetData = jute.OpGetData
	opSetData = jute.OpSetData
	opCreate  = jute.OpCreate2
	opDelete  = jute.OpDelete
)

// A transaction of several models, under a lock's lease, which is refused when the lock is lost.
func TestOperations(t *testing.T) {
	each(t, func(f *fixture) {
		t, ctx, m := f.t, f.t.Context(), f.orders()
		f.set("old", "x")
		kept := f.set("kept", "x")
		mutex := suite.Got(locks.NewInterProcessMutex(f.client, f.b.Path("lock"))).OK(t)
		lease := suite.Got(mutex.Acquire(ctx)).OK(t)
		ops := []framework.Op{
			m.Resolved("kept").WithVersion(kept.Stat.Version).CheckOp(), m.Resolved("new").CreateOp(Order{Item: "new"}),
			m.Resolved("new").UpdateOp(Order{Item: "newer"}), m.Resolved("old").WithVersion(0).DeleteOp(),
		}
		if results, err := lease.Guard(ctx, ops...); err != nil || len(results) != len(ops) {
			t.Fatalf("%v, %v", results, err)
		}
		nodes, err := f.all().ChildNodes(ctx)
		if err != nil || len(nodes) != 2 || nodes[1].Model.Item != "newer" {
			t.Errorf("%+v, %v", nodes, err)
		}
		for _, op := range []framework.Op{
			m.Resolved("kept").WithVersion(9).CheckOp(), m.Resolved("kept").WithVersion(9).UpdateOp(Order{}), m.Resolved("kept").WithVersion(9).DeleteOp(),
		} {
			suite.Got(lease.Guard(ctx, op)).Fails(t, framework.ErrBadVersion)
		}
		if err := lease.Release(ctx); err != nil {
			t.Error(err)
		}
		suite.Got(lease.Guard(ctx, m.Resolved("late").CreateOp(Order{}))).Fails(t, locks.ErrNotHeld)
	})
}

// An operation that cannot be made is refused by the commit, before anything is sent.
func TestRefusedOperations(t *testing.T) {
	virtual(t, func(f *fixture) {
		m := f.orders()
		type broken = modeled.ModeledFramework[Order]
		failed := errors.New("no bytes")
		protected, codecless := f.spec(), f.spec()
		protected.Protected, codecless.Codec = true, nil
		for name, c := range map[string]struct {
			m    broken
			want error
		}{
			"unresolved":     {m, framework.ErrInvalidPath},
			"no codec":       {modeled.Wrap(f.client, codecless).Resolved(1), framework.ErrInvalidOption},
			"encode":         {modeled.Wrap(f.client, f.failing(failed)).Resolved(1), failed},
			"protected":      {modeled.Wrap(f.client, protected).Resolved(1), framework.ErrInvalidOption},
			"another client": {modeled.Wrap(f.observer, f.spec()).Resolved(1), framework.ErrInvalidBuilder},
		} {
			ops := map[string]framework.Op{"create": c.m.CreateOp(Order{})}
			if name != "protected" {
				ops["update"] = c.m.UpdateOp(Order{})
			}
			if name != "protected" && name != "encode" {
				ops["delete"], ops["check"] = c.m.DeleteOp(), c.m.CheckOp()
			}
			for op, o := range ops {
				before := f.network.Requests(jute.OpMulti)
				_, err := f.client.Transaction().ForOperations(f.t.Context(), o)
				if !errors.Is(err, c.want) || f.network.Requests(jute.OpMulti) != before {
					f.t.Errorf("%s, %s: %v", name, op, err)
				}
			}
		}
	})
}
