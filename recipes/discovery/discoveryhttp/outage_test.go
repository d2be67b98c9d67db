package discoveryhttp_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/recipes/discovery"
	"github.com/go-curator/curator/recipes/discovery/discoveryhttp"
)

// servers is a base transport: servers that answer, refuse connections, or are silent.
type servers struct {
	mu     sync.Mutex
	refuse map[string]bool // by address, "" for all
	silent map[string]bool
	delay  time.Duration // before a refusal
	cut    time.Duration // after which connections are cut, 0 for never
	tried  []string      // addresses

	closesFirst bool // a body whose Read has not returned is closed before RoundTrip returns
}

func (s *servers) RoundTrip(r *http.Request) (*http.Response, error) {
	address := r.URL.Hostname()
	s.mu.Lock()
	s.tried = append(s.tried, address)
	refuse, silent, delay, cut := s.refuse[address] || s.refuse[""], s.silent[address] || s.silent[""], s.delay, s.cut
	s.mu.Unlock()
	trace := httptrace.ContextClientTrace(r.Context())
	trace.GetConn(r.URL.Host)
	if r.Body != nil {
		defer r.Body.Close()
	}
	if refuse {
		timer := time.NewTimer(delay)
		defer timer.Stop()
		select {
		case <-timer.C:
			return nil, &net.OpError{Op: "dial", Net: "tcp", Err: errCut}
		case <-r.Context().Done():
			return nil, &net.OpError{Op: "dial", Net: "tcp", Err: r.Context().Err()}
		}
	}
	trace.GotConn(httptrace.GotConnInfo{})
	if r.Body != nil { // net/http does not wait for a Read when the context ends
		read := make(chan error, 1)
		go func() {
			_, err := io.Copy(io.Discard, r.Body)
			read <- err
		}()
		var end <-chan time.Time
		if cut > 0 {
			timer := time.NewTimer(cut)
			defer timer.Stop()
			end = timer.C
		}
		closed := func(err error) (*http.Response, error) { // net/http may return before or after that
			if s.closesFirst {
				r.Body.Close()
				<-read
			}
			return nil, err
		}
		select {
		case <-end:
			return closed(errCut)
		case err := <-read:
			if err != nil {
				return nil, err
			}
		case <-r.Context().Done():
			return closed(r.Context().Err())
		}
	}
	if silent {
		select {
		case <-r.Context().Done():
		//lint:ignore SA1019 http.Client uses it
		case <-r.Cancel:
			return nil, errors.New("canceled")
		}
		return nil, context.Cause(r.Context())
	}
	return &http.Response{StatusCode: http.StatusOK, Request: r, Body: io.NopCloser(strings.NewReader("ok"))}, nil
}

// take returns where requests went, and forgets it.
func (s *servers) take() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	tried := s.tried
	s.tried = nil
	return tried
}

// set says which servers refuse and which are silent, "" for all.
func (s *servers) set(refuse, silent []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refuse, s.silent = map[string]bool{}, map[string]bool{}
	for _, address := range refuse {
		s.refuse[address] = true
	}
	for _, address := range silent {
		s.silent[address] = true
	}
}

// orders is a service with servers 10.0.0.1 and so on, and a client of it.
type orders struct {
	*testing.T
	servers  *servers
	provider *discovery.ServiceProvider[string]
	client   *http.Client
}

// withOrders runs a test in virtual time.
func withOrders(t *testing.T, n int, config discovery.ProviderConfig[string], test func(o *orders)) {
	t.Helper()
	suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
		o := &orders{T: t, servers: &servers{}}
		client, _ := b.Client(t)
		registry := suite.Got(discovery.NewServiceDiscovery(client, b.Path("services"), discovery.JSON[string]())).OK(t)
		suite.OK(t, registry.Start(t.Context()))
		defer func() { suite.OK(t, registry.Close(context.WithoutCancel(t.Context()))) }()
		for i := range n {
			_, err := registry.Register(t.Context(), discovery.ServiceInstance[string]{
				Name: "orders", ID: fmt.Sprintf("%04d", i), Address: fmt.Sprintf("10.0.%d.%d", i/250, i%250+1), Port: 80,
			})
			suite.OK(t, err)
		}
		o.provider = suite.Got(registry.Provider("orders", config)).OK(t)
		suite.OK(t, o.provider.Start(t.Context()))
		transport := suite.Got(discoveryhttp.NewTransport(o.servers, o.provider)).OK(t)
		o.client = &http.Client{Transport: transport}
		test(o)
	})
}

// get sends a request, and returns its error.
func (o *orders) get(ctx context.Context) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://orders/", nil)
	suite.OK(o.T, err)
	response, err := o.client.Do(request)
	if err == nil {
		response.Body.Close()
	}
	return err
}

// offered returns how many instances the provider offers.
func (o *orders) offered() int { return len(o.provider.Instances()) }

func pass(d time.Duration) {
	timer := time.NewTimer(d)
	<-timer.C
	synctest.Wait()
}

// Servers that nobody could reach for a second are asked again when they can be reached, although
// all of them are down for the provider. Provider.Instance goes on to say that there is none.
func TestOutageEndsWithItsCause(t *testing.T) {
	withOrders(t, 3, discovery.ProviderConfig[string]{}, func(o *orders) {
		o.servers.set([]string{""}, nil)
		for range 10 {
			if err := o.get(o.Context()); !errors.Is(err, errCut) && !errors.Is(err, discovery.ErrNoInstance) {
				o.Errorf("without a server: %v", err)
			}
			pass(100 * time.Millisecond)
		}
		if _, err := o.provider.Instance(); !errors.Is(err, discovery.ErrNoInstance) || o.offered() != 0 {
			o.Errorf("all are down: %v, %d are offered", err, o.offered())
		}
		o.servers.take()
		o.servers.set(nil, nil)
		began := time.Now()
		for range 300 {
			if err := o.get(o.Context()); err != nil {
				o.Fatalf("%v after the end of the outage: %v", time.Since(began), err)
			}
			pass(100 * time.Millisecond)
		}
		counts := map[string]int{}
		for _, address := range o.servers.take()[:200] { // while they are down
			counts[address]++
		}
		if len(counts) != 3 || counts["10.0.0.1"] < 50 || counts["10.0.0.2"] < 50 || counts["10.0.0.3"] < 50 {
			o.Errorf("those that are down were asked so often: %v", counts)
		}
	})
}

// One that is down is asked behind all others, and then the request still has it.
func TestDownIsTheLastChoice(t *testing.T) {
	withOrders(t, 3, discovery.ProviderConfig[string]{}, func(o *orders) {
		o.servers.set([]string{"10.0.0.1"}, nil)
		for range 6 {
			suite.OK(o.T, o.get(o.Context()))
		}
		o.servers.take()
		for range 10 {
			suite.OK(o.T, o.get(o.Context()))
		}
		if tried := o.servers.take(); slices.Contains(tried, "10.0.0.1") {
			o.Errorf("one that is down was asked: %v", tried)
		}
		o.servers.set([]string{"10.0.0.2", "10.0.0.3"}, nil)
		suite.OK(o.T, o.get(o.Context()))
		if tried := o.servers.take(); len(tried) != 3 || tried[2] != "10.0.0.1" {
			o.Errorf("asked %v", tried)
		}
	})
}

// A deadline is an error of the instance that had at least half of the request's time. A
// cancellation is not. http.Client.Timeout, which may close Request.Cancel before the context has
// ended, is a deadline.
func TestDeadlinesAndCancellations(t *testing.T) {
	for _, c := range []struct {
		name  string
		ctx   func(ctx context.Context) (context.Context, context.CancelFunc)
		limit time.Duration // http.Client.Timeout
		down  bool          // after two
	}{
		{"deadline", func(ctx context.Context) (context.Context, context.CancelFunc) {
			return context.WithTimeout(ctx, time.Second)
		}, 0, true},
		{"Client.Timeout", context.WithCancel, time.Second, true},
		{"Client.Timeout before a deadline", func(ctx context.Context) (context.Context, context.CancelFunc) {
			return context.WithTimeout(ctx, time.Minute)
		}, time.Second, true},
		{"canceled", func(ctx context.Context) (context.Context, context.CancelFunc) {
			ctx, cancel := context.WithCancel(ctx)
			time.AfterFunc(time.Second, cancel)
			return ctx, cancel
		}, 0, false},
		{"canceled before the deadline", func(ctx context.Context) (context.Context, context.CancelFunc) {
			ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
			time.AfterFunc(time.Second, cancel)
			return ctx, cancel
		}, 0, false},
		{"canceled before Client.Timeout", func(ctx context.Context) (context.Context, context.CancelFunc) {
			ctx, cancel := context.WithCancel(ctx)
			time.AfterFunc(time.Second, cancel)
			return ctx, cancel
		}, 2 * time.Second, false},
		{"a deadline of the past", func(ctx context.Context) (context.Context, context.CancelFunc) {
			return context.WithDeadline(ctx, time.Now().Add(-time.Second))
		}, 0, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			withOrders(t, 1, discovery.ProviderConfig[string]{}, func(o *orders) {
				o.servers.set(nil, []string{""})
				o.client.Timeout = c.limit
				for range 2 {
					ctx, cancel := c.ctx(o.Context())
					if err := o.get(ctx); err == nil {
						o.Error("a silent server has answered")
					}
					cancel()
				}
				if down := o.offered() == 0; down != c.down {
					o.Errorf("down: %v, want %v", down, c.down)
				}
			})
		})
	}
}

// An attempt that began in the second half of the request's time is not blamed for the deadline.
func TestLateAttemptIsNotBlamed(t *testing.T) {
	for late, want := range map[time.Duration]int{1100 * time.Millisecond: 1, 900 * time.Millisecond: 0} {
		withOrders(t, 2, discovery.ProviderConfig[string]{ErrorThreshold: 1}, func(o *orders) {
			o.servers.set([]string{"10.0.0.1"}, []string{"10.0.0.2"})
			o.servers.delay = late
			if o.provider.Instances()[0].Address != "10.0.0.1" {
				o.Fatal("the strategy begins elsewhere")
			}
			ctx, cancel := context.WithTimeout(o.Context(), 2*time.Second)
			defer cancel()
			if err := o.get(ctx); !errors.Is(err, context.DeadlineExceeded) {
				o.Errorf("error %v", err)
			}
			if tried := o.servers.take(); len(tried) != 2 || o.offered() != want {
				o.Errorf("refused after %v: asked %v, %d are offered, want %d", late, tried, o.offered(), want)
			}
		})
	}
}

// The deadline passes while the caller's own body is awaited: that is not the instance's fault. But a
// connection that is cut meanwhile is. The Read of the body may have returned by then or not.
func TestSlowBody(t *testing.T) {
	for _, closesFirst := range []bool{false, true} {
		for cut, want := range map[time.Duration]int{0: 1, time.Second: 0} {
			withOrders(t, 1, discovery.ProviderConfig[string]{ErrorThreshold: 1}, func(o *orders) {
				o.servers.cut, o.servers.closesFirst = cut, closesFirst
				ctx, cancel := context.WithTimeout(o.Context(), 2*time.Second)
				defer cancel()
				body, writer := io.Pipe()
				defer writer.Close()
				request, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://orders/", body)
				suite.OK(o.T, err)
				if _, err := o.client.Do(request); err == nil {
					o.Error("it was answered")
				}
				if got := o.offered(); got != want {
					o.Errorf("cut after %v, closed first: %v: %d are offered, want %d", cut, closesFirst, got, want)
				}
			})
		}
	}
}

// A request dials ten instances at most, however many there are, and looks at each of them at most
// so often.
func TestDialsAtMostTen(t *testing.T) {
	const n = 40
	looks := 0
	config := discovery.ProviderConfig[string]{ErrorThreshold: 1, Filter: func(discovery.ServiceInstance[string]) bool {
		looks++
		return true
	}}
	withOrders(t, n, config, func(o *orders) {
		o.servers.set([]string{""}, nil)
		for range 20 { // and also when all are down
			if err := o.get(o.Context()); !errors.Is(err, errCut) {
				o.Errorf("error %v", err)
			}
			if tried := o.servers.take(); len(tried) != 10 || repeated(tried) || looks > 11*n {
				o.Errorf("asked %d, with %d looks: %v", len(tried), looks, tried)
			}
			looks = 0
		}
	})
}
