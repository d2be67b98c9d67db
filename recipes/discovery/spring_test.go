package discovery_test

import (
	"context"
	"fmt"
	"log"
	"strings"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/recipes/discovery"
	"github.com/go-curator/curator/retry"
)

// springInstance is the payload of the instances of Spring Cloud ZooKeeper.
type springInstance struct {
	ID       string            `json:"id"`
	Name     string            `json:"name"`
	Metadata map[string]string `json:"metadata"`
}

// springClass is the Java class of the payload.
const springClass = "org.springframework.cloud.zookeeper.discovery.ZookeeperInstance"

// inService tells whether Spring's clients would call an instance, too.
func inService(i discovery.ServiceInstance[springInstance]) bool {
	status := i.Payload.Metadata["instance_status"]
	return status == "" || strings.EqualFold(status, "UP")
}

// springRegistry returns the registry of a fleet that has Spring's default settings.
func springRegistry(client *framework.Client) (*discovery.ServiceDiscovery[springInstance], error) {
	return discovery.NewServiceDiscovery(client, "/services", discovery.JSON[springInstance](discovery.WithPayloadClass(springClass)))
}

// springOrders returns what a server of orders registers.
func springOrders() (discovery.ServiceInstance[springInstance], error) {
	uriSpec, err := discovery.ParseURISpec("{scheme}://{address}:{port}")
	return discovery.ServiceInstance[springInstance]{
		Name:    "orders",
		ID:      "orders-1",
		Address: "10.0.0.7",
		Port:    8080,
		URISpec: uriSpec,
		Payload: springInstance{ID: "orders-1", Name: "orders", Metadata: map[string]string{"instance_status": "UP"}},
	}, err
}

// The bytes are those that Spring Cloud ZooKeeper's applications read. Without a port all of
// Spring's clients of the service would fail, not only those that choose this instance.
func ExampleWithPayloadClass() {
	instance, err := springOrders()
	if err != nil {
		log.Fatal(err)
	}
	data, err := discovery.JSON[springInstance](discovery.WithPayloadClass(springClass)).Encode(instance)
	fmt.Printf("%s\n%v\n", data, err)
	// Output:
	// {"name":"orders","id":"orders-1","address":"10.0.0.7","port":8080,"sslPort":null,"payload":{"@class":"org.springframework.cloud.zookeeper.discovery.ZookeeperInstance","id":"orders-1","name":"orders","metadata":{"instance_status":"UP"}},"registrationTimeUTC":0,"serviceType":"DYNAMIC","uriSpec":{"parts":[{"value":"scheme","variable":true},{"value":"://","variable":false},{"value":"address","variable":true},{"value":":","variable":false},{"value":"port","variable":true}]}}
	// <nil>
}

// A server joins a fleet of Spring Cloud ZooKeeper, and a client avoids instances that are out of
// service, as Spring's clients do. The page docs/spring.md explains it.
func ExampleWithPayloadClass_fleet() {
	ctx := context.Background()
	client, err := framework.NewClient(connectString, retry.ExponentialBackoff(time.Second, 3))
	if err != nil {
		log.Fatal(err)
	}
	if err := client.Start(ctx); err != nil {
		log.Fatal(err)
	}
	defer client.Close(ctx)
	if err := joinSpring(ctx, client); err != nil {
		log.Fatal(err)
	}
	// Output:
	// http://10.0.0.7:8080
	// no instance of the service orders: 1 left out by the filter
}

func joinSpring(ctx context.Context, client *framework.Client) error {
	registry, err := springRegistry(client)
	if err != nil {
		return err
	}
	if err := registry.Start(ctx); err != nil {
		return err
	}
	defer registry.Close(ctx)
	instance, err := springOrders()
	if err != nil {
		return err
	}
	if _, err := registry.Register(ctx, instance); err != nil {
		return err
	}

	orders, err := registry.Provider("orders", discovery.ProviderConfig[springInstance]{Filter: inService})
	if err != nil {
		return err
	}
	if err := orders.Start(ctx); err != nil {
		return err
	}
	chosen, err := orders.Instance()
	if err != nil {
		return err
	}
	fmt.Println(chosen.URI(nil))

	instance.Payload.Metadata = map[string]string{"instance_status": "OUT_OF_SERVICE"}
	if err := registry.Update(ctx, instance); err != nil {
		return err
	}

	for instances := range orders.Updates(ctx) {
		if len(instances) == 0 {
			break
		}
	}
	_, err = orders.Instance()
	fmt.Println(err)
	return nil
}
