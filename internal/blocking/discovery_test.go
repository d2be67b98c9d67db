package blocking_test

import (
	"context"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/recipes/discovery"
	"github.com/go-curator/curator/recipes/leader"
	"github.com/go-curator/curator/recipes/locks"
)

func leaderRows() map[string]row {
	latch := func(f *fixture, client *framework.Client) *leader.LeaderLatch {
		l, err := leader.NewLeaderLatch(client, f.path)
		return made(f, l, err)
	}
	selector := func(f *fixture) *leader.LeaderSelector {
		s, err := leader.NewLeaderSelector(f.client, f.path)
		return made(f, s, err)
	}
	return map[string]row{
		"recipes/leader: (*LeaderLatch) Start": asks(func(f *fixture) call { return latch(f, f.client).Start }),
		"recipes/leader: (*LeaderLatch) Await": waits(func(f *fixture) call {
			first := started(f, latch(f, f.other), nil)
			f.must(first.Await(f.Context()))
			l := started(f, latch(f, f.client), nil)
			return func(ctx context.Context) error { return value(l.Await(ctx)) }
		}),
		"recipes/leader: (*LeaderLatch) Leader": asks(func(f *fixture) call {
			return func(ctx context.Context) error { return value(latch(f, f.client).Leader(ctx)) }
		}),
		"recipes/leader: (*LeaderLatch) Participants": asks(func(f *fixture) call {
			return func(ctx context.Context) error { return value(latch(f, f.client).Participants(ctx)) }
		}),
		"recipes/leader: (*LeaderSelector) Run": runs(func(f *fixture) call {
			s := selector(f)
			return func(ctx context.Context) error {
				return s.Run(ctx, func(ctx context.Context, _ *locks.Lease) error {
					<-ctx.Done()
					return nil
				})
			}
		}),
		"recipes/leader: (*LeaderSelector) Leader": asks(func(f *fixture) call {
			return func(ctx context.Context) error { return value(selector(f).Leader(ctx)) }
		}),
		"recipes/leader: (*LeaderSelector) Participants": asks(func(f *fixture) call {
			return func(ctx context.Context) error { return value(selector(f).Participants(ctx)) }
		}),
	}
}

func discoveryRows() map[string]row {
	instance := (*fixture)(nil).instance()
	registry := func(f *fixture) *discovery.ServiceDiscovery[string] { return f.registry() }
	registered := func(f *fixture) *discovery.ServiceDiscovery[string] {
		d := started(f, registry(f), nil)
		f.must(d.Register(f.Context(), instance))
		return d
	}
	return map[string]row{
		"recipes/discovery: (*ServiceDiscovery) Register": asks(func(f *fixture) call {
			d := started(f, registry(f), nil)
			return func(ctx context.Context) error { return value(d.Register(ctx, instance)) }
		}),
		"recipes/discovery: (*ServiceDiscovery) Update": goesOn(func(f *fixture) call {
			d := registered(f)
			return func(ctx context.Context) error { return d.Update(ctx, instance) }
		}),
		"recipes/discovery: (*ServiceDiscovery) QueryForInstance": asks(func(f *fixture) call {
			d := registered(f)
			return func(ctx context.Context) error { return value(d.QueryForInstance(ctx, "service", "id")) }
		}),
		"recipes/discovery: (*ServiceDiscovery) QueryForInstances": asks(func(f *fixture) call {
			d := registered(f)
			return func(ctx context.Context) error { return value(d.QueryForInstances(ctx, "service")) }
		}),
		"recipes/discovery: (*ServiceDiscovery) QueryForNames": asks(func(f *fixture) call {
			d := registered(f)
			return func(ctx context.Context) error { return value(d.QueryForNames(ctx)) }
		}),
		"recipes/discovery: (*ServiceCache) Start": asks(func(f *fixture) call {
			c, err := registered(f).Cache("service")
			return made(f, c, err).Start
		}),
		"recipes/discovery: (*ServiceCache) Updates": waits(func(f *fixture) call {
			c, err := registered(f).Cache("service")
			started(f, c, err)
			return func(ctx context.Context) error { return all(c.Updates(ctx)) }
		}),
		"recipes/discovery: (*ServiceProvider) Updates": waits(func(f *fixture) call {
			p, err := registered(f).Provider("service", discovery.ProviderConfig[string]{})
			started(f, p, err)
			return func(ctx context.Context) error { return all(p.Updates(ctx)) }
		}),
		"recipes/discovery: (*ServiceProvider) Start": asks(func(f *fixture) call {
			p, err := registered(f).Provider("service", discovery.ProviderConfig[string]{})
			return made(f, p, err).Start
		}),
	}
}

func (f *fixture) registry(opts ...discovery.Option) *discovery.ServiceDiscovery[string] {
	d, err := discovery.NewServiceDiscovery(f.client, f.path+"/services", discovery.JSON[string](), opts...)
	return made(f, d, err)
}

func (*fixture) instance() discovery.ServiceInstance[string] {
	return discovery.ServiceInstance[string]{Name: "service", ID: "id", Address: "127.0.0.1"}
}
