package requests_test

import (
	"context"
	"iter"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/recipes/discovery"
)

type registry = discovery.ServiceDiscovery[string]

func registryOf(f *fixture, c *framework.Client, opts ...discovery.Option) *registry {
	f.concurrent = true
	d, err := discovery.NewServiceDiscovery(c, "/services", discovery.JSON[string](), opts...)
	return made(f, d, err)
}

func instance(id string, t discovery.ServiceType) discovery.ServiceInstance[string] {
	return discovery.ServiceInstance[string]{Name: "service", ID: id, Address: "127.0.0.1", Type: t}
}

func discoveryCases() []tableCase {
	life := func(op, row string, t discovery.ServiceType, opts ...discovery.Option) tableCase {
		return tableCase{"recipes/discovery: " + op, row, func(f *fixture) {
			d := started(f, registryOf(f, f.client, opts...))
			registered := instance("id", t)
			f.step("Register", func() {
				var err error
				registered, err = d.Register(f.Context(), registered)
				f.ok(err)
			})
			f.step("Register another one", func() { f.must(d.Register(f.Context(), instance("second", t))) })
			f.step("Update", func() { f.ok(d.Update(f.Context(), registered)) })
			f.cut()
			f.expire()
			if op == "WithWatchInstances" {
				return // the watch and the node end at the same time: what is sent depends on which is first
			}
			f.step("Unregister", func() { f.ok(d.Unregister(f.Context(), "service", registered.ID)) })
			f.step("Close", func() { f.ok(d.Close(f.Context())) })
		}}
	}
	return []tableCase{
		life("(*ServiceDiscovery) Register", "dynamic", discovery.Dynamic),
		life("(*ServiceDiscovery) Register", "static", discovery.Static),
		life("(*ServiceDiscovery) Register", "permanent", discovery.Permanent),
		life("(*ServiceDiscovery) Register", "dynamic sequential", discovery.DynamicSequential),
		life("WithWatchInstances", "dynamic", discovery.Dynamic, discovery.WithWatchInstances()),
		life("WithPath", "dynamic", discovery.Dynamic, discovery.WithPath(func(name string) string { return "/elsewhere/" + name })),
		life("WithStartInBackground", "dynamic", discovery.Dynamic, discovery.WithStartInBackground()),
	}
}

// registerCases are of registrations that meet something.
func registerCases() []tableCase {
	return []tableCase{
		{"recipes/discovery: (*ServiceDiscovery) Start", "with an instance", func(f *fixture) {
			d := registryOf(f, f.client)
			f.step("Register before Start", func() { f.must(d.Register(f.Context(), instance("id", discovery.Dynamic))) })
			f.step("Start", func() { started(f, d) })
		}},
		{"recipes/discovery: (*ServiceDiscovery) Register", "another client's node is there", func(f *fixture) {
			f.must(started(f, registryOf(f, f.other)).Register(f.Context(), instance("id", discovery.Dynamic)))
			d := started(f, registryOf(f, f.client))
			f.step("Register", func() { f.must(d.Register(f.Context(), instance("id", discovery.Dynamic))) })
		}},
		{"recipes/discovery: (*ServiceDiscovery) Register", "an answer is lost", func(f *fixture) {
			d := started(f, registryOf(f, f.client))
			f.nodes("/services/service")
			f.step("Register", func() {
				f.unanswered("create")
				f.must(d.Register(f.Context(), instance("id", discovery.Dynamic)))
			})
		}},
		{"recipes/discovery: (*ServiceDiscovery) Update", "an answer is lost", func(f *fixture) {
			d := started(f, registryOf(f, f.client))
			registered, err := d.Register(f.Context(), instance("id", discovery.Dynamic))
			f.ok(err)
			f.step("Update", func() {
				f.unanswered("setData")
				f.ok(d.Update(f.Context(), registered))
			})
		}},
		{"recipes/discovery: (*ServiceDiscovery) Unregister", "free", func(f *fixture) {
			d := started(f, registryOf(f, f.client))
			f.must(d.Register(f.Context(), instance("id", discovery.Dynamic)))
			f.step("call", func() { f.ok(d.Unregister(f.Context(), "service", "id")) })
			f.step("call again", func() { f.ok(d.Unregister(f.Context(), "service", "id")) })
		}},
		{"recipes/discovery: WithWatchInstances", "another client writes", func(f *fixture) {
			d := started(f, registryOf(f, f.client, discovery.WithWatchInstances()))
			f.must(d.Register(f.Context(), instance("id", discovery.Dynamic)))
			f.step("a write", func() { f.must(f.other.SetData().ForPath(f.Context(), "/services/service/id", []byte("{}"))) })
		}},
	}
}

func queryCases() []tableCase {
	var all []tableCase
	add := func(name, request string, call func(ctx context.Context, d *registry) error) {
		with := func(row string, instances []string, lost bool) tableCase {
			return tableCase{"recipes/discovery: (*ServiceDiscovery) " + name, row, func(f *fixture) {
				others := started(f, registryOf(f, f.other))
				for _, id := range instances {
					f.must(others.Register(f.Context(), instance(id, discovery.Dynamic)))
				}
				d := started(f, registryOf(f, f.client))
				f.step("call", func() {
					if lost {
						f.unanswered(request)
					}
					_ = call(f.Context(), d) // there may be none
				})
			}}
		}
		all = append(all, with("nothing", nil, false), with("two instances", []string{"a", "b"}, false), with("an answer is lost", []string{"a", "b"}, true))
	}
	add("QueryForInstance", "getData", func(ctx context.Context, d *registry) error { return value(d.QueryForInstance(ctx, "service", "a")) })
	add("QueryForInstances", "getData", func(ctx context.Context, d *registry) error { return value(d.QueryForInstances(ctx, "service")) })
	add("QueryForNames", "getChildren", func(ctx context.Context, d *registry) error { return value(d.QueryForNames(ctx)) })
	return all
}

func providerCases() []tableCase {
	life := func(op string, of func(f *fixture, d *registry) framework.Component, opts ...discovery.Option) tableCase {
		return tableCase{"recipes/discovery: " + op, "until Close", func(f *fixture) {
			others := started(f, registryOf(f, f.other))
			f.must(others.Register(f.Context(), instance("a", discovery.Dynamic)))
			f.must(others.Register(f.Context(), instance("b", discovery.Dynamic)))
			c := of(f, started(f, registryOf(f, f.client, opts...)))
			f.step("Start", func() { started(f, c) })
			f.step("another client registers an instance", func() { f.must(others.Register(f.Context(), instance("c", discovery.Dynamic))) })
			f.cut()
			f.step("Close", func() { f.ok(c.Close(f.Context())) })
		}}
	}
	cacheOf := func(f *fixture, d *registry) framework.Component {
		c, err := d.Cache("service")
		return made(f, c, err)
	}
	providerOf := func(f *fixture, d *registry) framework.Component {
		p, err := d.Provider("service", discovery.ProviderConfig[string]{})
		return made(f, p, err)
	}
	return []tableCase{
		updates("recipes/discovery: (*ServiceCache) Updates", func(f *fixture) (func(ctx context.Context) iter.Seq[[]discovery.ServiceInstance[string]], func()) {
			others := started(f, registryOf(f, f.other))
			f.must(others.Register(f.Context(), instance("first", discovery.Dynamic)))
			c, err := registryOf(f, f.client).Cache("service")
			f.ok(err)
			return started(f, c).Updates, func() { f.must(others.Register(f.Context(), instance("a", discovery.Dynamic))) }
		}),
		updates("recipes/discovery: (*ServiceProvider) Updates", func(f *fixture) (func(ctx context.Context) iter.Seq[[]discovery.ServiceInstance[string]], func()) {
			others := started(f, registryOf(f, f.other))
			f.must(others.Register(f.Context(), instance("first", discovery.Dynamic)))
			p, err := registryOf(f, f.client).Provider("service", discovery.ProviderConfig[string]{})
			f.ok(err)
			return started(f, p).Updates, func() { f.must(others.Register(f.Context(), instance("a", discovery.Dynamic))) }
		}),
		life("(*ServiceCache) Start", cacheOf),
		life("(*ServiceProvider) Start", providerOf),
		life("WithStartInBackground", providerOf, discovery.WithStartInBackground()),
		{"recipes/discovery: (*ServiceProvider) Instance", "five times", func(f *fixture) {
			d := started(f, registryOf(f, f.client))
			f.must(d.Register(f.Context(), instance("a", discovery.Dynamic)))
			p, err := d.Provider("service", discovery.ProviderConfig[string]{})
			f.ok(err)
			started(f, p)
			f.step("calls", func() {
				for range 5 {
					f.must(p.Instance())
				}
			})
		}},
	}
}
