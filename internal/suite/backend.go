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
	watches func() int // nil where the server does not tell
}

type dialFunc func(ctx context.Context, network, address string) (net.Conn, error)

var tests atomic.Int64

// real is the process's real server, which starts with the first test that needs one:
// a JVM for each test would take longer than the tests.
var real struct {
	once     sync.Once
	ensemble *curatortest.Ensemble
	err      error
}

// Main is for TestMain: it runs the tests, calls the functions of cleanUp, stops the real
// server if one was started, and fails if a goroutine is left.
func Main(m *testing.M, cleanUp ...func() error) {
	code := m.Run()
	if real.ensemble != nil {
		cleanUp = append(cleanUp, real.ensemble.Close)
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

// Each runs test on every backend, as a subtest each.
func Each(t *testing.T, test func(t *testing.T, b *Backend)) {
	t.Run("virtual", func(t *testing.T) { Virtual(t, test) })
	t.Run("embedded", func(t *testing.T) {
		server := curatortest.Start(t, curatortest.WithTickTime(Tick))
		b := newBackend("embedded", server.ConnectString(), new(net.Dialer).DialContext)
		b.watches = server.Watches
		test(t, b)
	})
	t.Run("real", func(t *testing.T) {
		test(t, Real(t))
	})
}

// Virtual runs test on the embedded server in virtual time alone.
func Virtual(t *testing.T, test func(t *testing.T, b *Backend)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		server := curatortest.Start(t, curatortest.Virtual(), curatortest.WithTickTime(Tick))
		b := newBackend("virtual", server.ConnectString(), server.DialContext)
		b.watches = server.Watches
		test(t, b)
	})
}

// Real returns the real server alone.
func Real(t *testing.T) *Backend {
	t.Helper()
	real.once.Do(func() {
		real.ensemble, real.err = curatortest.NewReal(1, curatortest.WithTickTime(Tick))
	})
	if errors.Is(real.err, curatortest.ErrNotInstalled) && os.Getenv("CI") != "true" {
		t.Skip(real.err)
	}
	if real.err != nil {
		t.Fatal(real.err)
	}
	return newBackend("real", real.ensemble.ConnectString(), new(net.Dialer).DialContext)
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
	if b.watches == nil {
		return 0
	}
	return b.watches()
}

// Client returns a started client with a network of its own, on which faults can be made.
// See curatortest.Server.Client for how it ends.
func (b *Backend) Client(t *testing.T, opts ...framework.Option) (*framework.Client, *Network) {
	t.Helper()
	n := &Network{dial: b.dial}
	opts = append([]framework.Option{
		framework.WithSessionTimeout(SessionTimeout),
		framework.WithDialer(n.Dial),
		framework.WithoutEnsembleTracker(), // its requests would be in the way of faults
		framework.WithDefaultData([]byte("test")),
		framework.WithLogger(slog.New(slog.DiscardHandler)),
	}, opts...)
	return curatortest.NewClient(t, b.connect, opts...), n
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
