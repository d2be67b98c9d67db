package migration_test

import (
	"context"
	"errors"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/recipes/discovery"
)

func services(ctx context.Context, client *framework.Client) error {
	registry, err := discovery.NewServiceDiscovery(client, "/services", discovery.JSON[string]())
	if err != nil {
		return err
	}
	if err := registry.Start(ctx); err != nil {
		return err
	}
	defer registry.Close(ctx)
	_, err = registry.Register(ctx, discovery.ServiceInstance[string]{
		Name: "orders", Address: "10.0.0.7", Port: 8080, Payload: "north",
	})
	if err != nil {
		return err
	}

	orders, err := registry.Provider("orders", discovery.ProviderConfig[string]{})
	if err != nil {
		return err
	}
	if err := orders.Start(ctx); err != nil {
		return err
	}
	instance, err := orders.Instance()
	if errors.Is(err, discovery.ErrNoInstance) {
		return busy()
	}
	if err != nil {
		return err
	}
	use([]byte(instance.Payload))
	return nil
}
