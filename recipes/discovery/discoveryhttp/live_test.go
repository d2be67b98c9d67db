package discoveryhttp_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/recipes/discovery"
	"github.com/go-curator/curator/recipes/discovery/discoveryhttp"
)

// live is a registry with servers that come and go, and clients that send them requests all the
// time.
type live struct {
	*testing.T
	registry *discovery.ServiceDiscovery[string]
	provider *discovery.ServiceProvider[string] // of another client
	isolate  func() (heal func())               // cuts that client off
	client   *http.Client
	servers  []*server // those that are up, the oldest first
	last     int

	senders []*sender
}

// server is an instance.
type server struct {
	http.Server
	id    string
	conns atomic.Int64
	ended sync.WaitGroup
}

// sender sends one request after the other.
type sender struct {
	kind  string
	fresh func(ctx context.Context) (*http.Request, error)
	sent  atomic.Int64 // and answered, or failed

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
	lookup, err := discovery.NewServiceDiscovery(seeker, b.Path("services"), discovery.JSON[string]())
	if err != nil {
		t.Fatal(err)
	}
	if l.provider, err = lookup.Provider("orders", discovery.ProviderConfig[string]{}); err != nil {
		t.Fatal(err)
	}
	for _, c := range []interface {
		Start(ctx context.Context) error
		Close(ctx context.Context) error
	}{l.registry, l.provider} {
		if err := c.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := c.Close(context.WithoutCancel(t.Context())); err != nil {
				t.Error(err)
			}
		})
	}
	transport, err := discoveryhttp.NewTransport(&http.Transport{}, l.provider)
	if err != nil {
		t.Fatal(err)
	}
	l.client = &http.Client{Transport: transport}
	t.Cleanup(l.client.CloseIdleConnections)
	t.Cleanup(func() {
		for len(l.servers) > 0 {
			l.crash()
		}
	})
	return l
}

// up brings a server up, and waits until the clients know it.
func (l *live) up() {
	l.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		l.Fatal(err)
	}
	l.last++
	s := &server{id: strconv.Itoa(l.last)}
	s.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		<-time.After(time.Millisecond) // so that requests are under way whenever a server goes
		io.WriteString(w, r.Host+" "+string(body))
	})
	s.ConnState = func(_ net.Conn, state http.ConnState) {
		switch state {
		case http.StateNew:
			s.conns.Add(1)
		case http.StateClosed:
			s.conns.Add(-1)
		}
	}
	s.ended.Go(func() { _ = s.Serve(listener) })
	l.servers = append(l.servers, s)
	if _, err := l.registry.Register(l.Context(), discovery.ServiceInstance[string]{
		Name: "orders", ID: s.id, Address: "127.0.0.1", Port: listener.Addr().(*net.TCPAddr).Port,
		Type: discovery.Static, // a busy machine must not end it with a session
	}); err != nil {
		l.Fatal(err)
	}
	suite.Eventually(l.T, "server "+s.id+" is known", func() bool { return l.knows(s) })
}

func (l *live) knows(s *server) bool {
	return slices.ContainsFunc(l.provider.Instances(), func(i discovery.ServiceInstance[string]) bool { return i.ID == s.id })
}

// unregister takes a server out of the registry, and waits until the clients know that
// and have ended what they had begun.
func (l *live) unregister(s *server) {
	l.Helper()
	if err := l.registry.Unregister(l.Context(), "orders", s.id); err != nil {
		l.Fatal(err)
	}
	suite.Eventually(l.T, "server "+s.id+" is forgotten", func() bool { return !l.knows(s) })
	l.requests(2)
}

// down ends the oldest server in order.
func (l *live) down() {
	l.Helper()
	s := l.servers[0]
	l.servers = l.servers[1:]
	l.unregister(s)
	if err := s.Shutdown(l.Context()); err != nil {
		l.Error(err)
	}
	s.ended.Wait()
}

// crash ends the oldest server with all connections, which stays in the registry, and returns how
// many connections that were.
func (l *live) crash() (conns int64) {
	s := l.servers[0]
	l.servers = l.servers[1:]
	conns = s.conns.Load()
	_ = s.Close()
	s.ended.Wait()
	return conns
}

// requests waits until every sender has sent so many requests.
func (l *live) requests(n int64) {
	l.Helper()
	until := make([]int64, len(l.senders))
	for i, s := range l.senders {
		until[i] = s.sent.Load() + n
	}
	for i, s := range l.senders {
		suite.Eventually(l.T, "requests of "+s.kind, func() bool { return s.sent.Load() >= until[i] })
	}
}

// send starts the senders. They end with stop.
func (l *live) send(kinds map[string]func(ctx context.Context) (*http.Request, error)) (stop func()) {
	ctx, cancel := context.WithCancel(l.Context())
	var running sync.WaitGroup
	for kind, fresh := range kinds {
		for range 2 {
			s := &sender{kind: kind, fresh: fresh}
			l.senders = append(l.senders, s)
			running.Go(func() {
				for ctx.Err() == nil {
					if err := l.roundTrip(ctx, s); err != nil && ctx.Err() == nil {
						s.mu.Lock()
						s.failed = append(s.failed, err)
						s.mu.Unlock()
					}
					s.sent.Add(1)
				}
			})
		}
	}
	return func() {
		cancel()
		running.Wait()
	}
}

func (l *live) roundTrip(ctx context.Context, s *sender) error {
	request, err := s.fresh(ctx)
	if err != nil {
		return err
	}
	response, err := l.client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err == nil && string(text) != "orders "+s.kind {
		err = errors.New("answer " + string(text))
	}
	return err
}

// failures takes the errors of the senders of a kind.
func (l *live) failures(kind string) []error {
	var failed []error
	for _, s := range l.senders {
		if s.kind == kind {
			s.mu.Lock()
			failed = append(failed, s.failed...)
			s.failed = nil
			s.mu.Unlock()
		}
	}
	return failed
}

// Servers come and go under load. No request fails when they go in order; when they crash, none
// that may be repeated, and of the others at most one for each connection that was cut.
func TestComeAndGo(t *testing.T) {
	kinds := map[string]func(ctx context.Context) (*http.Request, error){
		"": func(ctx context.Context) (*http.Request, error) {
			return http.NewRequestWithContext(ctx, http.MethodGet, "http://orders/", nil)
		},
		"change": func(ctx context.Context) (*http.Request, error) {
			return http.NewRequestWithContext(ctx, http.MethodPost, "http://orders/", strings.NewReader("change"))
		},
		"repeatable": func(ctx context.Context) (*http.Request, error) {
			r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://orders/", strings.NewReader("repeatable"))
			if err == nil {
				r.Header.Set("Idempotency-Key", "7")
			}
			return r, err
		},
		"once": func(ctx context.Context) (*http.Request, error) {
			return http.NewRequestWithContext(ctx, http.MethodPost, "http://orders/", io.MultiReader(strings.NewReader("once")))
		},
	}
	suite.EachOf(t, suite.OnEmbeddedServer|suite.OnRealServer, func(t *testing.T, b *suite.Backend) {
		l := newLive(t, b)
		l.up()
		l.up()
		defer l.send(kinds)()
		for range 3 {
			l.up()
			l.requests(5)
			l.down()
		}
		for kind := range kinds {
			if failed := l.failures(kind); len(failed) > 0 {
				t.Errorf("in order: %d requests %q failed: %v", len(failed), kind, failed[0])
			}
		}

		cut := int64(0)
		for range 3 {
			l.up()
			l.requests(5)
			s := l.servers[0]
			cut += l.crash()
			l.requests(10) // while it is still registered
			l.unregister(s)
		}
		heal := l.isolate()
		cut += l.crash() // unseen
		l.requests(10)
		heal()

		lost := len(l.failures("change")) + len(l.failures("once"))
		t.Logf("%d of the requests on %d connections were lost", lost, cut)
		if int64(lost) > cut {
			t.Errorf("%d requests failed, but %d connections were cut", lost, cut)
		}
		for _, kind := range []string{"", "repeatable"} {
			if failed := l.failures(kind); len(failed) > 0 {
				t.Errorf("crash: %d requests %q failed: %v", len(failed), kind, failed[0])
			}
		}
	})
}
