package interop_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/recipes/discovery"
)

type serviceInstance = discovery.ServiceInstance[string]

// sharedRegistry is a registry that both languages use, in Go by a client of its own.
type sharedRegistry struct {
	*env
	java     *javaContender
	client   *framework.Client
	network  *suite.Network
	registry *discovery.ServiceDiscovery[string]
}

func newSharedRegistry(t *testing.T) *sharedRegistry {
	t.Helper()
	r := &sharedRegistry{env: newEnv(t)}
	r.path = r.b.Path("services")
	r.java = r.newJava(r.jvm)
	r.client, r.network = r.b.Client(t)
	registry, err := discovery.NewServiceDiscovery(r.client, r.path, discovery.JSON[string](discovery.WithEnabledKey()))
	r.must(err)
	r.must(registry.Start(t.Context()))
	r.registry = registry
	return r
}

func (r *sharedRegistry) must(err error) {
	r.t.Helper()
	if err != nil {
		r.t.Fatal(err)
	}
}

// ask has the Java client do something with the registry.
func (r *sharedRegistry) ask(command string, words ...any) string {
	r.t.Helper()
	return r.java.do(append([]any{"discovery" + command, r.path}, words...)...)
}

// register has a client of a language register an instance, which is the same in both.
func (r *sharedRegistry) register(language rune, service, id, payload string, kind discovery.ServiceType) {
	r.t.Helper()
	if language == 'J' {
		r.ask("Register", service, id, 8080, payload, kind)
		return
	}
	_, err := r.registry.Register(r.t.Context(), r.instance(service, id, payload, kind))
	r.must(err)
}

func (r *sharedRegistry) instance(service, id, payload string, kind discovery.ServiceType) serviceInstance {
	r.t.Helper()
	spec, err := discovery.ParseURISpec("{scheme}://{address}:{port}")
	r.must(err)
	return serviceInstance{
		Name: service, ID: id, Address: "10.0.0.7", Port: 8080, Payload: payload, Registered: time.UnixMilli(1), Type: kind, URISpec: spec,
	}
}

// goText is how testdata/Discoveries.java lists instances.
func goText(instances []serviceInstance) string {
	var lines []string
	for _, i := range instances {
		enabled := ",true"
		if i.Disabled {
			enabled = ",false"
		}
		lines = append(lines, i.ID+"="+i.URI(nil)+","+i.Payload+","+i.Type.String()+enabled)
	}
	slices.Sort(lines)
	return strings.Join(lines, " ")
}

// agree waits until both languages list these instances of orders, by a query, a cache and a
// provider each.
func (r *sharedRegistry) agree(c *discovery.ServiceCache[string], p *discovery.ServiceProvider[string], want ...string) {
	r.t.Helper()
	views := map[string]func() string{
		"Java's query":    func() string { return r.ask("Query", "orders") },
		"Java's cache":    func() string { return r.ask("Cached", "orders") },
		"Java's provider": func() string { return r.ask("Provided", "orders") },
		"Go's query": func() string {
			instances, err := r.registry.QueryForInstances(r.t.Context(), "orders")
			r.must(err)
			return goText(instances)
		},
		"Go's cache":    func() string { return goText(c.Instances()) },
		"Go's provider": func() string { return goText(p.Instances()) },
	}
	for name, view := range views {
		wanted := slices.Clone(want)
		if strings.HasSuffix(name, "provider") {
			wanted = slices.DeleteFunc(wanted, func(line string) bool { return strings.HasSuffix(line, ",false") })
		}
		got := ""
		suite.Eventually(r.t, name+" with "+strings.Join(wanted, " "), func() bool {
			if now := view(); now != got {
				got = now
				r.t.Logf("%s: %s", name, got)
			}
			return got == strings.Join(wanted, " ")
		})
	}
}

// What one language registers, updates and unregisters the other sees, in queries, caches and
// providers.
func TestDiscovery(t *testing.T) {
	t.Parallel()
	r := newSharedRegistry(t)
	ctx := t.Context()
	c, err := r.registry.Cache("orders")
	r.must(err)
	r.must(c.Start(ctx))
	p, err := r.registry.Provider("orders", discovery.ProviderConfig[string]{})
	r.must(err)
	r.must(p.Start(ctx))
	r.ask("Watch", "orders")
	const uri = "=http://10.0.0.7:8080,"

	for _, language := range "JG" {
		id := string(language)
		r.register(language, "orders", id, "x", discovery.Dynamic)
		r.register(language, "bills", id, "other", discovery.Static)
	}
	r.agree(c, p, "G"+uri+"x,DYNAMIC,true", "J"+uri+"x,DYNAMIC,true")
	java, ours := r.look(r.path+"/orders/J"), r.look(r.path+"/orders/G")
	if got, want := strings.ReplaceAll(string(ours.Data), `"G"`, `"J"`), string(java.Data); got != want {
		t.Errorf("Go has written %s, Java %s", got, want)
	}
	if names := r.ask("Names"); names != "bills orders" {
		t.Errorf("Java lists the services %s", names)
	}

	r.ask("Update", "orders", "J", 8080, "y", discovery.Dynamic)
	disabled := r.instance("orders", "G", "z", discovery.Dynamic)
	disabled.Disabled = true
	r.must(r.registry.Update(ctx, disabled))
	r.agree(c, p, "G"+uri+"z,DYNAMIC,false", "J"+uri+"y,DYNAMIC,true")

	r.network.Expire(t) // Go's
	r.agree(c, p, "G"+uri+"z,DYNAMIC,false", "J"+uri+"y,DYNAMIC,true")

	r.ask("Unregister", "orders", "J")
	r.must(r.registry.Unregister(ctx, "orders", "G"))
	for _, language := range "JG" {
		r.register(language, "orders", "s", string(language), discovery.DynamicSequential)
	}
	r.agree(c, p, "s"+uri+"G,DYNAMIC_SEQUENTIAL,true", "s"+uri+"J,DYNAMIC_SEQUENTIAL,true")
	if one := r.ask("One", "orders", "s0000000000"); one != "" {
		t.Errorf("Java finds %s under the wrong number", one)
	}
	r.must(r.registry.Close(ctx))
	r.ask("Close", "orders")
	// Java deletes the node without the number, and leaves its own until the end of the session.
	names, err := r.observer.GetChildren().ForPath(ctx, r.path+"/orders")
	if err != nil || len(names) != 1 || r.look(r.path+"/orders/"+names[0]).Stat.EphemeralOwner != r.java.session() {
		t.Errorf("left %q, %v", names, err)
	}
}

// Names of services may have slashes, as in Spring Cloud; each language finds what the other has
// registered.
func TestDiscoverySlashes(t *testing.T) {
	t.Parallel()
	r := newSharedRegistry(t)
	const uri = "=http://10.0.0.7:8080,"
	for _, service := range []string{"shop/orders", "/shop/bills"} {
		r.register('J', service, "J", "x", discovery.Dynamic)
		r.register('G', service, "G", "x", discovery.Dynamic)
		want := "G" + uri + "x,DYNAMIC,true J" + uri + "x,DYNAMIC,true"
		instances, err := r.registry.QueryForInstances(t.Context(), service)
		r.must(err)
		if java, ours := r.ask("Query", service), goText(instances); java != want || ours != want {
			t.Errorf("%s: Java finds %s, Go %s", service, java, ours)
		}
		r.look(r.path + "/" + strings.TrimPrefix(service, "/") + "/G")
	}
	r.must(r.registry.Close(t.Context()))
	r.ask("Close", "shop/orders")
}

// A process that registers under the id of one of the other language has the node. When it goes,
// Go registers its own again.
func TestDiscoveryTakeover(t *testing.T) {
	t.Parallel()
	r := newSharedRegistry(t)
	r.register('J', "orders", "a", "java", discovery.Dynamic)
	r.register('G', "orders", "a", "go", discovery.Dynamic)
	if stat := r.look(r.path + "/orders/a").Stat; stat.EphemeralOwner != r.client.SessionID() {
		t.Error("Go has not taken the node over")
	}
	// Java deletes the node and creates its own. If Go has registered again in between, Java tries that once
	// more, and then gives up without saying so: its user has to register again.
	suite.Eventually(t, "Java's node", func() bool {
		if !strings.Contains(string(r.lookIf(r.path+"/orders/a").Data), "java-again") {
			r.register('J', "orders", "a", "java-again", discovery.Dynamic)
		}
		return strings.Contains(string(r.lookIf(r.path+"/orders/a").Data), "java-again")
	})
	r.ask("Unregister", "orders", "a")
	suite.Eventually(t, "Go's node", func() bool {
		seen := r.lookIf(r.path + "/orders/a")
		return seen.Stat.EphemeralOwner == r.client.SessionID() && strings.Contains(string(seen.Data), `"go"`)
	})
	r.must(r.registry.Close(t.Context()))
	r.ask("Close", "orders")
}
