package discoveryhttp_test

import (
	"context"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/recipes/discovery"
	"github.com/go-curator/curator/recipes/discovery/discoveryhttp"
	"github.com/go-curator/curator/retry"
)

// A server registers, and a client finds it by the host of the URL.
func ExampleNewTransport() {
	ctx := context.Background()
	client, err := framework.NewClient(connectString, retry.ExponentialBackoff(time.Second, 3))
	if err != nil {
		log.Fatal(err)
	}
	if err := client.Start(ctx); err != nil {
		log.Fatal(err)
	}
	defer client.Close(ctx)
	registry, err := discovery.NewServiceDiscovery(client, "/services", discovery.JSON[string]())
	if err != nil {
		log.Fatal(err)
	}
	if err := registry.Start(ctx); err != nil {
		log.Fatal(err)
	}
	defer registry.Close(ctx)

	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, "%s of %s", r.URL.Path, r.Host)
	}))
	defer server.Close()
	address := server.Listener.Addr().(*net.TCPAddr)
	if _, err := registry.Register(ctx, discovery.ServiceInstance[string]{
		Name: "orders", Address: address.IP.String(), Port: address.Port,
	}); err != nil {
		log.Fatal(err)
	}

	orders, err := registry.Provider("orders", discovery.ProviderConfig[string]{})
	if err != nil {
		log.Fatal(err)
	}
	if err := orders.Start(ctx); err != nil {
		log.Fatal(err)
	}
	defer orders.Close(ctx)
	base := http.DefaultTransport.(*http.Transport).Clone()
	base.ResponseHeaderTimeout = 10 * time.Second // so that an instance that hangs is noted
	transport, err := discoveryhttp.NewTransport(base, orders)
	if err != nil {
		log.Fatal(err)
	}
	caller := &http.Client{Transport: transport}
	defer caller.CloseIdleConnections()
	response, err := caller.Get("http://orders/v1/orders/7")
	if err != nil {
		log.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	fmt.Println(string(text), err)
	// Output:
	// /v1/orders/7 of orders <nil>
}
