package modeled_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/framework/codec"
	"github.com/go-curator/curator/framework/schema"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/recipes/modeled"
)

func TestCreateReadUpdateDelete(t *testing.T) {
	each(t, func(f *fixture) {
		t, ctx, order := f.t, f.t.Context(), f.orders().Resolved(1)
		if there, err := order.Exists(ctx); there || err != nil {
			t.Errorf("exists: %v, %v", there, err)
		}
		suite.Got(order.Read(ctx)).Fails(t, framework.ErrNoNode)
		suite.Got(order.Update(ctx, Order{})).Fails(t, framework.ErrNoNode)
		suite.WantErr(t, order.Delete(ctx), framework.ErrNoNode)

		want := Order{"soap", 3}
		for version := range int32(3) {
			write := order.Set
			if version == 2 {
				write = order.Update
			}
			want.Count++
			written, err := write(ctx, want)
			if err != nil || written.Model != want || written.Path != f.root.Child(1) || written.Stat.Version != version {
				t.Fatalf("written %+v, %v", written, err)
			}
			read, err := order.Read(ctx)
			if err != nil || read.Model != want || read.Path != written.Path || read.Stat.Mzxid != written.Stat.Mzxid || read.Stat.Version != version {
				t.Errorf("read %+v, %v, after %+v", read, err, written)
			}
		}
		if got := f.raw(f.root.Child(1)); got != `{"item":"soap","count":6}` {
			t.Errorf("stored %s", got)
		}
		var parent framework.Stat
		if data, err := f.observer.GetData().StoringStatIn(&parent).ForPath(ctx, f.root.String()); err != nil || len(data) > 0 {
			t.Errorf("the parent has %q, %v", data, err)
		}
		if there, err := order.Exists(ctx); !there || err != nil {
			t.Errorf("exists: %v, %v", there, err)
		}
		if err := order.Delete(ctx); err != nil {
			t.Error(err)
		}
	})
}

func TestVersions(t *testing.T) {
	each(t, func(f *fixture) {
		t, ctx, order := f.t, f.t.Context(), f.orders().Resolved("x")
		if node, err := order.WithVersion(7).Set(ctx, Order{}); err != nil || node.Stat.Version != 0 {
			t.Errorf("a new node %+v, %v", node, err)
		}
		for _, call := range []func(m modeled.ModeledFramework[Order]) error{
			func(m modeled.ModeledFramework[Order]) error { _, err := m.Set(ctx, Order{}); return err },
			func(m modeled.ModeledFramework[Order]) error { _, err := m.Update(ctx, Order{}); return err },
			func(m modeled.ModeledFramework[Order]) error {
				_, err := m.Modify(ctx, func(o Order) (Order, error) { return o, nil })
				return err
			},
			func(m modeled.ModeledFramework[Order]) error { return m.Delete(ctx) },
		} {
			node := suite.Got(order.Read(ctx)).OK(t)
			suite.WantErr(t, call(order.WithVersion(node.Stat.Version+1)), framework.ErrBadVersion)
			if err := call(order.WithVersion(node.Stat.Version)); err != nil {
				t.Error(err)
			}
		}
		f.set("x", "again")
		if err := order.WithVersion(5).WithVersion(-1).Delete(ctx); err != nil {
			t.Error(err)
		}
	})
}

func TestChildren(t *testing.T) {
	each(t, func(f *fixture) {
		t, ctx, all := f.t, f.t.Context(), f.all()
		paths, err := all.Children(ctx)
		nodes, err2 := all.ChildNodes(ctx)
		if len(paths) > 0 || len(nodes) > 0 || err != nil || err2 != nil {
			t.Errorf("%v, %v, %v, %v", paths, nodes, err, err2)
		}
		for _, id := range []string{"c", "a", "d", "b"} {
			f.set(id, "item "+id)
		}
		f.write(f.root.Child("bare"), "")
		paths, err = all.Children(ctx)
		if got := fmt.Sprint(paths); err != nil || got != strings.ReplaceAll("[R/a R/b R/bare R/c R/d]", "R", f.root.String()) {
			t.Errorf("children %v, %v", got, err)
		}
		nodes, err = all.ChildNodes(ctx)
		var items []string
		for _, node := range nodes {
			items = append(items, node.Path.Name()+" "+node.Model.Item)
		}
		if err != nil || !slices.Equal(items, []string{"a item a", "b item b", "c item c", "d item d"}) {
			t.Errorf("nodes %q, %v", items, err)
		}
		f.write(f.root.Child("bad"), "{")
		_, err = all.ChildNodes(ctx)
		suite.WantErr(t, err, codec.ErrDecode)
		if err == nil || !strings.Contains(err.Error(), f.root.String()+"/bad: ") {
			t.Errorf("error %v", err)
		}
		suite.Got(all.Child("bad").Read(ctx)).Fails(t, codec.ErrDecode)
	})
}

// Nodes that are deleted between the list and the reads are left out.
func TestChildrenVanish(t *testing.T) {
	virtual(t, func(f *fixture) {
		for i := range 9 {
			f.set(i, "x")
		}
		f.network.On(opGetData, suite.Late, func() {
			for i := range 9 {
				if i != 4 {
					_ = f.observer.Delete().ForPath(f.t.Context(), f.root.Child(i).String())
				}
			}
		})
		nodes, err := f.all().ChildNodes(f.t.Context())
		if err != nil || len(nodes) == 0 || len(nodes) > 9 {
			f.t.Errorf("%v, %v", nodes, err)
		}
	})
}

func TestModes(t *testing.T) {
	virtual(t, func(f *fixture) {
		t, ctx := f.t, f.t.Context()
		acl := []framework.ACL{{Perms: framework.PermRead | framework.PermDelete, Scheme: "world", ID: "anyone"}}
		for name, c := range map[string]struct {
			change func(s *modeled.ModelSpec[Order])
			again  error // of the second Set
			name   string
		}{
			"ephemeral":  {func(s *modeled.ModelSpec[Order]) { s.Mode = framework.Ephemeral }, nil, "x"},
			"sequential": {func(s *modeled.ModelSpec[Order]) { s.Mode = framework.PersistentSequential }, nil, "x0000000000"},
			"protected":  {func(s *modeled.ModelSpec[Order]) { s.Protected = true }, nil, "_c_"},
			"ttl": {func(s *modeled.ModelSpec[Order]) {
				s.Mode, s.TTL = framework.PersistentWithTTL, time.Hour
			}, nil, "x"},
			"acl": {func(s *modeled.ModelSpec[Order]) { s.ACL = acl }, framework.ErrNoAuth, "x"},
		} {
			spec := f.spec()
			c.change(&spec)
			m := modeled.Wrap(f.client, spec).WithPath(f.root.Child(name).Child("x"))
			node, err := m.Set(ctx, Order{Item: name})
			if err != nil || !strings.HasPrefix(node.Path.Name(), c.name) {
				t.Errorf("%s: %+v, %v", name, node, err)
			}
			if got, err := m.WithPath(node.Path).Read(ctx); err != nil || got.Model.Item != name || got.Stat.Czxid != node.Stat.Czxid {
				t.Errorf("%s: %+v, %v", name, got, err)
			}
			second, err := m.Set(ctx, Order{})
			suite.WantErr(t, err, c.again)
			if anew := name == "sequential" || name == "protected"; err == nil && anew == (second.Path == node.Path) {
				t.Errorf("%s: the second is at %s", name, second.Path)
			}
		}
		spec := f.spec()
		spec.WithoutParents = true
		suite.Got(modeled.Wrap(f.client, spec).WithPath(f.root.Child("none").Child("x")).Set(ctx, Order{})).Fails(t, framework.ErrNoNode)
	})
}

// Compression is symmetrical, by the spec or by the client. Mere parents are not compressed.
func TestCompressed(t *testing.T) {
	for name, opts := range map[string][]framework.Option{"spec": nil, "client": {framework.WithCompression()}} {
		t.Run(name, func(t *testing.T) {
			suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
				f, ctx := newFixture(t, b, opts...), t.Context()
				spec := f.spec()
				spec.Compressed = opts == nil
				m := modeled.Wrap(f.client, spec)
				want := Order{Item: strings.Repeat("soap", 100)}
				suite.Got(m.Resolved(1).Set(ctx, want)).OK(t)
				suite.Got(f.client.Transaction().ForOperations(ctx, m.Resolved(2).CreateOp(want), m.Resolved(1).UpdateOp(want))).OK(t)
				suite.Got(m.Resolved(2).Update(ctx, want)).OK(t)
				f.write(f.root.Child("bare"), "")
				nodes, err := m.WithPath(f.root).ChildNodes(ctx)
				if err != nil || len(nodes) != 2 || nodes[0].Model != want || nodes[1].Model != want {
					t.Errorf("%+v, %v", nodes, err)
				}
				if raw := f.raw(f.root.Child(1)); !strings.HasPrefix(raw, "\x1f\x8b") {
					t.Errorf("stored %q", raw)
				}
				c := f.cached(m)
				if node, ok := c.Get(f.root.Child(2)); !ok || node.Model != want {
					t.Errorf("cached %+v, %v", node, ok)
				}
				f.write(f.root.Child("bad"), "not compressed")
				suite.Got(m.Resolved("bad").Read(ctx)).Fails(t, codec.ErrDecode, framework.ErrDecompress)
			})
		})
	}
}

// No change is lost, and nothing is changed twice.
func TestModify(t *testing.T) {
	each(t, func(f *fixture) {
		t, ctx := f.t, f.t.Context()
		f.set("x", "soap")
		var wg sync.WaitGroup
		for range 4 {
			c, _ := f.b.Client(t)
			wg.Go(func() {
				for range 5 {
					_, err := modeled.Wrap(c, f.spec()).Resolved("x").Modify(ctx, func(o Order) (Order, error) {
						o.Count++
						return o, nil
					})
					if err != nil {
						t.Error(err)
					}
				}
			})
		}
		wg.Wait()
		if node, err := f.orders().Resolved("x").Read(ctx); err != nil || node.Model != (Order{"soap", 20}) || node.Stat.Version != 20 {
			t.Errorf("%+v, %v", node, err)
		}
	})
}

func TestModifyEnds(t *testing.T) {
	virtual(t, func(f *fixture) {
		t, order := f.t, f.orders().Resolved("x")
		same := func(o Order) (Order, error) { return o, nil }
		suite.Got(order.Modify(t.Context(), same)).Fails(t, framework.ErrNoNode)
		f.set("x", "soap")
		stop := errors.New("stop")
		suite.Got(order.Modify(t.Context(), func(Order) (Order, error) { return Order{}, stop })).Fails(t, stop)
		suite.Got(order.Modify(t.Context(), nil)).Fails(t, framework.ErrInvalidOption)
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Minute, stop)
		defer cancel()
		_, err := order.Modify(ctx, func(o Order) (Order, error) { f.set("x", "faster"); return o, nil })
		suite.WantErr(t, err, stop)
		if framework.MaybeApplied(err) {
			t.Errorf("%v may have been applied", err)
		}
		f.write(f.root.Child("x"), "{")
		suite.Got(order.Modify(t.Context(), same)).Fails(t, codec.ErrDecode)
	})
}

func TestSchema(t *testing.T) {
	acl := framework.OpenACLUnsafe()
	suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
		spec := modeled.ModelSpec[Order]{Path: modeled.ParseZPathWithIDs(b.Path("{id}")), Codec: codec.JSON[Order](), Mode: framework.Ephemeral, ACL: acl}
		s := suite.Got(spec.Schema()).OK(t)
		set := suite.Got(schema.NewSet([]*schema.Schema{s}, true)).OK(t)
		ctx := t.Context()
		c, _ := b.Client(t, framework.WithSchemaSet(set))
		if _, err := modeled.Wrap(c, spec).Resolved("a").Set(ctx, Order{}); err != nil {
			t.Error(err)
		}
		if _, err := modeled.Wrap(c, spec).Resolved("a").Update(ctx, Order{}); err != nil {
			t.Error(err)
		}
		good := c.Create().WithMode(framework.Ephemeral).WithData([]byte("{}"))
		for what, builder := range map[string]framework.CreateBuilder{
			"mode": good.WithMode(framework.Persistent), "numbers": good.WithMode(framework.EphemeralSequential),
			"data": good.WithData([]byte("{")), "no data": good.WithData(nil), "acl": good.WithACL(framework.CreatorAllACL()...),
		} {
			_, err := builder.ForPath(ctx, b.Path("b"))
			if _, ok := errors.AsType[*schema.Violation](err); !ok {
				t.Errorf("%s: error %v", what, err)
			}
		}
		if err := modeled.Wrap(c, spec).Resolved("a").Delete(ctx); err != nil {
			t.Error(err)
		}
	})
}

// Models that Jackson has written are read. internal/interop has Java write the file, and read what
// Go writes.
func TestJackson(t *testing.T) {
	recorded := suite.Got(os.ReadFile("testdata/jackson.txt")).OK(t)
	virtual(t, func(f *fixture) {
		var items []string
		for line := range strings.Lines(string(recorded)) {
			f.write(f.root.Child(len(items)), strings.TrimSuffix(line, "\n"))
			node, err := f.orders().Resolved(len(items)).Read(f.t.Context())
			if err != nil {
				f.t.Error(err)
			}
			items = append(items, fmt.Sprintf("%d %s", node.Model.Count, node.Model.Item))
		}
		if want := []string{"0 ", "-3 soap", `0 grüße 日本 😀 "quoted" \ /`, "0 a < b && c > d"}; !slices.Equal(items, want) {
			f.t.Errorf("read %q", items)
		}
	})
}
