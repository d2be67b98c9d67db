package modeled_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/framework/codec"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/recipes/modeled"
)

// failing is a spec whose models cannot be encoded.
func (f *fixture) failing(err error) modeled.ModelSpec[Order] {
	spec := f.spec()
	spec.Codec = codec.New(func(Order) ([]byte, error) { return nil, err }, spec.Codec.Decode)
	return spec
}

// What is wrong with a framework is returned by each call.
func TestMisuse(t *testing.T) {
	virtual(t, func(f *fixture) {
		t, ctx := f.t, f.t.Context()
		failed := errors.New("no bytes")
		spec := f.spec()
		codecless, ttl, acl := spec, spec, spec
		codecless.Codec = nil
		ttl.TTL = time.Hour
		acl.ACL = []framework.ACL{{Scheme: "nonsense"}}
		for name, c := range map[string]struct {
			m    modeled.ModeledFramework[Order]
			want error
			set  bool // only Set is concerned
		}{
			"zero":             {modeled.ModeledFramework[Order]{}, framework.ErrInvalidOption, false},
			"nil client":       {modeled.Wrap(nil, spec).Resolved(1), framework.ErrNotStarted, false},
			"no codec":         {modeled.Wrap(f.client, codecless).Resolved(1), framework.ErrInvalidOption, false},
			"unresolved":       {modeled.Wrap(f.client, spec), framework.ErrInvalidPath, false},
			"too many values":  {modeled.Wrap(f.client, spec).Resolved(1, 2), framework.ErrInvalidPath, false},
			"value with slash": {modeled.Wrap(f.client, spec).Resolved("a/b"), framework.ErrInvalidPath, false},
			"control":          {modeled.Wrap(f.client, spec).Resolved("a\x01"), framework.ErrInvalidPath, false},
			"nil child":        {modeled.Wrap(f.client, spec).Resolved(1).Child(nil), framework.ErrInvalidPath, false},
			"encode":           {modeled.Wrap(f.client, f.failing(failed)).Resolved(1), failed, true},
			"TTL, no mode":     {modeled.Wrap(f.client, ttl).Resolved(1), framework.ErrInvalidBuilder, true},
			"ACL":              {modeled.Wrap(f.client, acl).Resolved(1), framework.ErrInvalidACL, true},
			"version":          {modeled.Wrap(f.client, spec).Resolved(1).WithVersion(-2), framework.ErrInvalidBuilder, true},
		} {
			t.Log(name)
			suite.Got(c.m.Set(ctx, Order{})).Fails(t, c.want)
			if c.set {
				continue
			}
			suite.Got(c.m.Read(ctx)).Fails(t, c.want)
			suite.Got(c.m.Update(ctx, Order{})).Fails(t, c.want)
			suite.Got(c.m.Exists(ctx)).Fails(t, c.want)
			suite.Got(c.m.ChildNodes(ctx)).Fails(t, c.want)
			suite.WantErr(t, c.m.Delete(ctx), c.want)
			if _, err := c.m.Cached(); c.want != framework.ErrInvalidPath {
				suite.WantErr(t, err, c.want)
			}
		}
		if _, err := codecless.Schema(); !errors.Is(err, framework.ErrInvalidOption) {
			t.Errorf("schema without a codec: %v", err)
		}
		changed := modeled.Wrap(f.client, acl).Spec()
		changed.ACL[0].Scheme = "world"
		if acl.ACL[0].Scheme != "nonsense" {
			t.Error("a spec shares its ACL")
		}
	})
}

func TestCachedMisuse(t *testing.T) {
	virtual(t, func(f *fixture) {
		t, ctx := f.t, f.t.Context()
		var none *cachedOrders
		if err := none.Start(ctx); err == nil {
			t.Error("a nil cache was started")
		}
		_, ok := none.Get(f.root)
		suite.Got(none.ReadThrough(ctx, f.root)).Fails(t, framework.ErrNotStarted)
		for range none.All() {
			ok = true
		}
		for range none.Children(f.root) {
			ok = true
		}
		for range none.Failed() {
			ok = true
		}
		for range none.Updates(ctx) {
			ok = true
		}
		if ok || none.Close(ctx) != nil {
			t.Error("a nil cache has contents, or cannot be closed")
		}
		c := suite.Got(f.orders().Cached()).OK(t)
		suite.WantErr(t, c.Await(ctx, 1), framework.ErrNotStarted)
		f.set("x", "soap")
		if node, err := c.ReadThrough(ctx, f.root.Child("x")); err != nil || node.Model.Item != "soap" {
			t.Errorf("before Start: %+v, %v", node, err)
		}
		if err := c.Start(ctx); err != nil {
			t.Error(err)
		}
		suite.WantErr(t, c.Start(ctx), framework.ErrAlreadyStarted)
		var nothing context.Context
		suite.Got(c.ReadThrough(nothing, f.root)).Fails(t, framework.ErrInvalidOption)
		for range 2 {
			if err := c.Close(ctx); err != nil {
				t.Error(err)
			}
		}
		suite.WantErr(t, c.Start(ctx), framework.ErrClosed)
	})
}
