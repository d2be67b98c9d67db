package peers_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/process"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/recipes/discovery"
	"github.com/go-curator/curator/tools/curatortest"
)

// springInstance and springClass are those of docs/spring.md.
type springInstance struct {
	ID       string            `json:"id"`
	Name     string            `json:"name"`
	Metadata map[string]string `json:"metadata"`
}

const springClass = "org.springframework.cloud.zookeeper.discovery.ZookeeperInstance"

// springJars returns the class path of Spring Cloud Zookeeper.
func springJars(t *testing.T) string { return filepath.Join(fetched(t, "spring"), "*") }

// fleet is an application of Spring and a program in Go, which find each other.
type fleet struct {
	t        *testing.T
	registry *discovery.ServiceDiscovery[springInstance]
	orders   *discovery.ServiceProvider[springInstance] // Spring's service
	app      *process.Process
}

// An application of Spring Cloud Zookeeper and a program in Go find and call each other, and each sees that the other
// one is out of service, and that it has ended.
func TestPeerSpring(t *testing.T) {
	t.Parallel()
	classes := t.TempDir()
	compile(t, springJars(t), classes, filepath.Join("testdata", "spring", "app", "Application.java"))
	onServers(t, func(t *testing.T, connect string) {
		f := newFleet(t, connect, classes)
		instance := f.goService()
		const call, listed = "/call/orders-go", "/instances/orders-go"
		f.same("a call from Go", "hello from Spring", f.get("/hello"))

		instance = suite.Got(f.registry.Register(t.Context(), instance)).OK(t)
		f.until("Spring finds the instance in Go", listed, fmt.Sprintf("%s %s {instance_status=UP, zone=north}", instance.ID, instance.URI(nil)))
		f.until("Spring calls Go", call, "hello from Go")
		f.same("services", "orders orders-go", f.get("/services"))

		instance.Payload.Metadata = map[string]string{"instance_status": "OUT_OF_SERVICE", "zone": "north"}
		suite.OK(t, f.registry.Update(t.Context(), instance))
		f.until("Spring leaves out the instance in Go", call, "none")
		instance.Payload.Metadata = map[string]string{"instance_status": "UP"}
		suite.OK(t, f.registry.Update(t.Context(), instance))
		f.until("Spring calls Go again", call, "hello from Go")
		suite.OK(t, f.registry.Unregister(t.Context(), instance.Name, instance.ID))
		f.until("Spring finds it no more", listed, "")

		url := f.url()
		f.same("status", "OUT_OF_SERVICE", f.getFrom(url, "/status/OUT_OF_SERVICE"))
		suite.Eventually(t, "Go leaves out Spring's instance", func() bool { return !f.isThere() })
		f.same("status", "UP", f.getFrom(url, "/status/UP"))
		suite.Eventually(t, "Go has it again", f.isThere)
		f.app.Kill()
		suite.Eventually(t, "Go does not find what has ended", func() bool { return !f.isThere() })
	})
}

func newFleet(t *testing.T, connect, classes string) *fleet {
	t.Helper()
	client := curatortest.NewClient(t, connect, framework.WithSessionTimeout(longSession))
	root := fmt.Sprintf("/services-%d", roots.Add(1))
	registry := suite.Got(discovery.NewServiceDiscovery(client, root, discovery.JSON[springInstance](discovery.WithPayloadClass(springClass)))).OK(t)
	f := &fleet{t: t, registry: registry}
	suite.OK(t, registry.Start(t.Context()))
	f.orders = suite.Got(registry.Provider("orders", discovery.ProviderConfig[springInstance]{Filter: inService})).OK(t)
	suite.OK(t, f.orders.Start(t.Context()))
	t.Cleanup(func() {
		ctx := context.WithoutCancel(t.Context())
		suite.Check(t, f.orders.Close(ctx))
		suite.Check(t, registry.Close(ctx))
	})
	f.app = f.startSpring(connect, root, classes)
	suite.Eventually(t, "Go finds Spring's instance", f.isThere)
	return f
}

// startSpring starts the application, which listens at some port.
func (f *fleet) startSpring(connect, root, classes string) *process.Process {
	f.t.Helper()
	var log suite.Log
	cmd := exec.Command(javaTool("java"), "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xmx256m", "-cp", classes+":"+springJars(f.t), "app.Application",
		"--server.port=0", "--server.address=127.0.0.1", "--spring.application.name=orders", "--spring.cloud.zookeeper.connect-string="+connect,
		"--spring.cloud.zookeeper.discovery.root="+root, "--spring.cloud.zookeeper.discovery.instance-host=127.0.0.1",
		"--spring.cloud.loadbalancer.cache.enabled=false")
	cmd.Stdout, cmd.Stderr = &log, &log
	app, err := process.Start(cmd)
	suite.OK(f.t, err)
	f.t.Cleanup(func() {
		app.Kill()
		if f.t.Failed() {
			f.t.Logf("Spring's log:\n%s", log.String())
		}
	})
	return app
}

// inService tells whether Spring's clients would call an instance, too.
func inService(i discovery.ServiceInstance[springInstance]) bool {
	status := i.Payload.Metadata["instance_status"]
	return status == "" || strings.EqualFold(status, "UP")
}

// isThere tells whether Go would call Spring's instance. It must be as docs/spring.md says.
func (f *fleet) isThere() bool {
	f.t.Helper()
	instances := slices.DeleteFunc(f.orders.Instances(), func(i discovery.ServiceInstance[springInstance]) bool { return !inService(i) })
	if len(instances) == 0 {
		return false
	}
	if i := instances[0]; i.Name != "orders" || i.Address != "127.0.0.1" || i.Port == 0 || i.Payload.Name != "orders" || i.URI(nil) != fmt.Sprintf("http://127.0.0.1:%d", i.Port) {
		f.t.Fatalf("Spring's instance: %+v", i)
	}
	return true
}

// goService starts a server in Go, and returns its instance.
func (f *fleet) goService() discovery.ServiceInstance[springInstance] {
	f.t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "hello from Go") }))
	f.t.Cleanup(server.Close)
	_, text, err := net.SplitHostPort(server.Listener.Addr().String())
	suite.OK(f.t, err)
	port := suite.Got(strconv.Atoi(text)).OK(f.t)
	return discovery.ServiceInstance[springInstance]{
		Name: "orders-go", ID: "orders-go-1", Address: "127.0.0.1", Port: port,
		URISpec: suite.Got(discovery.ParseURISpec("{scheme}://{address}:{port}")).OK(f.t),
		Payload: springInstance{ID: "orders-go-1", Name: "orders-go", Metadata: map[string]string{"instance_status": "UP", "zone": "north"}},
	}
}

// url is that of Spring's instance, as Go finds it.
func (f *fleet) url() string {
	f.t.Helper()
	i := suite.Got(f.orders.Instance()).OK(f.t)
	return i.URI(nil)
}

func (f *fleet) get(path string) string {
	f.t.Helper()
	return f.getFrom(f.url(), path)
}

func (f *fleet) getFrom(url, path string) string {
	f.t.Helper()
	client := http.Client{Timeout: time.Minute}
	defer client.CloseIdleConnections()
	response := suite.Got(client.Get(url + path)).OK(f.t)
	defer response.Body.Close()
	body := suite.Got(io.ReadAll(response.Body)).OK(f.t)
	if response.StatusCode != http.StatusOK {
		f.t.Fatalf("%s: %s: %s", path, response.Status, body)
	}
	return string(body)
}

func (f *fleet) same(what, want, got string) {
	f.t.Helper()
	if want != got {
		f.t.Errorf("%s: %q, want %q", what, got, want)
	}
}

// until waits until the application answers so.
func (f *fleet) until(what, path, want string) {
	f.t.Helper()
	var last string
	defer func() {
		if last != want {
			f.t.Logf("the last answer to %s: %q, want %q", path, last, want)
		}
	}()
	suite.Eventually(f.t, what, func() bool {
		last = f.get(path)
		return last == want
	})
}
