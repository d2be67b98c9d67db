package modeled_test

import (
	"strings"
	"testing"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/recipes/modeled"
)

// Java's DeleteOption.deletingChildrenIfNeeded and DeleteOption.quietly.
func TestDeleteOptions(t *testing.T) {
	each(t, func(f *fixture) {
		t, ctx, spec := f.t, f.t.Context(), f.spec()
		f.set("x", "soap")
		f.write(f.root.Child("x").Child("below"), "data")
		suite.WantErr(t, modeled.Wrap(f.client, spec).Resolved("x").Delete(ctx), framework.ErrNotEmpty)
		spec.DeletingChildrenIfNeeded = true
		x := modeled.Wrap(f.client, spec).Resolved("x")
		suite.WantErr(t, x.WithVersion(7).Delete(ctx), framework.ErrBadVersion)
		if err := x.WithVersion(0).Delete(ctx); err != nil {
			t.Error(err)
		}
		if there, err := x.Exists(ctx); there || err != nil {
			t.Errorf("exists: %v, %v", there, err)
		}
		suite.WantErr(t, x.Delete(ctx), framework.ErrNoNode)

		spec = f.spec()
		spec.Quietly = true
		if err := modeled.Wrap(f.client, spec).Resolved("x").Delete(ctx); err != nil {
			t.Errorf("quietly: %v", err)
		}
		if err := modeled.Wrap(f.client, spec).WithPath(f.root.Child("no").Child("x")).Delete(ctx); err != nil {
			t.Errorf("quietly, without a parent: %v", err)
		}
	})
}

// Java's CreateOption.uncompress: what a client compresses by default is stored as it is, and read
// as it is.
func TestUncompressed(t *testing.T) {
	suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
		f, ctx := newFixture(t, b, framework.WithCompression()), t.Context()
		spec := f.spec()
		spec.Uncompressed = true
		m, want := modeled.Wrap(f.client, spec), Order{Item: strings.Repeat("soap", 100)}
		suite.Got(m.Resolved(1).Set(ctx, want)).OK(t)
		suite.Got(f.client.Transaction().ForOperations(ctx, m.Resolved(2).CreateOp(want), m.Resolved(1).UpdateOp(want))).OK(t)
		suite.Got(m.Resolved(2).Update(ctx, want)).OK(t)
		if _, err := m.Resolved(1).Set(ctx, want); err != nil { // it is there
			t.Fatal(err)
		}
		c := f.cached(m)
		for id := 1; id <= 2; id++ {
			if raw := f.raw(f.root.Child(id)); !strings.HasPrefix(raw, "{") {
				t.Errorf("stored %q", raw)
			}
			if node, err := m.Resolved(id).Read(ctx); err != nil || node.Model != want {
				t.Errorf("read %+v, %v", node, err)
			}
			if node, ok := c.Get(f.root.Child(id)); !ok || node.Model != want {
				t.Errorf("cached %+v, %v", node, ok)
			}
		}
		nodes, err := m.WithPath(f.root).ChildNodes(ctx)
		if err != nil || len(nodes) != 2 || nodes[0].Model != want {
			t.Errorf("children %+v, %v", nodes, err)
		}

		spec.Compressed = true
		both := modeled.Wrap(f.client, spec).Resolved(1)
		suite.Got(both.Set(ctx, want)).Fails(t, framework.ErrInvalidOption)
		suite.Got(both.Read(ctx)).Fails(t, framework.ErrInvalidOption)
		suite.Got(f.client.Transaction().ForOperations(ctx, both.UpdateOp(want))).Fails(t, framework.ErrInvalidOption)
		suite.Got(both.Cached()).Fails(t, framework.ErrInvalidOption)
	})
}

// Java's sets of CreateOption without setDataIfExists, and with createParentsIfNeeded.
func TestCreateOptions(t *testing.T) {
	each(t, func(f *fixture) {
		t, ctx, spec := f.t, f.t.Context(), f.spec()
		spec.CreateOnly = true
		m := modeled.Wrap(f.client, spec).Resolved("x")
		node, err := m.Set(ctx, Order{Item: "soap"})
		if err != nil || node.Stat.Version != 0 {
			t.Fatalf("%+v, %v", node, err)
		}
		suite.Got(m.Set(ctx, Order{Item: "other"})).Fails(t, framework.ErrNodeExists)
		suite.Got(m.WithVersion(0).Set(ctx, Order{Item: "other"})).Fails(t, framework.ErrNodeExists)
		if node, err := m.Read(ctx); err != nil || node.Model.Item != "soap" {
			t.Errorf("%+v, %v", node, err)
		}

		spec = f.spec()
		spec.WithoutParents, spec.PersistentParents = true, true
		suite.Got(modeled.Wrap(f.client, spec).WithPath(f.root.Child("none").Child("x")).Set(ctx, Order{})).Fails(t, framework.ErrInvalidOption)
	})
}

// Missing parents are containers, which go with their last child, or persistent nodes.
func TestParents(t *testing.T) {
	suite.EachReaping(t, suite.InVirtualTime|suite.OnRealServer, func(t *testing.T, b *suite.Backend) {
		f, ctx := newFixture(t, b), t.Context()
		kept, reaped := f.root.Child("kept"), f.root.Child("reaped")
		for _, parent := range []modeled.ZPath{kept, reaped} {
			spec := f.spec()
			spec.PersistentParents = parent == kept
			m := modeled.Wrap(f.client, spec).WithPath(parent.Child("x"))
			suite.Got(m.Set(ctx, Order{})).OK(t)
			suite.OK(t, m.Delete(ctx))
		}
		there := func(path modeled.ZPath) bool {
			there := suite.Got(f.observer.CheckExists().ForPath(ctx, path.String())).OK(t)
			return there
		}
		suite.Eventually(t, "the end of the container", func() bool { return !there(reaped) })
		if !there(kept) {
			t.Error("the persistent parent has gone")
		}
	})
}
