package discoverygrpc_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/recipes/discovery"
	"github.com/go-curator/curator/recipes/discovery/discoverygrpc"
)

// registered is a registry of orders, and what a ClientConn is told of it.
type registered struct {
	*testing.T
	backend  *suite.Backend
	registry *discovery.ServiceDiscovery[string]
	cc       *conn
}

// withRegistry runs a test in virtual time.
func withRegistry(t *testing.T, config discoverygrpc.Config[string], test func(r *registered)) {
	t.Helper()
	suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
		r := &registered{T: t, backend: b, cc: &conn{}}
		r.registry, _ = r.another()
		builder, err := discoverygrpc.NewBuilder(r.registry, config)
		if err != nil {
			t.Fatal(err)
		}
		defer build(t, builder, r.cc).Close()
		test(r)
	})
}

// another returns a registry of another client, and the network of that.
func (r *registered) another() (*discovery.ServiceDiscovery[string], *suite.Network) {
	r.Helper()
	client, network := r.backend.Client(r.T)
	registry, err := discovery.NewServiceDiscovery(client, r.backend.Path("services"), discovery.JSON[string](discovery.WithEnabledKey()))
	if err == nil {
		err = registry.Start(r.Context())
	}
	if err != nil {
		r.Fatal(err)
	}
	r.Cleanup(func() {
		if err := registry.Close(context.WithoutCancel(r.Context())); err != nil {
			r.Error(err)
		}
	})
	return registry, network
}

func (r *registered) register(in *discovery.ServiceDiscovery[string], id, payload string, disabled bool) {
	r.Helper()
	i := instance{Name: "orders", ID: id, Address: id, Port: 1, Payload: payload, Disabled: disabled}
	if _, err := in.Register(r.Context(), i); err != nil {
		r.Fatal(err)
	}
}

// told checks the addresses of the last state after a time, and the last error, "" for no check.
func (r *registered) told(when string, after time.Duration, want, problem string) {
	r.Helper()
	timer := time.NewTimer(after)
	<-timer.C
	synctest.Wait()
	got, _ := r.cc.addresses()
	if strings.Join(got, " ") != want {
		r.Errorf("%s: addresses %v, want %s", when, got, want)
	}
	errs := r.cc.errors()
	if problem != "" && (len(errs) == 0 || errs[len(errs)-1].Error() != problem) {
		r.Errorf("%s: errors %v, want %q", when, errs, problem)
	}
}

// gRPC gets what is enabled, has an address and is accepted by the filter, and is told why there is
// nothing.
func TestFilter(t *testing.T) {
	config := discoverygrpc.Config[string]{Filter: func(i instance) bool { return i.Payload != "OUT_OF_SERVICE" }}
	withRegistry(t, config, func(r *registered) {
		r.told("at first", time.Second, "", "no instance of the service orders")
		r.register(r.registry, "a", "UP", false)
		r.register(r.registry, "b", "OUT_OF_SERVICE", false)
		r.register(r.registry, "c", "UP", true)
		r.told("one of three", time.Second, "a:1", "")
		r.register(r.registry, "a", "OUT_OF_SERVICE", false)
		r.told("none of three", time.Second, "", "no instance of the service orders: 1 disabled, 2 left out by the filter")
	})
}

// Servers that are well, and are cut off from ZooKeeper, stay with EmptyProtection, for its time.
func TestEmptyProtection(t *testing.T) {
	for protection, want := range map[time.Duration]string{0: "", time.Minute: "a:1 b:1"} {
		withRegistry(t, discoverygrpc.Config[string]{EmptyProtection: protection}, func(r *registered) {
			var networks []*suite.Network
			for _, id := range []string{"a", "b"} {
				registry, network := r.another()
				r.register(registry, id, "", false)
				networks = append(networks, network)
			}
			r.told("before", time.Second, "a:1 b:1", "")
			var heals []func()
			for _, network := range networks {
				heals = append(heals, network.Isolate())
				r.told("before the end of a session", 300*time.Millisecond, "a:1 b:1", "")
			}
			r.told("cut off", 20*time.Second, want, "")
			r.told("for more than a minute", time.Minute, "", "no instance of the service orders")
			for _, heal := range heals {
				heal()
			}
			r.told("back", 10*time.Second, "a:1 b:1", "")
		})
	}
}
