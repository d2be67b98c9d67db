package discoveryhttp_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/recipes/discovery"
)

// at returns a fleet of servers, of which http and https go to the same port.
func at(t *testing.T, servers ...*httptest.Server) *fleet {
	t.Helper()
	f := newFleet("orders", "none")
	f.all = nil
	for _, s := range servers {
		u, err := url.Parse(s.URL)
		if err != nil {
			t.Fatal(err)
		}
		port, err := strconv.Atoi(u.Port())
		if err != nil {
			t.Fatal(err)
		}
		f.all = append(f.all, discovery.ServiceInstance[string]{Name: "orders", ID: u.Host, Address: u.Hostname(), Port: port, SSLPort: port})
	}
	return f
}

func echo(w http.ResponseWriter, r *http.Request) { _, _ = io.Copy(w, r.Body) }

// A failed handshake sends nothing: the request goes to another instance, with a body that can be
// read only once. The name of the service in Host does not disturb TLS.
func TestHandshake(t *testing.T) {
	plain, secure := httptest.NewServer(http.HandlerFunc(echo)), httptest.NewTLSServer(http.HandlerFunc(echo))
	defer plain.Close()
	defer secure.Close()
	f := at(t, plain, secure)
	client := secure.Client()
	client.Transport = transportOf(t, client.Transport, f)
	defer client.CloseIdleConnections()
	response, err := client.Post("https://orders/", "text/plain", io.MultiReader(strings.NewReader("body")))
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if text, err := io.ReadAll(response.Body); string(text) != "body" || err != nil || len(f.notes()) != 1 {
		t.Errorf("answer %q, %v; errors of %v are noted", text, err, f.notes())
	}
}

// An instance that never answers is blamed for missing the deadline of the request, of which the
// caller is told as such, or a limit of the base transport, but not for a cancellation.
func TestSilent(t *testing.T) {
	release := make(chan struct{})
	silent := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		<-release
	}))
	defer silent.Close()
	defer close(release)
	answering := httptest.NewServer(http.HandlerFunc(echo))
	defer answering.Close()

	f := at(t, silent)
	client := &http.Client{Transport: transportOf(t, &http.Transport{}, f), Timeout: 20 * time.Millisecond}
	defer client.CloseIdleConnections()
	suite.Eventually(t, "an error of the instance", func() bool { // a slow machine may not even begin in that time
		_, err := client.Get("http://orders/")
		if failure := (net.Error)(nil); !errors.As(err, &failure) || !failure.Timeout() {
			t.Errorf("error %v", err)
		}
		return len(f.notes()) > 0
	})

	f = at(t, silent)
	client = &http.Client{Transport: transportOf(t, &http.Transport{}, f), Timeout: time.Hour}
	defer client.CloseIdleConnections()
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(20*time.Millisecond, cancel)
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://orders/", nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.Do(request); !errors.Is(err, context.Canceled) || len(f.notes()) != 0 {
		t.Errorf("canceled: %v, errors of %v are noted", err, f.notes())
	}

	f = at(t, silent, answering)
	client = &http.Client{Transport: transportOf(t, &http.Transport{ResponseHeaderTimeout: 500 * time.Millisecond}, f)}
	defer client.CloseIdleConnections()
	response, err := client.Get("http://orders/")
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	if len(f.notes()) != 1 {
		t.Errorf("errors of %v are noted", f.notes())
	}
}

// Requests that net/http refuses to send, and answers of any status, are no errors of an instance.
func TestNoErrors(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/" {
			http.Redirect(w, r, "elsewhere", http.StatusFound)
			return
		}
		http.Error(w, r.Host+r.URL.Path, http.StatusServiceUnavailable)
	}))
	defer server.Close()
	f := at(t, server)
	client := &http.Client{Transport: transportOf(t, &http.Transport{}, f)}
	defer client.CloseIdleConnections()
	response, err := client.Get("http://orders/")
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(response.Body)
	response.Body.Close()
	if string(text) != "orders/elsewhere\n" || err != nil || response.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("%s: %q, %v", response.Status, text, err)
	}
	if got := response.Request.URL.String(); got != "http://orders/elsewhere" {
		t.Errorf("the response is to %s", got)
	}
	request := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "http://orders/", nil)
	request.RequestURI = ""
	request.Header["no header"] = []string{"x"}
	if _, err := client.Do(request); err == nil {
		t.Error("an invalid header was sent")
	}
	if notes := f.notes(); len(notes) != 0 {
		t.Errorf("errors of %v are noted", notes)
	}
}
