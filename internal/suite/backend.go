package suite

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/tools/curatortest"
)

// Tick is the tick of every backend's servers.
const Tick = 200 * time.Millisecond

// SessionTimeout is what a Backend's clients ask for and get.
const SessionTimeout = 2 * time.Second

// Backend is a server to test against.
type Backend struct {
	Name    string
	Virtual bool // time is virtual

	connect string
	dial    dialFunc
	root    string
	server  *curatortest.Server // nil for the real server
}

type dialFunc func(ctx context.Context, network, address string) (net.Conn, error)

var tests atomic.Int64

// realServer is one of the process, which starts with the first test that needs it: a JVM
// for each test would take longer than the tests.
type realServer struct {
	once     sync.Once
	ensemble *curatortest.Ensemble
	err      error
}

// real is what most tests share; reaping has a server of its own for those of EachReaping.
var real, reaping realServer

// reapInterval is how often the servers of EachReaping look for empty containers.
var reapInterval = curatortest.WithContainerCheckInterval(Tick)

// Main is for TestMain: it runs the tests, calls the functions of cleanUp, stops the real
// server if one was started, and fails if a goroutine is left.
func Main(m *testing.M, cleanUp ...func() error) {
	code := m.Run()
	for _, s := range []*realServer{&real, &reaping} {
		if s.ensemble != nil {
			cleanUp = append(cleanUp, s.ensemble.Close)
		}
	}
	for _, f := range cleanUp {
		if err := f(); err != nil {
			fmt.Fprintln(os.Stderr, "suite:", err)
			code = 1
		}
	}
	if err := goleak.Find(); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, "suite:", err)
		code = 1
	}
	os.Exit(code)
}

// Backends are where a test runs. Virtual time is cheap, the others take real time.
type Backends uint8

// The backends.
const (
	InVirtualTime    Backends = 1 << iota // the embedded server, in virtual time
	OnEmbeddedServer                      // the embedded server, over TCP
	OnRealServer
	Everywhere = InVirtualTime | OnEmbeddedServer | OnRealServer
)

// Each runs test on every backend, as a subtest each.
func Each(t *testing.T, test func(t *testing.T, b *Backend)) { EachOf(t, Everywhere, test) }

// EachOf runs test on some backends, as a subtest each.
func EachOf(t *testing.T, on Backends, test func(t *testing.T, b *Backend)) {
	each(t, on, &real, test)
}

// EachReaping is EachOf on servers that remove containers shortly after their last child has
// gone, and not a minute later.
func EachReaping(t *testing.T, on Backends, test func(t *testing.T, b *Backend)) {
	each(t, on, &reaping, test, reapInterval)
}

func each(t *testing.T, on Backends, process *realServer, test func(t *testing.T, b *Backend), opts ...curatortest.Option) {
	opts = append(opts, curatortest.WithTickTime(Tick))
	if on&InVirtualTime != 0 {
		t.Run("virtual", func(t *testing.T) { virtual(t, test, opts...) })
	}
	if on&OnEmbeddedServer != 0 {
		t.Run("embedded", func(t *testing.T) {
			server := curatortest.Start(t, opts...)
			b := newBackend("embedded", server.ConnectString(), new(net.Dialer).DialContext)
			b.server = server
			test(t, b)
		})
	}
	if on&OnRealServer != 0 {
		t.Run("real", func(t *testing.T) { test(t, process.backend(t, opts...)) })
	}
}

// Virtual runs test on the embedded server in virtual time alone.
func Virtual(t *testing.T, test func(t *testing.T, b *Backend)) {
	t.Helper()
	virtual(t, test, curatortest.WithTickTime(Tick))
}

func virtual(t *testing.T, test func(t *testing.T, b *Backend), opts ...curatortest.Option) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		server := curatortest.Start(t, append(opts, curatortest.Virtual())...)
		b := newBackend("virtual", server.ConnectString(), server.DialContext)
		b.server = server
		test(t, b)
	})
}

// Real returns the real server alone.
func Real(t *testing.T) *Backend {
	t.Helper()
	return real.backend(t, curatortest.WithTickTime(Tick))
}

// backend starts the server, with opts, if it does not run yet.
func (s *realServer) backend(t *testing.T, opts ...curatortest.Option) *Backend {
	t.Helper()
	s.once.Do(func() { s.ensemble, s.err = curatortest.NewReal(1, opts...) })
	if errors.Is(s.err, curatortest.ErrNotInstalled) && os.Getenv("CI") != "true" {
		t.Skip(s.err)
	}
	if s.err != nil {
		t.Fatal(s.err)
	}
	return newBackend("real", s.ensemble.ConnectString(), new(net.Dialer).DialContext)
}

func newBackend(name, connect string, dial dialFunc) *Backend {
	return &Backend{
		Name: name, Virtual: name == "virtual", connect: connect, dial: dial,
		root: fmt.Sprintf("/test-%d-%d", os.Getpid(), tests.Add(1)),
	}
}

// ConnectString names the server.
func (b *Backend) ConnectString() string { return b.connect }

// Path returns a path that belongs to this test alone; its parent does not exist yet.
func (b *Backend) Path(name string) string { return b.root + "/" + name }

// Watches returns how many watches the server has for all clients, 0 for the real server,
// which has those of other tests, too.
func (b *Backend) Watches() int {
	if b.server == nil {
		return 0
	}
	return b.server.Watches()
}

// Server returns the embedded server, for faults that a Network cannot make; nil for the real
// server.
func (b *Backend) Server() *curatortest.Server { return b.server }

// Client returns a started client with a network of its own, on which faults can be made.
// See curatortest.Server.Client for how it ends.
func (b *Backend) Client(t *testing.T, opts ...framework.Option) (*framework.Client, *Network) {
	t.Helper()
	return b.ClientAt(t, "", opts...)
}

// ClientAt is Client with a chroot.
func (b *Backend) ClientAt(t *testing.T, chroot string, opts ...framework.Option) (*framework.Client, *Network) {
	t.Helper()
	n := &Network{dial: b.dial}
	opts = append([]framework.Option{
		framework.WithSessionTimeout(SessionTimeout),
		framework.WithDialer(n.Dial),
		framework.WithoutEnsembleTracker(), // its requests would be in the way of faults
		framework.WithDefaultData([]byte("test")),
		framework.WithLogger(slog.New(slog.DiscardHandler)),
	}, opts...)
	return curatortest.NewClient(t, b.connect+chroot, opts...), n
}

// Eventually waits until ok, or fails the test with what was waited for.
func Eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	deadline := time.After(20 * time.Second)
	for !ok() {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("waited in vain: %s", what)
		}
	}
}
