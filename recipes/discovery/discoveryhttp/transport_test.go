package discoveryhttp_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/recipes/discovery"
	"github.com/go-curator/curator/recipes/discovery/discoveryhttp"
)

// Only what names a service is sent to an instance; all else is left as it is.
func TestHosts(t *testing.T) {
	for _, c := range []struct{ url, host, want string }{
		{"http://orders/v1/7?a=b#c", "", "10.0.0.1:80"},
		{"https://orders/v1/7", "", "10.0.0.1:443"},
		{"HTTP://Orders/", "", "10.0.0.1:80"},
		{"http://user:secret@orders/", "", "10.0.0.1:80"},
		{"http://orders/", "shop.example", "10.0.0.1:80"},
		{"http://users/", "", "[2001:db8::1]:80"},
		{"http://orders:80/", "", "orders:80"},
		{"http://orders.example/", "", "orders.example"},
		{"http://10.0.0.9/", "", "10.0.0.9"},
		{"ws://orders/", "", "orders"},
		{"http://order/", "", "order"},
	} {
		b := &base{}
		transport := transportOf(t, b, newFleet("orders", "10.0.0.1"), newFleet("Users", "2001:db8::1"))
		request := httptest.NewRequestWithContext(t.Context(), http.MethodGet, c.url, nil)
		request.Host = c.host
		before := *request.URL
		response, err := transport.RoundTrip(request)
		if err != nil {
			t.Errorf("%s: %v", c.url, err)
			continue
		}
		sent := b.requests[0]
		if sent.URL.Host != c.want {
			t.Errorf("%s went to %s, want %s", c.url, sent.URL.Host, c.want)
		}
		if wantHost := map[bool]string{true: before.Host, false: c.host}[c.host == "" && sent != request]; sent.Host != wantHost {
			t.Errorf("%s has Host %q, want %q", c.url, sent.Host, wantHost)
		}
		if sent.URL.Path != before.Path || sent.URL.RawQuery != before.RawQuery || sent.URL.Scheme != before.Scheme {
			t.Errorf("%s was sent as %s", c.url, sent.URL)
		}
		if *request.URL != before || request.Host != c.host {
			t.Errorf("the request was changed to %s, Host %q", request.URL, request.Host)
		}
		if response.Request != request {
			t.Errorf("%s: the response is to another request", c.url)
		}
	}
}

// An attempt that failed is repeated on another instance where that is safe, and is noted as an
// error of the instance unless it is somebody else's fault.
func TestRepeats(t *testing.T) {
	const all = 4
	for _, c := range []struct {
		name    string
		method  string
		url     string
		key     bool // the request has a key of idempotency
		body    string
		again   bool // there is GetBody
		fails   []outcome
		want    int // attempts
		noted   int
		failing bool
	}{
		{"get, no connection", "GET", "", false, "", false, []outcome{dialFails}, 2, 1, false},
		{"get, no connection at all", "GET", "", false, "", false, []outcome{dialFails, dialFails, dialFails, dialFails}, all, all, true},
		{"get, no handshake", "GET", "https://orders/", false, "", false, []outcome{handshakeFails}, 2, 1, false},
		{"get, cut", "GET", "", false, "", false, []outcome{sentAndCut}, 2, 1, false},
		{"get, cut twice", "GET", "", false, "", false, []outcome{sentAndCut, sentAndCut}, 3, 2, false},
		{"get, cut each time", "GET", "", false, "", false, []outcome{sentAndCut, sentAndCut, sentAndCut}, 3, 3, true},
		{"get, cut and no connection", "GET", "", false, "", false, []outcome{sentAndCut, dialFails, sentAndCut}, all, 3, false},
		{"head, cut", "HEAD", "", false, "", false, []outcome{sentAndCut}, 2, 1, false},
		{"no method, cut", "", "", false, "", false, []outcome{sentAndCut}, 2, 1, false},
		{"get, invalid", "GET", "", false, "", false, []outcome{refused}, 1, 0, true},
		{"get, no hooks", "GET", "", false, "", false, []outcome{untraced}, 1, 0, true},
		{"get with a body, cut", "GET", "", false, "x", false, []outcome{sentAndCut}, 1, 1, true},

		{"post, no connection", "POST", "", false, "x", true, []outcome{dialFails, dialFails, dialFails}, all, 3, false},
		{"post, no handshake", "POST", "https://orders/", false, "x", true, []outcome{handshakeFails}, 2, 1, false},
		{"post, a handshake beside", "POST", "https://orders/", false, "x", true, []outcome{inBothLater}, 1, 1, true},
		{"post, cut", "POST", "", false, "x", true, []outcome{sentAndCut}, 1, 1, true},
		{"post without a body, cut", "POST", "", false, "", false, []outcome{sentAndCut}, 1, 1, true},
		{"delete, cut", "DELETE", "", false, "", false, []outcome{sentAndCut}, 1, 1, true},
		{"post with a key, cut", "POST", "", true, "x", true, []outcome{sentAndCut}, 2, 1, false},
		{"post with a key and one body, cut", "POST", "", true, "x", false, []outcome{sentAndCut}, 1, 1, true},
		{"post with a key and one body, cut before it", "POST", "", true, "x", false, []outcome{cutUnread}, 1, 1, true},
		{"post with one body, no connection", "POST", "", false, "x", false, []outcome{dialFails, dialFails, dialFails}, all, 3, false},
		{"post with one body, no handshake", "POST", "https://orders/", false, "x", false, []outcome{handshakeFails}, 2, 1, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := &base{outcomes: c.fails}
			f := newFleet("orders", "10.0.0.1", "10.0.0.2", "10.0.0.3", "10.0.0.4")
			transport := transportOf(t, b, f)
			body := newBody(c.body)
			request := &http.Request{Method: c.method, URL: mustParse(t, c.url, "http://orders/"), Header: http.Header{}}
			if c.body != "" {
				request.Body = body
			}
			if c.again {
				request.GetBody = body.again
			}
			if c.key {
				request.Header["Idempotency-Key"] = nil // as net/http has it: a key that is not sent
			}
			_, err := transport.RoundTrip(request.WithContext(t.Context()))
			if (err != nil) != c.failing || c.failing && !errors.Is(err, errCut) {
				t.Errorf("error %v", err)
			}
			if hosts := b.hosts(); len(hosts) != c.want || repeated(hosts) {
				t.Errorf("attempts at %v, want %d", hosts, c.want)
			}
			if len(f.notes()) != c.noted {
				t.Errorf("errors of %v are noted, want %d", f.notes(), c.noted)
			}
			if got := b.bodies[len(b.bodies)-1]; !c.failing && got != c.body {
				t.Errorf("the body was %q", got)
			}
			if opened, closed := body.counts(); c.body != "" && opened != closed {
				t.Errorf("of %d bodies %d were closed", opened, closed)
			}
		})
	}
}

// The errors of others are not the instance's.
func TestNotTheInstance(t *testing.T) {
	ended, end := context.WithCancel(t.Context())
	end()
	canceled := make(chan struct{})
	close(canceled)
	broken := errors.New("the disk is broken")
	for _, c := range []struct {
		name    string
		outcome outcome
		change  func(r *http.Request) *http.Request
	}{
		{"context", dialFails, func(r *http.Request) *http.Request { return r.WithContext(ended) }},
		{"cancel", dialFails, func(r *http.Request) *http.Request {
			//lint:ignore SA1019 http.Client uses it
			r.Cancel = canceled
			return r
		}},
		{"body", bodyBroken, func(r *http.Request) *http.Request {
			r.Body = io.NopCloser(iotest.ErrReader(broken))
			return r
		}},
	} {
		b, f := &base{outcomes: []outcome{c.outcome}}, newFleet("orders", "10.0.0.1", "10.0.0.2")
		request := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "http://orders/", nil)
		_, err := transportOf(t, b, f).RoundTrip(c.change(request))
		if err == nil || len(b.requests) != 1 || len(f.notes()) != 0 {
			t.Errorf("%s: %v after %d attempts, errors of %v are noted", c.name, err, len(b.requests), f.notes())
		}
	}
}

// A sticky strategy does not keep a request from another instance, and an instance that cannot be
// asked is passed over.
func TestUnusable(t *testing.T) {
	instance := func(address string, port int) discovery.ServiceInstance[string] {
		return discovery.ServiceInstance[string]{Name: "orders", ID: address, Address: address, Port: port, SSLPort: 443}
	}
	f := newFleet("orders", "10.0.0.1")
	f.all = append(f.all, instance("", 80), instance("10.0.0.2", 0), instance("10.0.0.3", -1), instance("10.0.0.4", 1<<16),
		instance("http://10.0.0.5", 80), instance("10.0.0.6:80", 80), instance("a b", 80), instance("a@b", 80), instance("a/b", 80), instance("fe80::1%lo", 80))
	b := &base{outcomes: []outcome{dialFails}}
	if _, err := transportOf(t, b, f).RoundTrip(httptest.NewRequestWithContext(t.Context(), http.MethodGet, "http://orders/", nil)); err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff([]string{"10.0.0.1:80", "[fe80::1%lo]:80"}, b.hosts()); diff != "" {
		t.Error(diff)
	}

	f.all = []discovery.ServiceInstance[string]{{Name: "orders", Address: "10.0.0.1", Port: 80}}
	body := newBody("x")
	request := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "https://orders/", nil)
	request.Body = body
	_, err := transportOf(t, &base{}, f).RoundTrip(request)
	if opened, closed := body.counts(); !errors.Is(err, discovery.ErrNoInstance) || !strings.Contains(err.Error(), "service orders") || opened != closed {
		t.Errorf("without a port for https: %v, %d of %d bodies closed", err, closed, opened)
	}
	request = httptest.NewRequestWithContext(t.Context(), http.MethodGet, "http://orders/", nil)
	if _, err := transportOf(t, &base{}, newFleet("orders")).RoundTrip(request); !errors.Is(err, discovery.ErrNoInstance) {
		t.Errorf("without an instance: %v", err)
	}
}

func TestMisuse(t *testing.T) {
	fleets := func(names ...string) error {
		var err error
		switch len(names) {
		case 1:
			_, err = discoveryhttp.NewTransportOf(nil, newFleet(names[0]))
		case 2:
			_, err = discoveryhttp.NewTransportOf(nil, newFleet(names[0]), newFleet(names[1]))
		}
		return err
	}
	_, none := discoveryhttp.NewTransport[string](nil)
	_, null := discoveryhttp.NewTransport[string](nil, nil)
	for name, err := range map[string]error{
		"no provider": none, "nil provider": null, "the same name": fleets("orders", "Orders"),
		"no name": fleets(""), "a space": fleets("my orders"), "a slash": fleets("a/b"), "a port": fleets("orders:80"),
		"a user": fleets("a@b"), "a query": fleets("a?b"), "a fragment": fleets("a#b"), "an escape": fleets("a%41"),
	} {
		if !errors.Is(err, framework.ErrInvalidOption) || !strings.Contains(err.Error(), "providers: ") {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, name := range []string{"orders", "my-orders", "my_orders", "orders.v1", "örders", "10.0.0.1"} {
		if err := fleets(name); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}

	body := newBody("x")
	request := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "http://orders/", nil)
	request.Body = body
	_, err := new(discoveryhttp.Transport).RoundTrip(request)
	if opened, closed := body.counts(); !errors.Is(err, framework.ErrNotStarted) || opened != closed {
		t.Errorf("zero value: %v, %d of %d bodies closed", err, closed, opened)
	}
	new(discoveryhttp.Transport).CloseIdleConnections()

	b := &base{}
	transport := transportOf(t, b, newFleet("orders", "10.0.0.1"))
	if _, err := transport.RoundTrip(new(http.Request).WithContext(t.Context())); err != nil || len(b.requests) != 1 {
		t.Errorf("a request without a URL is the base transport's: %v", err)
	}
	(&http.Client{Transport: transport}).CloseIdleConnections()
	if b.closed != 1 {
		t.Errorf("CloseIdleConnections of the base transport was called %d times", b.closed)
	}
}

func mustParse(t *testing.T, text, otherwise string) *url.URL {
	t.Helper()
	if text == "" {
		text = otherwise
	}
	u, err := url.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func repeated(hosts []string) bool {
	seen := map[string]bool{}
	for _, h := range hosts {
		if seen[h] {
			return true
		}
		seen[h] = true
	}
	return false
}
