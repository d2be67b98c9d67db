package migration_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/go-curator/curator/recipes/discovery"
	"github.com/go-curator/curator/recipes/discovery/discoveryhttp"
)

func getOrder(ctx context.Context, registry *discovery.ServiceDiscovery[string]) error {
	orders, err := registry.Provider("orders", discovery.ProviderConfig[string]{})
	if err != nil {
		return err
	}
	if err := orders.Start(ctx); err != nil {
		return err
	}
	defer orders.Close(ctx)

	transport, err := discoveryhttp.NewTransport(nil, orders)
	if err != nil {
		return err
	}
	client := &http.Client{Transport: transport}
	response, err := client.Get("http://orders/v1/orders/7")
	if err != nil {
		return err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	use(text)
	return nil
}

func TestGetOrder(t *testing.T) {
	e := newEnv(t)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, r.Host+r.URL.Path)
	}))
	defer server.Close()
	defer http.DefaultClient.CloseIdleConnections()
	registry, err := discovery.NewServiceDiscovery(e.client, "/services", discovery.JSON[string]())
	if err != nil {
		t.Fatal(err)
	}
	if err := registry.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	address := server.Listener.Addr().(*net.TCPAddr)
	if _, err := registry.Register(t.Context(), discovery.ServiceInstance[string]{
		Name: "orders", Address: address.IP.String(), Port: address.Port,
	}); err != nil {
		t.Fatal(err)
	}
	if err := getOrder(t.Context(), registry); err != nil {
		t.Error(err)
	}
	wantCalls("use orders/v1/orders/7")(e)
	if err := registry.Close(t.Context()); err != nil {
		t.Error(err)
	}
}
