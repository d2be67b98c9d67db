package discoverygrpc_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/experimental/balancer/weight"
	"google.golang.org/grpc/resolver"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/recipes/discovery"
	"github.com/go-curator/curator/recipes/discovery/discoverygrpc"
)

var plain = resolver.BuildOptions{DialCreds: insecure.NewCredentials()}

// build starts a resolver of a service.
func build(t *testing.T, b resolver.Builder, cc *conn) resolver.Resolver {
	t.Helper()
	r, err := b.Build(target(t, "curator:///orders"), cc, plain)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// gRPC is told of each list, and of an error when nothing in it can be called.
func TestUpdates(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		orders := newList()
		b := discoverygrpc.NewBuilderOf((&registry{lists: map[string]*list{"orders": orders}}).open, discoverygrpc.Config[string]{})
		cc := &conn{}
		r := build(t, b, cc)
		defer r.Close()
		for i, c := range []struct {
			set    []instance
			want   []string
			states int
			error  string
		}{
			{nil, nil, 0, `no instance of the service orders`},
			{[]instance{{Address: "a", Port: 1}, {Address: "2001:db8::1", Port: 2}}, []string{"a:1", "[2001:db8::1]:2"}, 1, ""},
			{[]instance{{Address: "b"}, {Address: "b", Port: 1}}, []string{"b:1"}, 2, ""},
			{[]instance{{Address: "a"}, {Port: 1}, {Address: "a", SSLPort: 1}, {Address: "a", Port: 1 << 16}, {Address: "a", Port: -1}}, nil, 3, "none of 5 has an address and a port"},
			{[]instance{{Address: "a", Port: 1}}, []string{"a:1"}, 4, ""},
			{[]instance{}, nil, 5, "no instance of the service"},
		} {
			before := 0
			if i > 0 {
				before = len(cc.errors())
				orders.set(c.set...)
			}
			synctest.Wait()
			got, states := cc.addresses()
			if diff := cmp.Diff(c.want, got); diff != "" || states != c.states {
				t.Errorf("%d: %d states; %s", i, states, diff)
			}
			reported := cc.errors()[before:]
			if c.error == "" && len(reported) > 0 || c.error != "" && (len(reported) != 1 ||
				!errors.Is(reported[0], discovery.ErrNoInstance) || !strings.Contains(reported[0].Error(), c.error)) {
				t.Errorf("%d: reported %v, want %q", i, reported, c.error)
			}
		}
	})
}

type bundle struct {
	credentials.Bundle
	creds credentials.TransportCredentials
}

func (b bundle) TransportCredentials() credentials.TransportCredentials { return b.creds }

// The address is that of the Config; without one it is that of the port for the credentials.
func TestAddresses(t *testing.T) {
	tls := credentials.NewTLS(nil)
	both := instance{Address: "a", Port: 1, SSLPort: 2, Payload: "b:3"}
	byPayload := discoverygrpc.Config[string]{
		Address: func(i instance) resolver.Address { return resolver.Address{Addr: i.Payload, ServerName: "orders"} },
		Weight:  func(i instance) uint32 { return uint32(len(i.Payload)) },
	}
	for _, c := range []struct {
		name     string
		config   discoverygrpc.Config[string]
		opts     resolver.BuildOptions
		instance instance
		want     []string
		weight   uint32
	}{
		{"insecure", discoverygrpc.Config[string]{}, plain, both, []string{"a:1"}, 0},
		{"none", discoverygrpc.Config[string]{}, resolver.BuildOptions{}, both, []string{"a:1"}, 0},
		{"TLS", discoverygrpc.Config[string]{}, resolver.BuildOptions{DialCreds: tls}, both, []string{"a:2"}, 0},
		{"bundle", discoverygrpc.Config[string]{}, resolver.BuildOptions{CredsBundle: bundle{creds: tls}}, both, []string{"a:2"}, 0},
		{"TLS, one port", discoverygrpc.Config[string]{}, resolver.BuildOptions{DialCreds: tls}, instance{Address: "a", Port: 1}, []string{"a:1"}, 0},
		{"config", byPayload, plain, both, []string{"b:3"}, 3},
		{"config, left out", byPayload, plain, instance{Address: "a", Port: 1}, nil, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := discoverygrpc.NewBuilderOf((&registry{lists: map[string]*list{"orders": newList(c.instance)}}).open, c.config)
				cc := &conn{}
				r, err := b.Build(target(t, "curator:///orders"), cc, c.opts)
				if err != nil {
					t.Fatal(err)
				}
				defer r.Close()
				synctest.Wait()
				got, _ := cc.addresses()
				if diff := cmp.Diff(c.want, got); diff != "" {
					t.Error(diff)
				}
				for _, s := range cc.states {
					if w := weight.FromEndpoint(s.Endpoints[0]).Weight; w != c.weight {
						t.Errorf("weight %d, want %d", w, c.weight)
					}
				}
			})
		})
	}
}

// A list that cannot be loaded is reported, and loaded again after pauses that grow to 10 s.
func TestLoad(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		down := errors.New("no server")
		orders := newList(instance{Address: "a", Port: 1})
		up := make(chan struct{})
		orders.start = func(context.Context) error {
			select {
			case <-up:
				return nil
			default:
				return down
			}
		}
		b := discoverygrpc.NewBuilderOf((&registry{lists: map[string]*list{"orders": orders}}).open, discoverygrpc.Config[string]{})
		cc := &conn{}
		r := build(t, b, cc)
		synctest.Wait()
		if errs := cc.errors(); len(errs) != 1 || !errors.Is(errs[0], down) {
			t.Errorf("reported %v", errs)
		}
		time.Sleep(time.Hour)
		if starts, _ := orders.counts(); starts < 360 || starts > 3600 {
			t.Errorf("%d loads in an hour", starts)
		}
		close(up)
		time.Sleep(10 * time.Second)
		synctest.Wait()
		if got, _ := cc.addresses(); len(got) != 1 {
			t.Errorf("addresses %v", got)
		}
		r.Close()
		starts, closes := orders.counts()
		time.Sleep(time.Hour)
		if after, _ := orders.counts(); after != starts || closes != 1 {
			t.Errorf("%d loads after Close, closed %d times", after-starts, closes)
		}
	})
}

// All resolvers of a service share its list, which the last one closes. One that leaves while it
// loads the list does not fail the others.
func TestShared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		orders := newList(instance{Address: "a", Port: 1})
		orders.start = func(ctx context.Context) error {
			select {
			case <-time.After(time.Minute):
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		all := &registry{lists: map[string]*list{"orders": orders}}
		b := discoverygrpc.NewBuilderOf(all.open, discoverygrpc.Config[string]{})
		var ccs []*conn
		var resolvers []resolver.Resolver
		for range 3 {
			cc := &conn{}
			resolvers, ccs = append(resolvers, build(t, b, cc)), append(ccs, cc)
			synctest.Wait()
		}
		time.Sleep(time.Second)
		resolvers[0].Close() // it loads the list
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		for i, want := range []int{0, 1, 1} {
			if _, states := ccs[i].addresses(); states != want || len(ccs[i].errors()) > 0 {
				t.Errorf("resolver %d: %d states, errors %v", i, states, ccs[i].errors())
			}
		}
		resolvers[1].Close()
		resolvers[1].ResolveNow(resolver.ResolveNowOptions{})
		orders.set()
		synctest.Wait()
		if _, states := ccs[2].addresses(); states != 2 {
			t.Errorf("the last resolver has %d states", states)
		}
		starts, closes := orders.counts()
		if len(all.opened) != 1 || starts != 2 || closes != 0 {
			t.Errorf("opened %v, %d starts, %d closes", all.opened, starts, closes)
		}
		resolvers[2].Close()
		if _, closes := orders.counts(); closes != 1 {
			t.Errorf("closed %d times", closes)
		}

		orders.start = nil
		build(t, b, &conn{}).Close()
		if _, closes := orders.counts(); len(all.opened) != 2 || closes != 2 {
			t.Errorf("another resolver: opened %v, closed %d times", all.opened, closes)
		}
	})
}

// When the registry is closed the resolver reports that and ends.
func TestRegistryClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		orders, users := newList(instance{Address: "a", Port: 1}), newList()
		users.start = func(context.Context) error { return framework.ErrClosed }
		all := &registry{lists: map[string]*list{"orders": orders, "users": users}}
		b := discoverygrpc.NewBuilderOf(all.open, discoverygrpc.Config[string]{})
		first, second := &conn{}, &conn{}
		defer build(t, b, first).Close()
		r, err := b.Build(target(t, "curator:///users"), second, plain)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		close(orders.over)
		time.Sleep(time.Hour)
		for i, cc := range []*conn{first, second} {
			if errs := cc.errors(); len(errs) != 1 || !errors.Is(errs[0], framework.ErrClosed) {
				t.Errorf("resolver %d reported %v", i, errs)
			}
		}
		if starts, _ := users.counts(); starts != 1 {
			t.Errorf("%d loads of a closed list", starts)
		}
	})
}

func TestMisuse(t *testing.T) {
	if _, err := discoverygrpc.NewBuilder[string](nil, discoverygrpc.Config[string]{}); !errors.Is(err, framework.ErrInvalidOption) {
		t.Errorf("nil registry: %v", err)
	}
	if _, err := discoverygrpc.NewBuilder(new(discovery.ServiceDiscovery[string]), discoverygrpc.Config[string]{EmptyProtection: -1}); !errors.Is(err, framework.ErrInvalidOption) {
		t.Errorf("negative EmptyProtection: %v", err)
	}
	if _, err := new(discoverygrpc.Builder[string]).Build(target(t, "curator:///orders"), &conn{}, plain); !errors.Is(err, framework.ErrNotStarted) {
		t.Errorf("zero value: %v", err)
	}
	refused := errors.New("refused")
	all := &registry{err: refused}
	b := discoverygrpc.NewBuilderOf(all.open, discoverygrpc.Config[string]{})
	for _, text := range []string{"curator:///", "curator://", "curator://orders", "curator://orders/", "curator://zk:2181/orders", "curator://me@/orders", "curator:///orders?a=b", "curator:///orders#a"} {
		if _, err := b.Build(target(t, text), &conn{}, plain); !errors.Is(err, framework.ErrInvalidOption) || !strings.Contains(err.Error(), text) {
			t.Errorf("%s: %v", text, err)
		}
	}
	if len(all.opened) > 0 {
		t.Errorf("opened %v", all.opened)
	}
	for range 2 { // nothing is left of the first
		if _, err := b.Build(target(t, "curator:///orders"), &conn{}, plain); !errors.Is(err, refused) {
			t.Errorf("refused by the registry: %v", err)
		}
	}
	if len(all.opened) != 2 {
		t.Errorf("opened %v", all.opened)
	}
	if b.Scheme() != discoverygrpc.Scheme {
		t.Errorf("scheme %s", b.Scheme())
	}
}

// loading is a list that is loaded in the background.
type loading struct {
	*list
	loaded chan struct{}
}

func (l loading) Instance() (instance, error) {
	select {
	case <-l.loaded:
		return l.list.Instance()
	default:
		return instance{}, fmt.Errorf("%w orders: %w", discovery.ErrNoInstance, framework.ErrNotStarted)
	}
}

func (l loading) Updates(ctx context.Context) iter.Seq[[]instance] {
	return func(yield func([]instance) bool) {
		select {
		case <-l.loaded:
			l.list.Updates(ctx)(yield)
		case <-ctx.Done():
		}
	}
}

// While a list is loaded in the background, calls fail with the reason, and do not wait.
func TestLoadedInBackground(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		orders := loading{newList(instance{Address: "a", Port: 1}), make(chan struct{})}
		b := discoverygrpc.NewBuilderOf(func(string) (discoverygrpc.Instances[string], error) { return orders, nil }, discoverygrpc.Config[string]{})
		cc := &conn{}
		r := build(t, b, cc)
		defer r.Close()
		synctest.Wait()
		if errs := cc.errors(); len(errs) != 1 || !errors.Is(errs[0], framework.ErrNotStarted) {
			t.Errorf("reported %v", errs)
		}
		close(orders.loaded)
		synctest.Wait()
		if got, states := cc.addresses(); states != 1 || len(got) != 1 {
			t.Errorf("%d states, addresses %q", states, got)
		}
	})
}
