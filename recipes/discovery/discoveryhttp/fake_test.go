package discoveryhttp_test

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"strings"
	"sync"
	"testing"

	"github.com/go-curator/curator/recipes/discovery"
	"github.com/go-curator/curator/recipes/discovery/discoveryhttp"
)

// fleet is a provider that chooses one instance after the other.
type fleet struct {
	name string
	all  []discovery.ServiceInstance[string]
	err  error // of Instance

	mu    sync.Mutex
	next  int
	noted []string // addresses
}

// newFleet returns a fleet whose instances have the addresses and the ports 80 and 443.
func newFleet(name string, addresses ...string) *fleet {
	f := &fleet{name: name}
	for _, a := range addresses {
		f.all = append(f.all, discovery.ServiceInstance[string]{Name: name, ID: a, Address: a, Port: 80, SSLPort: 443})
	}
	if len(addresses) == 0 {
		f.err = discovery.ErrNoInstance
	}
	return f
}

func (f *fleet) Name() string { return f.name }

func (f *fleet) Choose(usable func(discovery.ServiceInstance[string]) bool) (discovery.ServiceInstance[string], error) {
	if f.err != nil {
		return discovery.ServiceInstance[string]{}, f.err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for range f.all {
		instance := f.all[f.next%len(f.all)]
		f.next++
		if usable(instance) {
			return instance, nil
		}
	}
	return discovery.ServiceInstance[string]{}, fmt.Errorf("%w %s", discovery.ErrNoInstance, f.name)
}

func (f *fleet) NoteError(instance discovery.ServiceInstance[string]) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.noted = append(f.noted, instance.Address)
}

func (f *fleet) notes() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.noted
}

func transportOf(t *testing.T, base http.RoundTripper, fleets ...*fleet) *discoveryhttp.Transport {
	t.Helper()
	var err error
	var transport *discoveryhttp.Transport
	if len(fleets) == 1 {
		transport, err = discoveryhttp.NewTransportOf(base, fleets[0])
	} else {
		transport, err = discoveryhttp.NewTransportOf(base, fleets[0], fleets[1])
	}
	if err != nil {
		t.Fatal(err)
	}
	return transport
}

// base is a base transport, of which each request ends as the next outcome says, and those after
// the last outcome with a response.
type base struct {
	outcomes []outcome

	requests []*http.Request // as they came
	bodies   []string
	closed   int // calls of CloseIdleConnections
}

// outcome is how an attempt fails.
type outcome int

const (
	answered outcome = iota
	dialFails
	handshakeFails
	sentAndCut  // the body was read
	cutUnread   // sent, without the body
	refused     // the request is invalid
	untraced    // sent and cut, by a transport that calls no hooks
	bodyBroken  // the body could not be read
	inBothLater // dialed and handshaken in vain while it was sent on another connection, and cut
)

var errCut = errors.New("connection reset by peer")

func (b *base) CloseIdleConnections() { b.closed++ }

func (b *base) RoundTrip(r *http.Request) (*http.Response, error) {
	o := answered
	if n := len(b.requests); n < len(b.outcomes) {
		o = b.outcomes[n]
	}
	b.requests = append(b.requests, r)
	trace := httptrace.ContextClientTrace(r.Context())
	if o == untraced {
		trace = nil
	}
	hooks := func(get, got bool, handshake error) {
		if trace == nil {
			return
		}
		if get {
			trace.GetConn(r.URL.Host)
		}
		if got {
			trace.GotConn(httptrace.GotConnInfo{})
		}
		if handshake != nil {
			trace.TLSHandshakeDone(tls.ConnectionState{}, handshake)
		}
	}
	body := ""
	if r.Body != nil {
		if o == answered || o == sentAndCut || o == untraced || o == bodyBroken || o == inBothLater {
			data, err := io.ReadAll(r.Body)
			if (err != nil) != (o == bodyBroken) {
				return nil, err
			}
			body = string(data)
		}
		if err := r.Body.Close(); err != nil {
			return nil, err
		}
	}
	b.bodies = append(b.bodies, body)
	switch o {
	case answered:
		hooks(true, true, nil)
		return &http.Response{StatusCode: http.StatusOK, Request: r, Body: io.NopCloser(strings.NewReader("ok"))}, nil
	case dialFails:
		hooks(true, false, nil)
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: errCut}
	case handshakeFails:
		hooks(true, false, errCut)
	case refused:
	case inBothLater:
		hooks(true, true, errCut)
	default:
		hooks(true, true, nil)
	}
	return nil, errCut
}

// hosts returns where the requests went.
func (b *base) hosts() []string {
	var hosts []string
	for _, r := range b.requests {
		hosts = append(hosts, r.URL.Host)
	}
	return hosts
}
