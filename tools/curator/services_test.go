//go:build unix

package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/go-curator/curator/recipes/discovery"
	"github.com/go-curator/curator/tools/curator/internal/output"
	"github.com/go-curator/curator/tools/curator/internal/view"
)

func TestServices(t *testing.T) {
	t.Parallel()
	s := newEmbeddedServer(t)
	s.ask(1, "services", "/services")
	s.ask(64, "services")
	registry, err := discovery.NewServiceDiscovery(s.client, "/services", discovery.JSON[map[string]string]())
	if err != nil {
		t.Fatal(err)
	}
	if err := registry.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer registry.Close(t.Context())
	if _, err := registry.Register(t.Context(), discovery.ServiceInstance[map[string]string]{
		Name: "orders", ID: "orders-1", Address: "10.0.0.7", Port: 8080, Payload: map[string]string{"zone": "a\u202e"},
	}); err != nil {
		t.Fatal(err)
	}
	s.create("/services/orders/java", `{"name":"orders","id":"java","address":"10.0.0.8","port":null,"sslPort":8443,"payload":null,`+
		`"registrationTimeUTC":1325129459728,"serviceType":"STATIC","uriSpec":{"parts":[{"value":"https://","variable":false},{"value":"address","variable":true}]},"enabled":false}`)
	s.create("/services/orders/x", "\x1b[2J")
	s.create("/services/idle", "")

	var view struct{ Services []view.Service }
	stdout, _ := s.ask(0, "services", "-o", "json", "/services")
	if err := json.Unmarshal([]byte(stdout), &view); err != nil || len(view.Services) != 2 || len(view.Services[1].Instances) != 3 || len(view.Services[0].Instances) != 0 {
		t.Fatalf("%v: %s", err, stdout)
	}
	java, ours, bad := view.Services[1].Instances[0], view.Services[1].Instances[1], view.Services[1].Instances[2]
	if java.ID != "java" || java.Port != 0 || java.SSLPort != 8443 || java.Enabled || java.Type != "STATIC" || java.URI != "https://10.0.0.8" || java.Session != "0x0" || java.Payload != nil {
		t.Errorf("%+v", java)
	}
	if ours.ID != "orders-1" || ours.Port != 8080 || !ours.Enabled || ours.Session != output.Hex(s.client.SessionID()) || !strings.Contains(string(ours.Payload), "zone") {
		t.Errorf("%+v", ours)
	}
	if bad.Node != "/services/orders/x" || bad.Error == "" {
		t.Errorf("%+v", bad)
	}
	for _, format := range []string{"table", "json", "yaml"} {
		stdout, _ := s.ask(0, "services", "-o", format, "/services")
		if strings.ContainsAny(stdout, "\x1b\u202e") || !strings.Contains(stdout, "STATIC") {
			t.Errorf("%s: stdout %q", format, stdout)
		}
	}
}

// However deep the payload of an instance is, the output is not much longer than the payload. Indented at
// each level, 48 kB would be 192 MB.
func TestServicesWithADeepPayload(t *testing.T) {
	t.Parallel()
	s := newEmbeddedServer(t)
	const depth = 2000
	payload := strings.Repeat(`{"a":[1,`, depth) + "2" + strings.Repeat("]}", depth)
	data := `{"name":"orders","id":"orders-1","address":"10.0.0.7","port":null,"sslPort":null,"payload":` + payload +
		`,"registrationTimeUTC":1325129459728,"serviceType":"STATIC","uriSpec":null,"enabled":true}`
	s.create("/services/orders/orders-1", data)
	for _, format := range []string{"json", "yaml"} {
		stdout, _ := s.ask(0, "services", "-o", format, "/services")
		if len(stdout) > 4*len(data)+64<<10 {
			t.Errorf("%s: %d bytes for %d bytes of data", format, len(stdout), len(data))
		}
		if strings.Count(stdout, "1") < depth {
			t.Errorf("%s: the payload is not complete", format)
		}
	}
}
