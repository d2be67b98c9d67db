package discoveryhttp_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/go-curator/curator/recipes/discovery/discoveryhttp"
)

// silent is a base transport that costs nothing.
type silent struct{ response *http.Response }

func (s silent) RoundTrip(*http.Request) (*http.Response, error) { return s.response, nil }

// BenchmarkRoundTrip is what a request costs beside the base transport.
func BenchmarkRoundTrip(b *testing.B) {
	transport, err := discoveryhttp.NewTransportOf(silent{&http.Response{}}, newFleet("orders", "10.0.0.1", "10.0.0.2"))
	if err != nil {
		b.Fatal(err)
	}
	request := httptest.NewRequestWithContext(b.Context(), http.MethodGet, "http://orders/v1/orders/7", nil)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := transport.RoundTrip(request); err != nil {
			b.Fatal(err)
		}
	}
}
