package modeled_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/framework/codec"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/recipes/modeled"
)

type cachedOrders = modeled.CachedModeledFramework[Order]

// cached returns a started cache of m, which is closed with the test.
func (f *fixture) cached(m modeled.ModeledFramework[Order]) *cachedOrders {
	f.t.Helper()
	c, err := m.Cached()
	if err == nil {
		err = c.Start(f.t.Context())
	}
	if err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(func() {
		if err := c.Close(context.WithoutCancel(f.t.Context())); err != nil {
			f.t.Error(err)
		}
	})
	return c
}

// items returns what a cache has, as texts.
func (f *fixture) items(c *cachedOrders) (items []string) {
	for path, node := range c.All() {
		if path != node.Path {
			f.t.Errorf("%s has the node of %s", path, node.Path)
		}
		items = append(items, strings.TrimPrefix(path.String(), f.root.String()+"/")+"="+node.Model.Item)
	}
	return items
}

func (f *fixture) wantItems(c *cachedOrders, want ...string) {
	f.t.Helper()
	suite.Eventually(f.t, fmt.Sprintf("the items %q", want), func() bool { return fmt.Sprint(f.items(c)) == fmt.Sprint(want) })
}

func TestCached(t *testing.T) {
	each(t, func(f *fixture) {
		t, ctx := f.t, f.t.Context()
		f.set("b", "soap")
		f.set("a", "bread")
		f.write(f.root.Child("bare"), "")
		f.write(f.root.Child("bad"), "{")
		c := f.cached(f.orders())
		f.wantItems(c, "a=bread", "b=soap")
		for path, err := range c.Failed() {
			suite.WantErr(t, err, codec.ErrDecode)
			if path != f.root.Child("bad") {
				t.Errorf("failed at %s", path)
			}
		}
		f.write(f.root.Child("a").Child("line"), `{"item":"line"}`)
		node, err := f.orders().Resolved("c").Set(ctx, Order{Item: "tea"})
		if err == nil {
			err = c.Await(ctx, node.Stat.Mzxid)
		}
		if err != nil {
			t.Fatal(err)
		}
		if got, ok := c.Get(f.root.Child("c")); !ok || got != node {
			t.Errorf("cached %+v, %v, want %+v", got, ok, node)
		}
		f.wantItems(c, "a=bread", "a/line=line", "b=soap", "c=tea")
		var children []string
		for path, node := range c.Children(f.root) {
			children = append(children, path.Name()+"="+node.Model.Item)
		}
		if got := fmt.Sprint(children); got != "[a=bread b=soap c=tea]" {
			t.Errorf("children %s", got)
		}
		for _, path := range []modeled.ZPath{f.root, f.root.Child("bad"), f.root.Child("none"), f.spec().Path, modeled.ParseZPath("x")} {
			if node, ok := c.Get(path); ok {
				t.Errorf("%s has %+v", path, node)
			}
		}
		f.write(f.root.Child("b"), "") // a mere parent from now on, and no failure
		if err := f.orders().Resolved("bare").Delete(ctx); err != nil {
			t.Error(err)
		}
		f.wantItems(c, "a=bread", "a/line=line", "c=tea")
		if err := c.Close(ctx); err != nil {
			t.Error(err)
		}
		f.wantItems(c, "a=bread", "a/line=line", "c=tea")
	})
}

// Updates begin with all that there is, and tell of models before and after.
func TestUpdates(t *testing.T) {
	virtual(t, func(f *fixture) {
		f.set("a", "1")
		f.set("b", "1")
		c := f.cached(f.orders())
		var told []string
		step := 0
		for changes := range c.Updates(f.t.Context()) {
			for _, change := range changes {
				told = append(told, fmt.Sprintf("%s:%s>%s", change.Path.Name(), change.Before.Model.Item, change.Node.Model.Item))
			}
			step++
			switch step {
			case 1:
				f.set("a", "2")
			case 2:
				f.write(f.root.Child("b"), "{")
			case 3:
				f.set("b", "3")
			}
			if step == 4 {
				break
			}
		}
		if got := fmt.Sprint(told); got != "[a:>1 b:>1 a:1>2 b:1> b:>3]" {
			f.t.Errorf("told %s", got)
		}
	})
}

func TestReadThrough(t *testing.T) {
	each(t, func(f *fixture) {
		t, ctx := f.t, f.t.Context()
		in := f.set("in", "soap")
		c := f.cached(f.orders())
		reads := f.network.Requests(opGetData)
		if node, err := c.ReadThrough(ctx, f.root.Child("in")); err != nil || node != in || f.network.Requests(opGetData) != reads {
			t.Errorf("%+v, %v", node, err)
		}
		outside := modeled.ParseZPath(f.b.Path("outside"))
		suite.Got(c.ReadThrough(ctx, outside)).Fails(t, framework.ErrNoNode)
		f.write(outside, `{"item":"far"}`)
		if node, err := c.ReadThrough(ctx, outside); err != nil || node.Model.Item != "far" || node.Path != outside {
			t.Errorf("%+v, %v", node, err)
		}
		f.write(outside, "{")
		suite.Got(c.ReadThrough(ctx, outside)).Fails(t, codec.ErrDecode)
		suite.Got(c.ReadThrough(ctx, f.spec().Path)).Fails(t, framework.ErrInvalidPath)
		if err := c.Close(ctx); err != nil {
			t.Error(err)
		}
		if node, err := c.ReadThrough(ctx, f.root.Child("in")); err != nil || node != in {
			t.Errorf("after Close: %+v, %v", node, err)
		}
		suite.Got(c.ReadThrough(ctx, outside)).Fails(t, framework.ErrClosed)
	})
}

// Many callers cost one read, and one that leaves takes nobody with it.
func TestReadThroughTogether(t *testing.T) {
	virtual(t, func(f *fixture) {
		t, c := f.t, f.cached(f.orders())
		outside := modeled.ParseZPath(f.b.Path("outside"))
		f.write(outside, `{"item":"far"}`)
		before := f.network.Requests(opGetData)
		first, cancel := context.WithCancel(t.Context())
		heal := f.network.Isolate()
		var wg sync.WaitGroup
		wg.Go(func() {
			if _, err := c.ReadThrough(first, outside); !errors.Is(err, context.Canceled) {
				t.Errorf("error %v", err)
			}
		})
		synctest.Wait()
		for range 9 {
			wg.Go(func() {
				if node, err := c.ReadThrough(t.Context(), outside); err != nil || node.Model.Item != "far" {
					t.Errorf("%+v, %v", node, err)
				}
			})
		}
		synctest.Wait()
		cancel()
		synctest.Wait()
		heal()
		wg.Wait()
		if n := f.network.Requests(opGetData) - before; n > 3 { // the cache's root is read again, too
			t.Errorf("%d reads", n)
		}
	})
}

// The memory answers while the server cannot be reached, and Close ends what is waiting for it.
func TestServerDown(t *testing.T) {
	virtual(t, func(f *fixture) {
		t := f.t
		in := f.set("in", "soap")
		c := f.cached(f.orders())
		heal := f.network.Isolate()
		defer heal()
		if node, err := c.ReadThrough(t.Context(), in.Path); err != nil || node != in {
			t.Errorf("%+v, %v", node, err)
		}
		var wg sync.WaitGroup
		wg.Go(func() {
			_, err := c.ReadThrough(t.Context(), f.root.Child("out"))
			if !errors.Is(err, framework.ErrClosed) && !errors.Is(err, context.Canceled) {
				t.Errorf("error %v", err)
			}
		})
		synctest.Wait()
		if err := c.Close(t.Context()); err != nil {
			t.Error(err)
		}
		wg.Wait()
	})
}
