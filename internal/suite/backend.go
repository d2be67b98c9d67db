// Package suite runs tests of behaviour on every backend: the embedded server in virtual time,
// the embedded server over TCP, and a real ZooKeeper server. It is for tests only. With go test
// -short it uses only virtual time.
//
// Faults are made on the client's side of the connection, by a [Network] that reads the frames,
// so each backend can have the same fault.
package suite

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"os"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/tools/curatortest"
)

// Tick is the tick of every backend's servers.
const Tick = 200 * time.Millisecond

// SessionTimeout is what a Backend's clients ask for and get in virtual time.
const SessionTimeout = 2 * time.Second

// LongSession is the longest session timeout that every backend's servers grant: for clients that are to outlive the
// pauses of a busy machine, which can be of several seconds.
const LongSession = 12 * time.Second

// Backend is a server to test against.
type Backend struct {
	Name    string
	Virtual bool // time is virtual

	connect string
	dial    dialFunc
	root    string
	server  *curatortest.Server // nil for the real server
	keeper  bool                // it does as ClickHouse Keeper
}

// OnlyReal names the variable of the environment that, unless it is empty, leaves out the other backends of the
// tests that have a real one.
const OnlyReal = "CURATOR_TEST_REAL_ONLY"

var tests atomic.Int64

// The names of the real servers of Each, of EachReaping and of EachReapingUnused.
const (
	plain         = "plain"
	reaping       = "reaping"
	reapingUnused = "reaping unused"
)

// soonReaping has servers look for empty containers at every tick.
var soonReaping = curatortest.WithContainerCheckInterval(Tick)

// serverOptions returns the options of every backend's servers, and then opts. They practically never look for empty
// containers, because a test that counts requests, gives the next one a fate, or looks into a lock that is free
// would fail by chance.
func serverOptions(opts ...curatortest.Option) []curatortest.Option {
	return append([]curatortest.Option{
		curatortest.WithTickTime(Tick),
		curatortest.WithSessionTimeouts(2*Tick, LongSession),
		curatortest.WithContainerCheckInterval(24 * time.Hour),
	}, opts...)
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

// EachOf runs test on some backends, as a subtest each. With go test -short it leaves out those that
// take real time. Nodes of mode Container stay when they are empty; see EachReaping.
func EachOf(t *testing.T, on Backends, test func(t *testing.T, b *Backend)) {
	each(t, on, plain, test)
}

// EachReaping is EachOf on servers that remove containers shortly after their last child has
// gone.
func EachReaping(t *testing.T, on Backends, test func(t *testing.T, b *Backend)) {
	each(t, on, reaping, test, soonReaping)
}

// EachReapingUnused is EachReaping on servers that also remove containers that never had a child,
// shortly after they were made. ZooKeeper does so since 3.6, if it is told to. Real servers look less often, because a busy
// client may need a tick to create a node in a container that it has just made.
func EachReapingUnused(t *testing.T, on Backends, test func(t *testing.T, b *Backend)) {
	on = chosen(on)
	unused := curatortest.WithContainerMaxNeverUsed(time.Millisecond)
	each(t, on&^OnRealServer, reapingUnused, test, soonReaping, unused)
	each(t, on&OnRealServer, reapingUnused, test, curatortest.WithContainerCheckInterval(3*Tick), unused)
}

// chosen returns those of backends on which this run tests.
func chosen(on Backends) Backends {
	if testing.Short() || asKeeper() {
		on &= InVirtualTime
	}
	if on&OnRealServer != 0 && os.Getenv(OnlyReal) != "" {
		on = OnRealServer
	}
	return on
}

func each(t *testing.T, on Backends, server string, test func(t *testing.T, b *Backend), opts ...curatortest.Option) {
	on = chosen(on)
	if on&InVirtualTime != 0 {
		t.Run("virtual", func(t *testing.T) { virtual(t, test, opts...) })
	}
	if on&OnEmbeddedServer != 0 {
		t.Run("embedded", func(t *testing.T) {
			server := curatortest.Start(t, serverOptions(opts...)...)
			b := newBackend("embedded", server.ConnectString(), new(net.Dialer).DialContext)
			b.server = server
			test(t, b)
		})
	}
	if on&OnRealServer != 0 {
		t.Run("real", func(t *testing.T) { test(t, RealWith(t, server, opts...)) })
	}
}

// EachRelease is EachOf, and also runs test in virtual time on the embedded server as the newest release that it follows:
// where exists needs the permission to read, as on those since 3.8.4 and 3.9.2.
func EachRelease(t *testing.T, on Backends, test func(t *testing.T, b *Backend)) {
	EachOf(t, on, test)
	if on&OnRealServer != 0 && os.Getenv(OnlyReal) != "" {
		return
	}
	t.Run("virtual, 3.9", func(t *testing.T) {
		virtual(t, test, curatortest.WithRelease("3.9.5"))
	})
}

// Virtual runs test on the embedded server in virtual time alone.
func Virtual(t *testing.T, test func(t *testing.T, b *Backend)) {
	t.Helper()
	virtual(t, test)
}

func virtual(t *testing.T, test func(t *testing.T, b *Backend), opts ...curatortest.Option) {
	t.Helper()
	virtualOn(t, asKeeper(), test, opts...)
}

func virtualOn(t *testing.T, keeper bool, test func(t *testing.T, b *Backend), opts ...curatortest.Option) {
	t.Helper()
	if keeper {
		opts = append(opts, curatortest.WithKeeper())
	}
	synctest.Test(t, func(t *testing.T) {
		server := curatortest.Start(t, serverOptions(append(opts, curatortest.Virtual())...)...)
		b := newBackend("virtual", server.ConnectString(), server.DialContext)
		b.server, b.keeper = server, keeper
		test(t, b)
	})
}

// Real returns the real server alone.
func Real(t *testing.T) *Backend {
	t.Helper()
	return RealWith(t, plain)
}

// RealReaping is Real on the server of EachReaping.
func RealReaping(t *testing.T) *Backend {
	t.Helper()
	return RealWith(t, reaping, soonReaping)
}

// RealWith returns a real server that all tests of the process that give the same name share. The
// first of them starts it with its options; unless they say otherwise, containers stay when they are
// empty. The tests must not break it.
func RealWith(t *testing.T, name string, opts ...curatortest.Option) *Backend {
	t.Helper()
	return newBackend("real", realServers.start(t, name, serverOptions(opts...)...).ConnectString(), new(net.Dialer).DialContext)
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

// WatchesLeft is Watches, or 0 on a Keeper, which knows no request to remove them.
func (b *Backend) WatchesLeft() int {
	if b.keeper {
		return 0
	}
	return b.Watches()
}

// Server returns the embedded server, for faults that a Network cannot make; nil for the real
// server.
func (b *Backend) Server() *curatortest.Server { return b.server }

// NeedPersistentWatches ends the test with the server's error if the server has no persistent watches. It is for
// tests that wait for what only they bring, which would wait for ever.
func (b *Backend) NeedPersistentWatches(t *testing.T, client *framework.Client) {
	t.Helper()
	if b.server != nil && !b.keeper {
		return // the embedded server has them
	}
	watcher := framework.NewWatcher(func(context.Context, framework.WatchedEvent) {})
	if err := client.Watches().Add().ForPath(t.Context(), b.root, watcher); err != nil {
		t.Fatal(err)
	}
	if err := client.Watches().Remove().ForPath(t.Context(), b.root, watcher); err != nil {
		t.Fatal(err)
	}
}

// SessionTimeout is what the clients ask for and get: LongSession where time is real.
func (b *Backend) SessionTimeout() time.Duration {
	if b.Virtual {
		return SessionTimeout
	}
	return LongSession
}

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
	if b.keeper {
		n.keeper = &keeperNetwork{t, b.server}
	}
	opts = append([]framework.Option{
		framework.WithSessionTimeout(b.SessionTimeout()),
		framework.WithDialer(n.Dial),
		framework.WithoutEnsembleTracker(), // its requests would be in the way of faults
		framework.WithDefaultData([]byte("test")),
		framework.WithLogger(slog.New(slog.DiscardHandler)),
	}, opts...)
	return curatortest.NewClient(t, b.connect+chroot, opts...), n
}

// Twins runs test in virtual time on two servers, which have the same history as long as the same is done on
// both without time passing: the same zxids and times. Then restore ends the first one and moves its clients
// to the second: to them it is a restart on an older snapshot, with what was written to the second since.
func Twins(t *testing.T, test func(t *testing.T, first, second *Backend, restore func())) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		var twins [2]*Backend
		for i := range twins {
			server := curatortest.Start(t, serverOptions(curatortest.Virtual())...)
			twins[i] = newBackend("virtual", server.ConnectString(), server.DialContext)
			twins[i].server = server
		}
		first, second := twins[0], twins[1]
		var present atomic.Pointer[curatortest.Server]
		present.Store(first.server)
		second.root = first.root
		first.dial = func(ctx context.Context, network, address string) (net.Conn, error) {
			return present.Load().DialContext(ctx, network, address)
		}
		test(t, first, second, func() {
			present.Store(second.server)
			first.server.Stop()
		})
	})
}
