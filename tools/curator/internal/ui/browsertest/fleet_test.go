package browsertest

import (
	"context"
	"encoding/binary"
	"fmt"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/tools/curator/internal/ui"
	"github.com/go-curator/curator/tools/curator/internal/ui/follow"
	"github.com/go-curator/curator/tools/curatortest"
)

// fleet is a server, its clients, and the page.
type fleet struct {
	t       *testing.T
	server  *curatortest.Server
	clients map[string]*framework.Client
	address string // of the page, without the secret
	secret  string
	stop    func() // stops the page's server

	mu  sync.Mutex
	log []string
}

// sessionTimeout is longer than a busy machine stands still.
const sessionTimeout = 12 * time.Second

// newFleet starts a server and the page. change modifies the configuration of the page, and opts that of the server.
func newFleet(t *testing.T, change func(cfg *ui.Config), opts ...curatortest.Option) *fleet {
	t.Helper()
	opts = append(opts, curatortest.WithTickTime(200*time.Millisecond), curatortest.WithSessionTimeouts(time.Second, sessionTimeout))
	f := &fleet{t: t, server: curatortest.Start(t, opts...), clients: map[string]*framework.Client{}, secret: ui.NewSecret()}
	cfg := ui.Config{
		Config: follow.Config{
			Client: f.client("page"), Root: "/", Servers: []string{f.server.ConnectString()},
			Dial: func(ctx context.Context, address string) (net.Conn, error) {
				return f.server.DialContext(ctx, "tcp", address)
			},
		},
		Secret: f.secret, Log: f.note,
	}
	if change != nil {
		change(&cfg)
	}
	f.serve(cfg, "127.0.0.1:0")
	return f
}

// serve starts the page at an address.
func (f *fleet) serve(cfg ui.Config, address string) {
	f.t.Helper()
	server, err := ui.New(cfg)
	if err != nil {
		f.t.Fatal(err)
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		f.t.Fatal(err)
	}
	f.address = "http://" + listener.Addr().String() + "/"
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() {
		if err := server.Serve(ctx, listener); err != nil {
			f.t.Error(err)
		}
	})
	f.stop = sync.OnceFunc(func() {
		cancel()
		wg.Wait()
	})
	f.t.Cleanup(f.stop)
}

func (f *fleet) note(format string, args ...any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.log = append(f.log, fmt.Sprintf(format, args...))
}

// client returns the client with a name. The name is the label of its locks.
func (f *fleet) client(name string) *framework.Client {
	if f.clients[name] == nil {
		f.clients[name] = f.server.Client(f.t, framework.WithOwnerLabel(name), framework.WithSessionTimeout(sessionTimeout))
	}
	return f.clients[name]
}

// contender creates a node of a recipe, as a client of the recipe does. The server adds a number to
// path.
func (f *fleet) contender(owner, path string) string {
	f.t.Helper()
	data := fmt.Sprintf("10.0.0.%d\nowner=%s\nhost=web-%d\npid=%d", len(owner), owner, len(owner), 1000+37*len(owner))
	return f.create(owner, path, data, framework.EphemeralSequential)
}

// create creates a node, and its parents.
func (f *fleet) create(owner, path, data string, mode framework.CreateMode) string {
	f.t.Helper()
	create := f.client(owner).Create().CreatingParentsIfNeeded()
	if mode == framework.Persistent || mode == framework.Ephemeral {
		create = create.Idempotent() // the client may not know yet that its connection has ended
	}
	made, err := create.WithMode(mode).WithData([]byte(data)).ForPath(f.t.Context(), path)
	if err != nil {
		f.t.Fatal(err)
	}
	return made
}

// remove deletes a node.
func (f *fleet) remove(path string) {
	f.t.Helper()
	if err := f.client("page").Delete().ForPath(f.t.Context(), path); err != nil {
		f.t.Fatal(err)
	}
}

// fill creates a recipe of each kind.
func (f *fleet) fill() {
	for _, owner := range []string{"orders-api", "billing", "invoices", "mailer"} {
		f.contender(owner, "/locks/orders/_c_5f3e0000-0000-4000-8000-000000000000-lock-")
	}
	f.contender("reports", "/locks/reports/_c_5f3e0000-0000-4000-8000-000000000000-lock-")
	for _, node := range []string{"__READ__", "__READ__", "__WRIT__", "__READ__"} {
		f.contender("catalog-"+node[2:6], "/locks/catalog/_c_5f3e0000-0000-4000-8000-000000000000-"+node)
	}
	f.create("scheduler-1", "/leaders/scheduler/_c_5f3e0000-0000-4000-8000-000000000000-latch-", "scheduler-1", framework.EphemeralSequential)
	f.create("scheduler-2", "/leaders/scheduler/_c_5f3e0000-0000-4000-8000-000000000000-latch-", "scheduler-2", framework.EphemeralSequential)
	f.contender("transcoder-1", "/limits/transcode/leases/_c_5f3e0000-0000-4000-8000-000000000000-lease-")
	f.contender("transcoder-2", "/limits/transcode/leases/_c_5f3e0000-0000-4000-8000-000000000000-lease-")
	f.contender("transcoder-3", "/limits/transcode/locks/_c_5f3e0000-0000-4000-8000-000000000000-lock-")
	f.contender("transcoder-3", "/limits/transcode/leases/_c_5f3e0000-0000-4000-8000-000000000000-lease-")
	for range 7 {
		f.create("orders-api", "/queues/mail/queue-", "\x00\x01\x00\x01\x01\x00\x00\x00\x01a\x02", framework.PersistentSequential)
	}
	f.create("orders-api", "/barriers/release", "10.0.0.7", framework.Persistent)
	f.create("worker-1", "/rounds/nightly/53345f98-9423-4e0c-a7b5-9f819e3ec2e1", "10.0.0.7", framework.Ephemeral)
	f.create("worker-2", "/rounds/nightly/63345f98-9423-4e0c-a7b5-9f819e3ec2e2", "10.0.0.8", framework.Ephemeral)
	for i := range 5 {
		f.create("worker-1", fmt.Sprintf("/groups/workers/worker-%d", i+1), "10.0.0.7", framework.Ephemeral)
	}
	for i := range 3 {
		f.create("web", fmt.Sprintf("/services/web/i%d", i+1), fmt.Sprintf(
			`{"name":"web","id":"i%d","address":"10.0.0.%d","port":8080,"sslPort":null,"payload":null,"registrationTimeUTC":1325129459728,"serviceType":"DYNAMIC","uriSpec":null}`, i+1, i+11), framework.Ephemeral)
	}
	f.create("web", "/counters/limit", string(binary.BigEndian.AppendUint32(nil, 20)), framework.Persistent)
	f.create("web", "/counters/orders", string(binary.BigEndian.AppendUint64(nil, 1234567)), framework.Persistent)
	f.create("web", "/config/app", `{"limit": 20, "serial": 9007199254740993, "hosts": ["zk1", "zk2"]}`, framework.Persistent)
}

// open opens a view of the page, such as recipes, in a browser that is signed in.
func (f *fleet) open(width, height int64, view string) *tab {
	f.t.Helper()
	b := newTab(f.t, width, height)
	b.goTo(f.address + "#secret=" + f.secret)
	b.until(`location.hash === '#/recipes' && document.querySelector('.dot.live') !== null`)
	b.show(view)
	return b
}
