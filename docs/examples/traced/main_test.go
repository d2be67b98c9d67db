package main

import (
	"net/http"
	"net/http/httptest"
	"testing"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/recipes/locks"
	"github.com/go-curator/curator/tools/curatortest"
	"github.com/go-curator/curator/tracing"
)

const traceID = "4bf92f3577b34da6a3ce929d0e0e4736"

func TestTraced(t *testing.T) {
	server := curatortest.Start(t)
	spans := tracetest.NewSpanRecorder()
	provider := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(spans))
	client := newClient(t, server, provider)
	handler := newHandler(client, provider)

	if got := post(t, handler, "/orders/17"); got.Code != http.StatusOK || got.Body.String() != "done\n" {
		t.Errorf("%d %s", got.Code, got.Body)
	}
	byName := map[string]sdktrace.ReadOnlySpan{}
	for _, s := range spans.Ended() {
		byName[s.Name()] = s
	}
	for child, parent := range map[string]string{
		"charge":               "curator.lock.do",
		"curator.lock.acquire": "curator.lock.do",
		"curator.lock.do":      "POST /orders/{id}",
	} {
		c, p := byName[child], byName[parent]
		if c == nil || p == nil || c.Parent().SpanID() != p.SpanContext().SpanID() {
			t.Errorf("%s is no child of %s", child, parent)
		}
	}
	if s := byName["POST /orders/{id}"]; s == nil || s.SpanContext().TraceID().String() != traceID {
		t.Error("the request does not go on with the caller's trace")
	}
}

// A lock that somebody else has is no error of the service: the caller may come again.
func TestBusy(t *testing.T) {
	server := curatortest.Start(t)
	other := server.Client(t)
	mutex, err := locks.NewInterProcessMutex(other, "/locks/orders/17")
	if err != nil {
		t.Fatal(err)
	}
	lease, err := mutex.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	provider := sdktrace.NewTracerProvider()
	handler := newHandler(newClient(t, server, provider), provider)
	if got := post(t, handler, "/orders/17"); got.Code != http.StatusServiceUnavailable || got.Header().Get("Retry-After") == "" {
		t.Errorf("%d %s", got.Code, got.Body)
	}
	if got := post(t, handler, "/orders/18"); got.Code != http.StatusOK {
		t.Errorf("another order: %d %s", got.Code, got.Body)
	}
	if err := lease.Release(t.Context()); err != nil {
		t.Error(err)
	}
}

func post(t *testing.T, handler http.Handler, path string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, path, nil)
	r.Header.Set("Traceparent", "00-"+traceID+"-00f067aa0ba902b7-01")
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, r)
	return w
}

func newClient(t *testing.T, server *curatortest.Server, provider *sdktrace.TracerProvider) *framework.Client {
	t.Helper()
	return curatortest.NewClient(t, server.ConnectString(), framework.WithTracing(tracing.WithTracerProvider(provider)))
}
