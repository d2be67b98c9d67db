// Package discovery is a registry of services: instances register under the name of their
// service, and clients list them, choose one, and are told of changes. It shares the registry
// with Java Curator's x-discovery.
//
//	type Meta struct{ Zone string }
//	registry, err := discovery.NewServiceDiscovery(client, "/services", discovery.JSON[Meta]())
//	...
//	g.Go(func() error { return framework.Run(ctx, registry) })
//	_, err = registry.Register(ctx, discovery.ServiceInstance[Meta]{Name: "orders", Address: "10.0.0.7", Port: 8080})
//
//	orders, err := registry.Provider("orders", discovery.ProviderConfig[Meta]{})
//	...
//	instance, err := orders.Instance()
//
// # What is not guaranteed
//
// A registered instance need not be reachable, and one that has died stays registered until its
// session ends. Lists are behind the server as package cache says. While the client is cut off,
// a cache keeps its last list, because an old list serves better than none.
//
// An instance is not registered at every moment either. When the session ends, or somebody
// deletes the node, the instance is missing until its node is made again. After the end of a
// session at most 16 instances of a ServiceDiscovery are registered again at a time, and with
// more than a hundred of them each waits for a random time before, so that the servers are not
// flooded.
//
// Two processes that register the same name and id share one node. The one that registers last
// takes the node over, and the other one leaves it alone until it goes.
//
// # Concurrency, contexts and Close
//
// All methods may be called from several goroutines. Caches and providers have a Start and a
// Close of their own; those that a ServiceDiscovery has made are closed with it. A context bounds
// the call that it is given to, and nothing else.
//
// Where type parameters are in the way of options, there are structs whose zero values are the
// defaults.
//
// # Java
//
// The counterpart is org.apache.curator.x.discovery. Differences: Start waits until everything is
// registered, and returns what is wrong; an instance is known by its service and its id, so that
// two services may have the same id; an instance whose node was deleted is registered again at
// once; an Update or a second Register writes the node in place of deleting it; a
// DYNAMIC_SEQUENTIAL instance keeps its number; one instance that cannot be decoded does not
// fail a query. Executors, thread factories and startImmediate are gone.
package discovery
