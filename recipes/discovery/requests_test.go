package discovery_test

import (
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/framework/paths"
	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/recipes/discovery"
	"github.com/go-curator/curator/tools/curatortest"
)

// What the operations cost.
func TestRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx := t.Context()
		server := curatortest.Start(t, curatortest.Virtual())
		client, traffic := suite.Tapped(t, server)
		must := func(err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
		}
		want := func(what, want string) {
			t.Helper()
			synctest.Wait()
			if got := traffic.Take(); got != want {
				t.Errorf("%s: %s, want %s", what, got, want)
			}
		}
		registry := suite.Got(discovery.NewServiceDiscovery(client, "/services", discovery.JSON[string]())).OK(t)
		must(registry.Start(ctx))
		suite.Got(registry.Register(ctx, of("a", "x"))).OK(t)
		settle(0)
		traffic.Take()

		suite.Got(registry.Register(ctx, of("b", "x"))).OK(t)
		want("register", "create2=1 getData=1 writes=1")
		must(registry.Unregister(ctx, "orders", "b"))
		want("unregister", "delete=1 events=1 writes=1")
		must(registry.Update(ctx, of("a", "y")))
		want("update", "events=1 getData=1 setData=1 writes=2")
		for n := range 299 {
			suite.Got(registry.Register(ctx, of(fmt.Sprintf("c%03d", n), "x"))).OK(t)
		}
		traffic.Take()
		instances, err := registry.QueryForInstances(ctx, "orders")
		if err != nil || len(instances) != 300 {
			t.Fatalf("%d instances, %v", len(instances), err)
		}
		want("query", "getChildren2=1 getData=300 writes=3")

		p := suite.Got(registry.Provider("orders", discovery.ProviderConfig[string]{})).OK(t)
		must(p.Start(ctx))
		synctest.Wait()
		traffic.Take()
		for range 1_000 {
			suite.Got(p.Instance()).OK(t)
		}
		want("choosing", "")
		must(registry.Close(ctx))
	})
}

// Choosing allocates nothing, whatever the strategy.
func TestInstanceAllocations(t *testing.T) {
	virtual(t, func(f *fixture) {
		f.start()
		for n := range 10 {
			f.register(of(fmt.Sprint(n), "x"))
		}
		for name, strategy := range map[string]discovery.Strategy[string]{
			"round robin": discovery.RoundRobin[string](), "random": discovery.Random[string](), "sticky": discovery.Sticky[string](nil),
		} {
			p := f.provider(discovery.ProviderConfig[string]{Strategy: strategy})
			if _, err := p.Instance(); err != nil { // which makes the choices
				f.t.Fatal(err)
			}
			if n := testing.AllocsPerRun(100, func() { _, _ = p.Instance() }); n > 0 {
				f.t.Errorf("%s: %v allocations", name, n)
			}
		}
		f.ended()
	})
}

// After the end of a session each instance costs one create, and they come in the time that they
// are given.
func TestAgain(t *testing.T) {
	virtual(t, func(f *fixture) {
		const many = 300
		want := []string{}
		for n := range many {
			i := of(fmt.Sprintf("%03d", n), "x")
			f.register(i)
			want = append(want, i.ID+"=x")
		}
		f.start()
		f.until(want...)
		before := f.network.Requests(jute.OpCreate2) + f.network.Requests(jute.OpMulti)
		session := f.client.SessionID()
		f.network.Expire(f.t)
		suite.Eventually(f.t, "all in the new session", func() bool {
			owned := 0
			for _, e := range f.ephemerals() {
				if e != session {
					owned++
				}
			}
			return owned == many
		})
		f.until(want...)
		creates := f.network.Requests(jute.OpCreate2) + f.network.Requests(jute.OpMulti) - before
		if creates > many+many/10 { // the session layer proves its session by transactions
			f.t.Errorf("%d creates for %d instances", creates, many)
		}
		f.ended()
	})
}

// ephemerals returns the sessions of the nodes of orders.
func (f *fixture) ephemerals() (sessions []int64) {
	f.t.Helper()
	dir := paths.Make(f.base, "orders")
	names := suite.Got(f.operator.GetChildren().ForPath(f.t.Context(), dir)).OK(f.t)
	for _, name := range names {
		var stat framework.Stat
		if _, err := f.operator.CheckExists().StoringStatIn(&stat).ForPath(f.t.Context(), paths.Make(dir, name)); err == nil {
			sessions = append(sessions, stat.EphemeralOwner)
		}
	}
	return sessions
}
