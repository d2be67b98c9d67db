// Package discoverygrpc has gRPC find its servers by package discovery. It is a module of its
// own, so that programs without gRPC do not depend on it.
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
// The resolver hands the list of instances to gRPC, at once and whenever it changes. Connecting,
// choosing an instance and trying again are gRPC's. gRPC's own default, pick_first, uses one
// instance for all calls of a ClientConn. The policy of [ServiceConfig] uses all of them, by their
// weights.
//
// All ClientConns for one service share one discovery.ServiceCache, which is closed with the last
// of them. A ClientConn that has been idle for half an hour closes its resolver, and makes
// another one for the next call.
//
// # Errors
//
// Calls fail with codes.Unavailable, or wait if they are grpc.WaitForReady, when the service has
// no instance that can be called, and when its list cannot be loaded; loading is tried again until
// it succeeds. The message says what is wrong and names the service. The exception is a list that
// has become empty under round_robin, which has a message of its own for that. A target that
// cannot be a service fails the calls.
//
// # What is not guaranteed
//
// While ZooKeeper cannot be reached gRPC keeps the last list, as package discovery does: a list
// that may be old serves better than none. So an instance of the list may be gone; gRPC then finds
// that it cannot connect to it.
//
// No call fails because instances come and go if they go in order: unregister an instance, and end
// its server by GracefulStop. When a server dies, the calls that it was to answer fail, unless gRPC
// knows that it has not seen them, or a retry policy of gRPC repeats them.
//
// # Concurrency
//
// A Builder may be used by several ClientConns and goroutines. Close of a ClientConn joins the
// goroutine of its resolver. The last one of a service closes the list, and waits for a second at
// most if ZooKeeper cannot be reached.
package discoverygrpc
