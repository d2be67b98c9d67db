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
		wantErr(t, modeled.Wrap(f.client, spec).Resolved("x").Delete(ctx), framework.ErrNotEmpty)
		spec.DeletingChildrenIfNeeded = true
		x := modeled.Wrap(f.client, spec).Resolved("x")
		wantErr(t, x.WithVersion(7).Delete(ctx), framework.ErrBadVersion)
		if err := x.WithVersion(0).Delete(ctx); err != nil {
			t.Error(err)
		}
		if there, err := x.Exists(ctx); there || err != nil {
			t.Errorf("exists: %v, %v", there, err)
		}
		wantErr(t, x.Delete(ctx), framework.ErrNoNode)

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
		if _, err := m.Resolved(1).Set(ctx, want); err != nil {
			t.Fatal(err)
		}
		if _, err := f.client.Transaction().ForOperations(ctx, m.Resolved(2).CreateOp(want), m.Resolved(1).UpdateOp(want)); err != nil {
			t.Fatal(err)
		}
		if _, err := m.Resolved(2).Update(ctx, want); err != nil {
			t.Fatal(err)
		}
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
		_, err = both.Set(ctx, want)
		wantErr(t, err, framework.ErrInvalidOption)
		_, err = both.Read(ctx)
		wantErr(t, err, framework.ErrInvalidOption)
		_, err = f.client.Transaction().ForOperations(ctx, both.UpdateOp(want))
		wantErr(t, err, framework.ErrInvalidOption)
		_, err = both.Cached()
		wantErr(t, err, framework.ErrInvalidOption)
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
		_, err = m.Set(ctx, Order{Item: "other"})
		wantErr(t, err, framework.ErrNodeExists)
		_, err = m.WithVersion(0).Set(ctx, Order{Item: "other"})
		wantErr(t, err, framework.ErrNodeExists)
		if node, err := m.Read(ctx); err != nil || node.Model.Item != "soap" {
			t.Errorf("%+v, %v", node, err)
		}

		spec = f.spec()
		spec.WithoutParents, spec.PersistentParents = true, true
		_, err = modeled.Wrap(f.client, spec).WithPath(f.root.Child("none").Child("x")).Set(ctx, Order{})
		wantErr(t, err, framework.ErrInvalidOption)
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
			if _, err := m.Set(ctx, Order{}); err != nil {
				t.Fatal(err)
			}
			if err := m.Delete(ctx); err != nil {
				t.Fatal(err)
			}
		}
		there := func(path modeled.ZPath) bool {
			there, err := f.observer.CheckExists().ForPath(ctx, path.String())
			if err != nil {
				t.Fatal(err)
			}
			return there
		}
		suite.Eventually(t, "the end of the container", func() bool { return !there(reaped) })
		if !there(kept) {
			t.Error("the persistent parent has gone")
		}
	})
}
