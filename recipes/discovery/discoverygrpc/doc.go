// Package discoverygrpc lets gRPC find servers with package discovery. It is a module of its
// own, so programs without gRPC do not depend on gRPC.
//
//	builder, err := discoverygrpc.NewBuilder(registry, discoverygrpc.Config[Meta]{})
//	...
//	conn, err := grpc.NewClient("curator:///orders",
//		grpc.WithResolvers(builder),
//		grpc.WithDefaultServiceConfig(discoverygrpc.ServiceConfig),
//		grpc.WithTransportCredentials(credentials))
//
// The target is curator:///SERVICE, with the name of a service of the registry.
//
// # What it does
//
// The resolver gives the list of instances to gRPC, first the present list and then every
// changed one. gRPC connects, chooses an instance and retries. gRPC's default policy,
// pick_first, uses one instance for all calls of a ClientConn. The policy of [ServiceConfig]
// uses all instances, by their weights.
//
// gRPC gets the enabled instances with an address that [Config].Filter accepts. It watches its
// connections itself: there are no instances that are down for their errors, as in a
// discovery.ServiceProvider.
//
// All ClientConns for one service share one discovery.ServiceProvider, which is closed with the
// last of them. A ClientConn that has been idle for half an hour closes its resolver, and makes
// another one for the next call.
//
// # Errors
//
// Calls fail with codes.Unavailable, or wait if they are grpc.WaitForReady, when the service has no instance
// that can be called, and when its list cannot be loaded, with or without discovery.WithStartInBackground;
// loading is tried again until it succeeds. The message has the reason and the name of the service, except
// when a list becomes empty under round_robin, which has its own message. If a target cannot be a service,
// calls fail.
//
// # What is not guaranteed
//
// While ZooKeeper cannot be reached gRPC keeps the last list, as package discovery does. So an
// instance of the list may have ended; gRPC then cannot connect to it. If it is the servers that
// cannot reach ZooKeeper, their instances go with their sessions, and calls fail although the
// servers are well, unless [Config] has an EmptyProtection.
//
// No call fails if instances end in order: unregister an instance, and end its server with
// GracefulStop. When a server dies, its unanswered calls fail, unless gRPC knows that the
// server has not seen them, or a retry policy of gRPC repeats them.
//
// # Concurrency
//
// A Builder may be used by several ClientConns and goroutines. Close of a ClientConn joins the
// goroutine of its resolver. Close of a service's last ClientConn also closes the list, and
// waits for a second at most if ZooKeeper cannot be reached.
package discoverygrpc
