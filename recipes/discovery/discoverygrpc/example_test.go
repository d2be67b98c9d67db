package discoverygrpc_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/recipes/discovery"
	"github.com/go-curator/curator/recipes/discovery/discoverygrpc"
	"github.com/go-curator/curator/retry"
)

// meta is what an instance says of itself.
type meta struct {
	Weight uint32 `json:"weight"`
}

// use uses a connection.
func use(ctx context.Context, conn grpc.ClientConnInterface) error {
	reply, err := healthpb.NewHealthClient(conn).Check(ctx, &healthpb.HealthCheckRequest{}, grpc.WaitForReady(true))
	fmt.Println(reply.GetStatus())
	return err
}

// call is on the page of docs/migration.md.
func call(ctx context.Context, registry *discovery.ServiceDiscovery[meta]) (err error) {
	builder, err := discoverygrpc.NewBuilder(registry, discoverygrpc.Config[meta]{
		Weight: func(i discovery.ServiceInstance[meta]) uint32 { return i.Payload.Weight },
	})
	if err != nil {
		return err
	}
	conn, err := grpc.NewClient("curator:///orders",
		grpc.WithResolvers(builder),
		grpc.WithDefaultServiceConfig(discoverygrpc.ServiceConfig),
		grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()

	return use(ctx, conn)
}

// A server registers, and a client finds it by the name of the service.
func ExampleNewBuilder() {
	ctx := context.Background()
	client, err := framework.NewClient(connectString, retry.ExponentialBackoff(time.Second, 3))
	if err != nil {
		log.Fatal(err)
	}
	if err := client.Start(ctx); err != nil {
		log.Fatal(err)
	}
	defer client.Close(ctx)
	registry, err := discovery.NewServiceDiscovery(client, "/services", discovery.JSON[meta]())
	if err != nil {
		log.Fatal(err)
	}
	if err := registry.Start(ctx); err != nil {
		log.Fatal(err)
	}
	defer registry.Close(ctx)

	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	server := grpc.NewServer()
	healthpb.RegisterHealthServer(server, health.NewServer())
	go server.Serve(listener)
	defer server.Stop()
	if _, err := registry.Register(ctx, discovery.ServiceInstance[meta]{
		Name: "orders", Address: "127.0.0.1", Port: listener.Addr().(*net.TCPAddr).Port, Payload: meta{Weight: 2},
	}); err != nil {
		log.Fatal(err)
	}

	fmt.Println(call(ctx, registry))
	// Output:
	// SERVING
	// <nil>
}
