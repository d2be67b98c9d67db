// Package discovery is a registry of services: instances register under the name of their
// service, and clients list them, choose one, and follow changes. It shares the registry with
// Java Curator's x-discovery.
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
// A registered instance may be unreachable. An instance that has died stays registered until
// its session ends. Lists are behind the server: see package cache. While the client is cut
// off, a cache keeps its last list, because an old list is better than none. When it is the
// servers of a service that are cut off, for longer than their sessions last, the list becomes
// empty although they are well; see [ProviderConfig].EmptyProtection.
//
// An instance may also be missing for a moment. When the session ends, or somebody deletes the
// node, the instance is missing until its node is created again. After the end of a session at
// most 16 instances of a ServiceDiscovery are registered again at the same time. With more than
// a hundred of them each first waits for a random time, so the servers are not flooded.
//
// Two processes that register the same name and id share one node. The process that registers
// last takes the node over, and the other one leaves it alone until it is deleted.
//
// # Concurrency, contexts and Close
//
// All methods may be called from several goroutines. Caches and providers have their own Start and Close, for
// which [WithStartInBackground] counts, too; a ServiceDiscovery also closes the ones that it has made. A
// context bounds only the call that it is given to.
//
// Where type parameters make options impractical, there are structs whose zero values are the
// defaults.
//
// # Java
//
// The counterpart is org.apache.curator.x.discovery. Differences: Start waits until everything is registered,
// and returns errors, also when ZooKeeper is down and the client's retry policy gives up; with
// [WithStartInBackground] it does not wait, as in Java; service and id identify an instance, so two services
// may use the same id; an instance whose node was deleted is registered again; an Update or a second Register
// writes the node instead of deleting it; a DYNAMIC_SEQUENTIAL instance keeps its number; one instance that
// cannot be decoded does not fail a query. There are no executors, thread factories and startImmediate.
package discovery
