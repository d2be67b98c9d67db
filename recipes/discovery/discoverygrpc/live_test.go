package discoverygrpc_test

import (
	"context"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"

	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/recipes/discovery"
	"github.com/go-curator/curator/recipes/discovery/discoverygrpc"
)

const roundRobin = `{"loadBalancingConfig":[{"round_robin":{}}]}`

// live is a registry with gRPC servers that come and go, and ClientConns of another client of
// ZooKeeper that call them.
type live struct {
	*testing.T
	registry *discovery.ServiceDiscovery[string]
	lookup   *discovery.ServiceDiscovery[string]
	builder  *discoverygrpc.Builder[string]
	isolate  func() (heal func()) // cuts the client of lookup off

	servers []*server // those that are up, the oldest first
	last    int
	callers []*caller
}

// server is an instance.
type server struct {
	*grpc.Server
	listener *listener
	instance discovery.ServiceInstance[string]
	calls    atomic.Int64
	ended    sync.WaitGroup
}

// listener is a net.Listener whose connections can be cut.
type listener struct {
	net.Listener

	mu    sync.Mutex
	conns []net.Conn
}

func (l *listener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	l.mu.Lock()
	defer l.mu.Unlock()
	if err == nil {
		l.conns = append(l.conns, conn)
	}
	return conn, err
}

// cut closes the listener and its connections.
func (l *listener) cut() {
	_ = l.Close()
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, conn := range l.conns {
		_ = conn.Close()
	}
}

// caller makes one call after the other.
type caller struct {
	policy string
	calls  atomic.Int64 // made

	mu     sync.Mutex
	failed []error
}

func newLive(t *testing.T, b *suite.Backend) *live {
	t.Helper()
	l := &live{T: t}
	registrar, _ := b.Client(t)
	seeker, network := b.Client(t)
	l.isolate = network.Isolate
	var err error
	if l.registry, err = discovery.NewServiceDiscovery(registrar, b.Path("services"), discovery.JSON[string]()); err != nil {
		t.Fatal(err)
	}
	if l.lookup, err = discovery.NewServiceDiscovery(seeker, b.Path("services"), discovery.JSON[string]()); err != nil {
		t.Fatal(err)
	}
	for _, d := range []*discovery.ServiceDiscovery[string]{l.registry, l.lookup} {
		if err := d.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := d.Close(context.WithoutCancel(t.Context())); err != nil {
				t.Error(err)
			}
		})
	}
	l.builder, err = discoverygrpc.NewBuilder(l.lookup, discoverygrpc.Config[string]{Weight: weightOf})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for len(l.servers) > 0 {
			l.end((*grpc.Server).Stop)
		}
	})
	return l
}

// weightOf returns the number in the payload.
func weightOf(i discovery.ServiceInstance[string]) uint32 {
	n, _ := strconv.ParseUint(i.Payload, 10, 32)
	return uint32(n)
}

// dial returns a ClientConn, which is closed at the end of the test.
func (l *live) dial(config string, opts ...grpc.DialOption) *grpc.ClientConn {
	l.Helper()
	opts = append(opts, grpc.WithResolvers(l.builder), grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithConnectParams(grpc.ConnectParams{
			Backoff:           backoff.Config{BaseDelay: 10 * time.Millisecond, MaxDelay: 100 * time.Millisecond, Multiplier: 2},
			MinConnectTimeout: 20 * time.Second,
		}))
	if config != "" {
		opts = append(opts, grpc.WithDefaultServiceConfig(config))
	}
	conn, err := grpc.NewClient("curator:///orders", opts...)
	if err != nil {
		l.Fatal(err)
	}
	l.Cleanup(func() {
		if err := conn.Close(); err != nil && status.Code(err) != codes.Canceled { // it is closed

			l.Error(err)
		}
	})
	return conn
}

// up brings a server up.
func (l *live) up(payload string) *server {
	l.Helper()
	s := &server{}
	s.Server = grpc.NewServer(grpc.UnaryInterceptor(func(ctx context.Context, req any, _ *grpc.UnaryServerInfo, handle grpc.UnaryHandler) (any, error) {
		s.calls.Add(1)
		<-time.After(time.Millisecond) // so that calls are under way whenever a server goes
		return handle(ctx, req)
	}))
	healthpb.RegisterHealthServer(s.Server, health.NewServer())
	l.listen(s, "127.0.0.1:0")
	l.servers = append(l.servers, s)
	l.last++
	var err error
	s.instance, err = l.registry.Register(l.Context(), discovery.ServiceInstance[string]{
		Name: "orders", ID: strconv.Itoa(l.last), Address: "127.0.0.1", Port: s.listener.Addr().(*net.TCPAddr).Port, Payload: payload,
		Type: discovery.Static, // a busy machine must not end it with a session
	})
	if err != nil {
		l.Fatal(err)
	}
	return s
}

// listen lets a server be reached at an address.
func (l *live) listen(s *server, address string) {
	l.Helper()
	tcp, err := net.Listen("tcp", address)
	if err != nil {
		l.Fatal(err)
	}
	s.listener = &listener{Listener: tcp}
	s.ended.Go(func() { _ = s.Serve(s.listener) })
}

func (l *live) unregister(s *server) {
	l.Helper()
	if err := l.registry.Unregister(l.Context(), "orders", s.instance.ID); err != nil {
		l.Fatal(err)
	}
}

// end ends the oldest server, by Stop or by GracefulStop.
func (l *live) end(stop func(*grpc.Server)) {
	s := l.servers[0]
	l.servers = l.servers[1:]
	stop(s.Server)
	s.ended.Wait()
}

func check(ctx context.Context, conn *grpc.ClientConn, opts ...grpc.CallOption) error {
	_, err := healthpb.NewHealthClient(conn).Check(ctx, &healthpb.HealthCheckRequest{}, opts...)
	return err
}

// call starts callers with each policy. They end with stop.
func (l *live) call(configs ...string) (stop func()) {
	ctx, cancel := context.WithCancel(l.Context())
	var running sync.WaitGroup
	for _, config := range configs {
		conn := l.dial(config)
		for range 2 {
			c := &caller{policy: config}
			l.callers = append(l.callers, c)
			running.Go(func() {
				for ctx.Err() == nil {
					if err := check(ctx, conn); err != nil && ctx.Err() == nil {
						c.mu.Lock()
						c.failed = append(c.failed, err)
						c.mu.Unlock()
					}
					c.calls.Add(1)
				}
			})
		}
	}
	return func() {
		cancel()
		running.Wait()
	}
}

// calls waits until every caller has made so many calls.
func (l *live) calls(n int64) {
	l.Helper()
	until := make([]int64, len(l.callers))
	for i, c := range l.callers {
		until[i] = c.calls.Load() + n
	}
	for i, c := range l.callers {
		suite.Eventually(l.T, "calls by "+c.policy, func() bool { return c.calls.Load() >= until[i] })
	}
}

// failures takes the errors of the callers.
func (l *live) failures() (failed []error) {
	for _, c := range l.callers {
		c.mu.Lock()
		failed = append(failed, c.failed...)
		c.failed = nil
		c.mu.Unlock()
	}
	return failed
}

// Servers come and go under load. No call fails when they go in order; when they crash, none but
// those that were under way. While ZooKeeper cannot be reached the list stays.
func TestComeAndGo(t *testing.T) {
	suite.EachOf(t, suite.OnEmbeddedServer|suite.OnRealServer, func(t *testing.T, b *suite.Backend) {
		l := newLive(t, b)
		l.up("1")
		l.up("2")
		defer l.call("", roundRobin, discoverygrpc.ServiceConfig)()
		for range 3 {
			s := l.up("3")
			suite.Eventually(t, "a call of a new server", func() bool { return s.calls.Load() > 0 })
			l.unregister(l.servers[0])
			l.end((*grpc.Server).GracefulStop)
			l.calls(5)
		}
		if failed := l.failures(); len(failed) > 0 {
			t.Errorf("in order: %d calls failed: %v", len(failed), failed[0])
		}

		for range 3 {
			s := l.up("4")
			suite.Eventually(t, "a call of a new server", func() bool { return s.calls.Load() > 0 })
			crashed := l.servers[0]
			l.end((*grpc.Server).Stop)
			l.calls(5) // while it is still registered
			l.unregister(crashed)
		}
		heal := l.isolate()
		l.end((*grpc.Server).Stop) // unseen
		l.calls(20)
		heal()
		failed := l.failures()
		t.Logf("%d calls were lost in 4 crashes", len(failed))
		if len(failed) > 4*len(l.callers) {
			t.Errorf("crash: %d calls of %d callers failed: %v", len(failed), len(l.callers), failed)
		}
		for _, err := range failed {
			if status.Code(err) != codes.Unavailable {
				t.Error(err)
			}
		}
	})
}

// A server that is cut off loses the calls that are under way, and none after that. When it can be
// reached again, it is called again.
func TestCutOff(t *testing.T) {
	suite.EachOf(t, suite.OnEmbeddedServer, func(t *testing.T, b *suite.Backend) {
		l := newLive(t, b)
		first := l.up("1")
		l.up("1")
		defer l.call(roundRobin, discoverygrpc.ServiceConfig)()
		for range 3 {
			before := first.calls.Load()
			suite.Eventually(t, "calls of the first server", func() bool { return first.calls.Load() > before })
			first.listener.cut()
			l.calls(20)
			if failed := l.failures(); len(failed) > len(l.callers) {
				t.Errorf("%d calls of %d callers failed: %v", len(failed), len(l.callers), failed)
			}
			l.listen(first, first.listener.Addr().String())
		}
	})
}

// A ClientConn that is idle gives its list back, and gets another one for the next call. Close
// does not wait for ZooKeeper longer than a second.
func TestIdle(t *testing.T) {
	suite.EachOf(t, suite.OnEmbeddedServer, func(t *testing.T, b *suite.Backend) {
		l := newLive(t, b)
		l.up("1")
		l.up("1")
		suite.Eventually(t, "the watches of the registrations", func() bool { return b.Watches() == 2 })
		conn := l.dial("", grpc.WithIdleTimeout(20*time.Millisecond))
		for range 3 {
			if err := check(t.Context(), conn); err != nil {
				t.Error(err)
			}
			suite.Eventually(t, "the end of the list", func() bool { return b.Watches() == 2 })
		}
		busy := l.dial("")
		if err := check(t.Context(), busy); err != nil {
			t.Error(err)
		}
		defer l.isolate()()
		began := time.Now()
		if err := busy.Close(); err != nil || time.Since(began) > 15*time.Second {
			t.Errorf("Close: %v after %v", err, time.Since(began))
		}
	})
}

// Without an instance calls fail and name the service, or wait if they are to.
func TestNoInstance(t *testing.T) {
	suite.EachOf(t, suite.OnEmbeddedServer|suite.OnRealServer, func(t *testing.T, b *suite.Backend) {
		l := newLive(t, b)
		const text = `no instance of the service orders`
		for _, c := range []struct{ config, later string }{
			{"", text}, {discoverygrpc.ServiceConfig, text}, {roundRobin, "no children to pick from"},
		} {
			conn := l.dial(c.config)
			if err := check(t.Context(), conn); status.Code(err) != codes.Unavailable || !strings.Contains(err.Error(), text) {
				t.Errorf("%s: a service that is not there: %v", c.config, err)
			}
			waiting := make(chan error, 1)
			go func() { waiting <- check(t.Context(), conn, grpc.WaitForReady(true)) }()
			s := l.up("1")
			if err := <-waiting; err != nil {
				t.Errorf("%s: a call that waits: %v", c.config, err)
			}
			l.unregister(s)
			suite.Eventually(t, "the error of a service that has become empty", func() bool {
				err := check(t.Context(), conn)
				return status.Code(err) == codes.Unavailable && strings.Contains(err.Error(), c.later)
			})
			l.end((*grpc.Server).Stop)
		}
	})
}

// Calls are shared out by weight, among those that are connected.
func TestWeights(t *testing.T) {
	suite.EachOf(t, suite.OnEmbeddedServer, func(t *testing.T, b *suite.Backend) {
		l := newLive(t, b)
		for _, weight := range []string{"1", "3", "nonsense"} { // the last counts as 1
			l.up(weight)
		}
		conn := l.dial(discoverygrpc.ServiceConfig)
		all := func() bool {
			if err := check(t.Context(), conn); err != nil {
				t.Error(err)
			}
			return !slices.ContainsFunc(l.servers, func(s *server) bool { return s.calls.Load() == 0 })
		}
		suite.Eventually(t, "a call of each server", all)
		const n = 1000
		share := func(want ...int64) {
			t.Helper()
			before := make([]int64, len(l.servers))
			for i, s := range l.servers {
				before[i] = s.calls.Load()
			}
			var callers sync.WaitGroup
			for range 10 {
				callers.Go(func() {
					for range n / 10 {
						if err := check(t.Context(), conn); err != nil {
							t.Error(err)
						}
					}
				})
			}
			callers.Wait()
			for i, s := range l.servers {
				// The standard deviation is 16 at most: a deviation of 100 has a chance of 1e-9.
				if got := s.calls.Load() - before[i]; got < want[i]-100 || got > want[i]+100 {
					t.Errorf("server %d had %d of %d calls, want %d", i, got, n, want[i])
				}
			}
		}
		share(200, 600, 200)

		// Weights change with the payload.
		for _, s := range l.servers {
			s.instance.Payload = "7"
			if err := l.registry.Update(t.Context(), s.instance); err != nil {
				t.Fatal(err)
			}
		}
		suite.Eventually(t, "equal shares", func() bool {
			before := l.servers[1].calls.Load()
			for range 30 {
				all()
			}
			return l.servers[1].calls.Load()-before == 10 // one after the other
		})
	})
}

// A target that is no service fails the first call, and says why.
func TestBadTarget(t *testing.T) {
	suite.EachOf(t, suite.OnEmbeddedServer, func(t *testing.T, b *suite.Backend) {
		l := newLive(t, b)
		for target, want := range map[string]string{
			"curator://orders":      "three slashes",
			"curator:///":           "names no service",
			"curator:///a/../b":     "a/../b",
			"curator:///orders/new": "orders/new",
		} {
			conn, err := grpc.NewClient(target, grpc.WithResolvers(l.builder), grpc.WithTransportCredentials(insecure.NewCredentials()))
			if err != nil {
				t.Errorf("%s: %v", target, err)
				continue
			}
			if err := check(t.Context(), conn); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v", target, err)
			}
			if err := conn.Close(); err != nil {
				t.Error(err)
			}
		}
	})
}

// When the registry is closed, calls go on with the last list.
func TestClosedRegistry(t *testing.T) {
	suite.EachOf(t, suite.OnEmbeddedServer, func(t *testing.T, b *suite.Backend) {
		l := newLive(t, b)
		l.up("1")
		conn := l.dial("")
		if err := check(t.Context(), conn, grpc.WaitForReady(true)); err != nil {
			t.Fatal(err)
		}
		if err := l.lookup.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := check(t.Context(), conn); err != nil {
			t.Error(err)
		}
		late := l.dial("")
		if err := check(t.Context(), late); err == nil || !strings.Contains(err.Error(), "closed") {
			t.Errorf("a ClientConn that comes later: %v", err)
		}
	})
}
