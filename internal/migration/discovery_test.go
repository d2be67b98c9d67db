package migration_test

import (
	"context"
	"errors"
	"fmt"
	"time"

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

func providers(ctx context.Context, registry *discovery.ServiceDiscovery[string]) error {
	orders, err := registry.Provider("orders", discovery.ProviderConfig[string]{
		Strategy:       discovery.Sticky(discovery.Random[string]()),
		Filter:         func(i discovery.ServiceInstance[string]) bool { return i.Payload == "north" },
		ErrorThreshold: 3,
		DownTime:       30 * time.Second,
	})
	if err != nil {
		return err
	}
	if err := orders.Start(ctx); err != nil {
		return err
	}
	defer orders.Close(ctx)

	instance, err := orders.Instance()
	if err != nil {
		return err
	}
	if err := call(ctx); err != nil {
		orders.NoteError(instance) // the third within 30 s takes it out
		return err
	}
	return nil
}

func serviceCache(ctx context.Context, registry *discovery.ServiceDiscovery[string]) (err error) {
	orders, err := registry.Cache("orders")
	if err != nil {
		return err
	}
	if err := orders.Start(ctx); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, orders.Close(ctx)) }()

	for instances := range orders.Updates(ctx) { // first the present ones, then after each change
		resize(len(instances))
	}
	return nil
}

func queries(ctx context.Context, registry *discovery.ServiceDiscovery[string]) error {
	names, err := registry.QueryForNames(ctx)
	if err != nil {
		return err
	}
	for _, name := range names {
		instances, err := registry.QueryForInstances(ctx, name) // a slice and an error
		if err != nil {
			return err
		}
		fmt.Println(name, len(instances))
	}
	return nil
}

// found has the parts about finding services run with one instance.
func found(ctx context.Context, client *framework.Client) error {
	registry, err := discovery.NewServiceDiscovery(client, "/services", discovery.JSON[string]())
	if err != nil {
		return err
	}
	if _, err := registry.Register(ctx, discovery.ServiceInstance[string]{
		Name: "orders", Address: "10.0.0.7", Port: 8080, Payload: "north",
	}); err != nil {
		return err
	}
	if err := registry.Start(ctx); err != nil {
		return err
	}
	defer registry.Close(ctx)
	if err := errors.Join(providers(ctx, registry), queries(ctx, registry)); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	ended := make(chan error, 1)
	go func() { ended <- serviceCache(ctx, registry) }()
	err = await(ctx, "call", "resize")
	cancel()
	return errors.Join(err, <-ended)
}
