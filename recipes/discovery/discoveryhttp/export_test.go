package discoveryhttp

import "net/http"

// NewTransportOf is NewTransport for providers that a test has made.
func NewTransportOf[T any](base http.RoundTripper, providers ...provider[T]) (*Transport, error) {
	var services []service
	for _, p := range providers {
		services = append(services, chosen[T]{p})
	}
	return newTransport(base, services)
}
