package discovery_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/recipes/discovery"
	"github.com/go-curator/curator/retry"
)

// zone is a payload.
type zone struct {
	Zone string `json:"zone"`
}

// start returns a client of the examples' server, and a registry that is started.
func start(ctx context.Context, basePath string) (*framework.Client, *discovery.ServiceDiscovery[zone]) {
	client, err := framework.NewClient(connectString, retry.ExponentialBackoff(time.Second, 3))
	if err != nil {
		log.Fatal(err)
	}
	if err := client.Start(ctx); err != nil {
		log.Fatal(err)
	}
	registry, err := discovery.NewServiceDiscovery(client, basePath, discovery.JSON[zone](discovery.WithEnabledKey()))
	if err != nil {
		log.Fatal(err)
	}
	if err := registry.Start(ctx); err != nil {
		log.Fatal(err)
	}
	return client, registry
}

func Example() {
	ctx := context.Background()
	client, registry := start(ctx, "/services")
	defer client.Close(ctx)
	defer registry.Close(ctx)

	for port := range 2 {
		_, err := registry.Register(ctx, discovery.ServiceInstance[zone]{
			Name: "orders", ID: fmt.Sprint("orders-", port), Address: "10.0.0.7", Port: 8080 + port, Payload: zone{"north"},
		})
		if err != nil {
			log.Fatal(err)
		}
	}

	orders, err := registry.Provider("orders", discovery.ProviderConfig[zone]{})
	if err != nil {
		log.Fatal(err)
	}
	if err := orders.Start(ctx); err != nil {
		log.Fatal(err)
	}
	defer orders.Close(ctx)
	for range 3 {
		instance, err := orders.Instance()
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(instance.ID, instance.Port, instance.Payload.Zone)
	}
	// Output:
	// orders-0 8080 north
	// orders-1 8081 north
	// orders-0 8080 north
}

// A loop is told of the list as it is, and whenever it changes.
func ExampleServiceCache_Updates() {
	ctx := context.Background()
	client, registry := start(ctx, "/updates")
	defer client.Close(ctx)
	defer registry.Close(ctx)

	bills, err := registry.Cache("bills")
	if err != nil {
		log.Fatal(err)
	}
	if err := bills.Start(ctx); err != nil {
		log.Fatal(err)
	}
	defer bills.Close(ctx)
	for instances := range bills.Updates(ctx) {
		fmt.Println(len(instances))
		if len(instances) > 0 {
			break
		}
		_, err := registry.Register(ctx, discovery.ServiceInstance[zone]{Name: "bills", Address: "10.0.0.7", Port: 8080})
		if err != nil {
			log.Fatal(err)
		}
	}
	// Output:
	// 0
	// 1
}

// An instance that is disabled stays registered, and is not chosen.
func ExampleServiceDiscovery_Update() {
	ctx := context.Background()
	client, registry := start(ctx, "/disabled")
	defer client.Close(ctx)
	defer registry.Close(ctx)

	instance, err := registry.Register(ctx, discovery.ServiceInstance[zone]{Name: "orders", Address: "10.0.0.7", Port: 8080})
	if err != nil {
		log.Fatal(err)
	}
	instance.Disabled = true
	if err := registry.Update(ctx, instance); err != nil {
		log.Fatal(err)
	}
	orders, err := registry.Provider("orders", discovery.ProviderConfig[zone]{})
	if err != nil {
		log.Fatal(err)
	}
	if err := orders.Start(ctx); err != nil {
		log.Fatal(err)
	}
	defer orders.Close(ctx)
	_, err = orders.Instance()
	fmt.Println(errors.Is(err, discovery.ErrNoInstance))
	all, err := registry.QueryForInstances(ctx, "orders")
	fmt.Println(len(all), err)
	// Output:
	// true
	// 1 <nil>
}

// What a service's clients use, from what it has registered.
func ExampleServiceInstance_URI() {
	template, err := discovery.ParseURISpec("{scheme}://{address}:{port}/{version}")
	if err != nil {
		log.Fatal(err)
	}
	instance := discovery.ServiceInstance[zone]{Name: "orders", Address: "10.0.0.7", Port: 8080, URISpec: template}
	fmt.Println(instance.URI(map[string]string{"version": "v1"}))
	// Output:
	// http://10.0.0.7:8080/v1
}

// A strategy of one's own prefers the instances of a zone.
func ExampleStrategy() {
	inZone := nearest{zone: "north", inner: discovery.RoundRobin[zone]()}
	from := []discovery.ServiceInstance[zone]{
		{ID: "a", Payload: zone{"south"}}, {ID: "b", Payload: zone{"north"}}, {ID: "c", Payload: zone{"north"}},
	}
	for range 3 {
		fmt.Println(inZone.Pick(from).ID)
	}
	// Output:
	// b
	// c
	// b
}

type nearest struct {
	zone  string
	inner discovery.Strategy[zone]
}

func (s nearest) Pick(instances []discovery.ServiceInstance[zone]) discovery.ServiceInstance[zone] {
	var near []discovery.ServiceInstance[zone]
	for _, i := range instances {
		if i.Payload.Zone == s.zone {
			near = append(near, i)
		}
	}
	if near == nil {
		near = instances
	}
	return s.inner.Pick(near)
}
