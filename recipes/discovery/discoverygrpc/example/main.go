// Command example offers a gRPC service by service discovery, and calls it. The service is gRPC's
// own health check. Run "serve" in several terminals and "call" in another one:
//
//	go run ./example -connect localhost:2181 serve
//	go run ./example -connect localhost:2181 call
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"syscall"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/peer"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/recipes/discovery"
	"github.com/go-curator/curator/recipes/discovery/discoverygrpc"
	"github.com/go-curator/curator/retry"
)

// meta is what an instance says of itself.
type meta struct {
	Weight uint32 `json:"weight"`
}

type registry = discovery.ServiceDiscovery[meta]

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "example:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out io.Writer) (err error) {
	flags := flag.NewFlagSet("example", flag.ContinueOnError)
	flags.SetOutput(out)
	connect := flags.String("connect", "localhost:2181", "the ZooKeeper servers")
	service := flags.String("service", "health", "the name of the service")
	weight := flags.Uint("weight", 1, "serve: the share of the calls")
	calls := flags.Int("n", 10, "call: how many calls")
	if err := flags.Parse(args); err != nil {
		return err
	}
	client, err := framework.NewClient(*connect, retry.ExponentialBackoff(time.Second, 3))
	if err != nil {
		return err
	}
	if err := client.Start(ctx); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, client.Close(ctx)) }()
	r, err := discovery.NewServiceDiscovery(client, "/services", discovery.JSON[meta]())
	if err != nil {
		return err
	}
	if err := r.Start(ctx); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close(ctx)) }()
	switch command := flags.Arg(0); command {
	case "serve":
		return serve(ctx, r, *service, meta{uint32(*weight)}, out)
	case "call":
		return call(ctx, r, *service, *calls, out)
	default:
		return fmt.Errorf("%q is no command: say serve or call, behind the flags", command)
	}
}

// serve registers a server until ctx ends.
func serve(ctx context.Context, r *registry, service string, m meta, out io.Writer) error {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	server := grpc.NewServer()
	healthpb.RegisterHealthServer(server, health.NewServer())
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	instance, err := r.Register(ctx, discovery.ServiceInstance[meta]{
		Name: service, Address: "127.0.0.1", Port: listener.Addr().(*net.TCPAddr).Port, Payload: m,
	})
	if err != nil {
		server.Stop()
		return errors.Join(err, <-served)
	}
	if _, err := fmt.Fprintf(out, "serving %s at %s\n", service, listener.Addr()); err != nil {
		server.Stop()
		return errors.Join(err, r.Unregister(ctx, instance.Name, instance.ID), <-served)
	}
	select {
	case err := <-served:
		return err
	case <-ctx.Done():
	}
	err = r.Unregister(ctx, instance.Name, instance.ID) // it works although ctx has ended
	server.GracefulStop()
	return errors.Join(err, <-served)
}

// call calls the service n times.
func call(ctx context.Context, r *registry, service string, n int, out io.Writer) (err error) {
	builder, err := discoverygrpc.NewBuilder(r, discoverygrpc.Config[meta]{
		Weight: func(i discovery.ServiceInstance[meta]) uint32 { return i.Payload.Weight },
	})
	if err != nil {
		return err
	}
	conn, err := grpc.NewClient("curator:///"+service,
		grpc.WithResolvers(builder),
		grpc.WithDefaultServiceConfig(discoverygrpc.ServiceConfig),
		grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	for range n {
		var server peer.Peer
		reply, err := healthpb.NewHealthClient(conn).Check(ctx, &healthpb.HealthCheckRequest{}, grpc.Peer(&server))
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintf(out, "%s from %s\n", reply.GetStatus(), server.Addr); err != nil {
			return err
		}
	}
	return nil
}
