package discovery_test

import (
	"context"
	"errors"
	"math"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/framework/codec"
	"github.com/go-curator/curator/framework/paths"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/recipes/discovery"
)

func TestNewMisuse(t *testing.T) {
	virtual(t, func(f *fixture) {
		text := discovery.JSON[string]()
		for name, c := range map[string]struct {
			client *framework.Client
			base   string
			codec  codec.Codec[instance]
			opt    discovery.Option
			want   error
		}{
			"client":        {nil, "/x", text, discovery.WithName("x"), framework.ErrNotStarted},
			"path":          {f.client, "x", text, discovery.WithName("x"), framework.ErrInvalidPath},
			"serializer":    {f.client, "/x", nil, discovery.WithName("x"), framework.ErrInvalidOption},
			"option":        {f.client, "/x", text, nil, framework.ErrInvalidOption},
			"name":          {f.client, "/x", text, discovery.WithName(strings.Repeat("x", 129)), framework.ErrInvalidOption},
			"path function": {f.client, "/x", text, discovery.WithPath(nil), framework.ErrInvalidOption},
		} {
			if _, err := discovery.NewServiceDiscovery(c.client, c.base, c.codec, c.opt); !errors.Is(err, c.want) {
				f.t.Errorf("%s: %v, want %v", name, err, c.want)
			}
		}
	})
}

// Bad instances and names are refused before anything is sent, with what is wrong.
func TestInstanceMisuse(t *testing.T) {
	virtual(t, func(f *fixture) {
		t, ctx := f.t, f.t.Context()
		f.start()
		for _, c := range []struct {
			change func(i *instance)
			want   error
			text   string
		}{
			{func(i *instance) { i.Name = "" }, framework.ErrInvalidOption, "Name"},
			{func(i *instance) { i.Name = "a//b" }, framework.ErrInvalidPath, `"a//b"`},
			{func(i *instance) { i.Name = "a/../b" }, framework.ErrInvalidPath, `"a/../b"`},
			{func(i *instance) { i.Name = "/" }, framework.ErrInvalidPath, `"/"`},
			{func(i *instance) { i.Name = ".." }, framework.ErrInvalidPath, `".."`},
			{func(i *instance) { i.ID = "a/b" }, framework.ErrInvalidPath, `"a/b"`},
			{func(i *instance) { i.ID = "a\x00" }, framework.ErrInvalidPath, "U+0000"},
			{func(i *instance) { i.Port = -1 }, framework.ErrInvalidOption, "Port"},
			{func(i *instance) { i.SSLPort = 1 << 16 }, framework.ErrInvalidOption, "SSLPort"},
			{func(i *instance) { i.Type = 4 }, framework.ErrInvalidOption, "Type"},
			{func(i *instance) { i.Payload = "\xff" }, framework.ErrInvalidOption, "UTF-8"},
			{func(i *instance) { i.Payload = strings.Repeat("x", 1<<20) }, framework.ErrTooLarge, ""},
		} {
			i := of("a", "x")
			c.change(&i)
			_, err := f.registry.Register(ctx, i)
			if !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.text) {
				t.Errorf("%+v: %v", i, err)
			}
		}
		f.until()
		suite.WantErr(t, f.registry.Update(ctx, instance{Name: "orders"}), framework.ErrInvalidOption)
		suite.Got(f.registry.QueryForInstance(ctx, "orders", "a/b")).Fails(t, framework.ErrInvalidPath)
		for _, name := range []string{"", "/", "//", "a//b", "."} {
			suite.Got(f.registry.QueryForInstances(ctx, name)).Fails(t, framework.ErrInvalidPath)
			suite.Got(f.registry.QueryForInstance(ctx, "orders", name)).Fails(t, framework.ErrInvalidPath)
			suite.Got(f.registry.Cache(name)).Fails(t, framework.ErrInvalidPath)
			suite.OK(f.t, f.registry.Unregister(ctx, name, name)) // it is not registered
		}
		for _, config := range []discovery.ProviderConfig[string]{{ErrorThreshold: -1}, {DownTime: -1}, {EmptyProtection: -1}} {
			suite.Got(f.registry.Provider("orders", config)).Fails(t, framework.ErrInvalidOption)
		}
		f.ended()
	})
}

// The name of a service may have slashes, as in Java: its node is below others. A slash at the
// beginning or the end makes no difference.
func TestSlashes(t *testing.T) {
	each(t, func(f *fixture) {
		t, ctx := f.t, f.t.Context()
		f.start()
		for _, name := range []string{"shop/orders", "/shop/bills", "shop/bills/old/"} {
			i := of("a", "x")
			i.Name = name
			f.register(i)
			there := suite.Got(f.operator.CheckExists().ForPath(ctx, paths.Make(f.base, name, "a"))).OK(f.t)
			got := suite.Got(f.registry.QueryForInstances(ctx, strings.Trim(name, "/"))).OK(f.t)
			if !there || len(got) != 1 || got[0].Name != name {
				t.Errorf("%s: %v, instances %v", name, there, got)
			}
			p := suite.Got(f.registry.Provider(strings.Trim(name, "/"), discovery.ProviderConfig[string]{ErrorThreshold: 1})).OK(f.t)
			suite.OK(f.t, p.Start(ctx))
			chosen := suite.Got(p.Instance()).OK(f.t)
			p.NoteError(chosen)
			if _, err := p.Instance(); !errors.Is(err, discovery.ErrNoInstance) {
				t.Errorf("%s: its error is not noted: %v", name, err)
			}
		}
		again := of("a", "y")
		again.Name = "/shop/orders/"
		suite.OK(f.t, f.registry.Update(ctx, again))
		suite.OK(f.t, f.registry.Unregister(ctx, "/shop/orders", "a"))
		left := suite.Got(f.registry.QueryForInstances(ctx, "shop/orders")).OK(f.t)
		if len(left) > 0 {
			t.Errorf("unregistered by another form of the name: %v", left)
		}
		names := suite.Got(f.registry.QueryForNames(ctx)).OK(f.t)
		bills := suite.Got(f.registry.QueryForInstances(ctx, "shop/bills")).OK(f.t)
		if !slices.Equal(names, []string{"shop"}) || len(bills) != 1 {
			t.Errorf("names %q, instances of bills %v", names, bills)
		}
		f.ended()
	})
}

// A path function may put services anywhere, and is not trusted.
func TestWithPath(t *testing.T) {
	path := func(name string) string { return strings.ReplaceAll(name, ".", "/") }
	virtual(t, func(f *fixture) {
		ctx := f.t.Context()
		f.start()
		i := of("a", "x")
		i.Name = f.base[1:] + ".deep.er/orders"
		suite.Got(f.registry.Register(ctx, i)).Fails(f.t, framework.ErrInvalidPath)
		i.Name = f.base + ".deep.er/orders"
		f.register(i)
		got := suite.Got(f.registry.QueryForInstances(ctx, i.Name)).OK(f.t)
		if there, err := f.operator.CheckExists().ForPath(ctx, f.base+"/deep/er/orders/a"); len(got) != 1 || !there || err != nil {
			f.t.Errorf("instances %v, %v, %v", got, there, err)
		}
		suite.OK(f.t, f.registry.Unregister(ctx, i.Name, "a"))
		f.ended()
	}, discovery.WithPath(path))
}

// Nothing panics on nil.
func TestNil(t *testing.T) {
	ctx := t.Context()
	var none context.Context
	var d *registry
	suite.WantErr(t, d.Start(ctx), framework.ErrNotStarted)
	suite.Got(d.Register(ctx, of("a", "x"))).Fails(t, framework.ErrNotStarted)
	suite.WantErr(t, d.Update(ctx, of("a", "x")), framework.ErrNotStarted)
	suite.WantErr(t, d.Unregister(ctx, "orders", "a"), framework.ErrNotStarted)
	suite.Got(d.QueryForNames(ctx)).Fails(t, framework.ErrNotStarted)
	c, err := d.Cache("orders")
	suite.WantErr(t, err, framework.ErrNotStarted)
	suite.WantErr(t, c.Start(ctx), framework.ErrNotStarted)
	if _, stale := c.Stale(); stale || len(c.Instances()) > 0 || c.Name() != "" || c.Close(ctx) != nil || d.Close(ctx) != nil {
		t.Error("a nil cache has something")
	}
	for range c.Updates(ctx) {
		t.Error("an update of nothing")
	}
	p, err := d.Provider("orders", discovery.ProviderConfig[string]{})
	suite.WantErr(t, err, framework.ErrNotStarted)
	suite.Got(p.Instance()).Fails(t, framework.ErrNotStarted)
	p.NoteError(of("a", "x"))
	if len(p.Instances()) > 0 || p.Name() != "" || p.Close(ctx) != nil {
		t.Error("a nil provider has something")
	}
	virtual(t, func(f *fixture) {
		t := f.t
		for _, err := range []error{f.registry.Start(none), f.registry.Close(none), f.registry.Update(none, of("a", "x"))} {
			suite.WantErr(t, err, framework.ErrInvalidOption)
		}
		suite.Got(f.registry.Register(none, of("a", "x"))).Fails(t, framework.ErrInvalidOption)
	})
}

// What JSON cannot have is refused, and so are nil options.
func TestJSONMisuse(t *testing.T) {
	i := of("a", "x")
	i.Disabled = true
	suite.Got(discovery.JSON[string]().Encode(i)).Fails(t, framework.ErrInvalidOption)
	suite.Got(discovery.JSON[float64]().Encode(discovery.ServiceInstance[float64]{Payload: math.Inf(1)})).Fails(t, framework.ErrInvalidOption)
	suite.Got(discovery.JSON[string](nil).Encode(of("a", "x"))).Fails(t, framework.ErrInvalidOption)
	suite.Got(discovery.JSON[string](nil).Decode([]byte("{}"))).Fails(t, framework.ErrInvalidOption)
	suite.Got(discovery.JSON[func()]().Encode(discovery.ServiceInstance[func()]{Payload: func() {}})).Fails(t, framework.ErrInvalidOption)
}

func TestLocalAddress(t *testing.T) {
	asked := 0
	_, err := discovery.LocalAddress(func(string, netip.Addr) bool { asked++; return false })
	if err == nil {
		t.Error("an address that was refused")
	}
	address, err := discovery.LocalAddress(nil)
	if err == nil != (asked > 0) {
		t.Errorf("%q, %v, of %d", address, err, asked)
	}
	if parsed, bad := netip.ParseAddr(address); err == nil && (bad != nil || parsed.IsLoopback()) {
		t.Errorf("%q is no address for others", address)
	}
}
