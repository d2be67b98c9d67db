package discoveryhttp

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/recipes/discovery"
)

// Transport is a http.RoundTripper that sends requests for the name of a service to one of its
// instances, and others to a base transport. The package documentation says which. NewTransport
// makes it; the zero value refuses every request with framework.ErrNotStarted.
//
// Java: none.
type Transport struct {
	base     http.RoundTripper
	services map[string]service // by the name in lower case
}

var _ http.RoundTripper = (*Transport)(nil)

// NewTransport returns a transport for the services of the providers. base is
// http.DefaultTransport if it is nil. NewTransport does no I/O. For providers with payloads of
// different types make one transport the base of the next.
//
// It returns framework.ErrInvalidOption if there is no provider, if one is nil, if the name of
// a service cannot be the host of a URL, or if two names differ only in case.
//
// Java: none.
func NewTransport[T any](base http.RoundTripper, providers ...*discovery.ServiceProvider[T]) (*Transport, error) {
	services := make([]service, len(providers))
	for i, p := range providers {
		if p == nil {
			return nil, fmt.Errorf("%w: providers: number %d is nil", framework.ErrInvalidOption, i+1)
		}
		services[i] = chosen[T]{p}
	}
	return newTransport(base, services)
}

func newTransport(base http.RoundTripper, services []service) (*Transport, error) {
	if len(services) == 0 {
		return nil, fmt.Errorf("%w: providers: there is none", framework.ErrInvalidOption)
	}
	if base == nil {
		base = http.DefaultTransport
	}
	t := &Transport{base: base, services: make(map[string]service, len(services))}
	for _, s := range services {
		if err := t.add(s); err != nil {
			return nil, err
		}
	}
	return t, nil
}

func (t *Transport) add(s service) error {
	name := s.Name()
	if !isHost(name) {
		return fmt.Errorf("%w: providers: the service %q has a name that cannot be the host of a URL", framework.ErrInvalidOption, name)
	}
	key := strings.ToLower(name)
	if other, ok := t.services[key]; ok {
		return fmt.Errorf("%w: providers: the services %q and %q are the same host", framework.ErrInvalidOption, other.Name(), name)
	}
	t.services[key] = s
	return nil
}

// isHost tells whether a URL with the name as its host is parsed as such.
func isHost(name string) bool {
	u, err := url.Parse("http://" + name + "/")
	return err == nil && u.Host == name && u.Hostname() == name && name != "" && u.Path == "/"
}

// RoundTrip sends the request, as the package documentation says. It follows the rules of
// http.RoundTripper: it does not change the request, and closes its body in any case. The context
// of the request bounds all attempts together.
func (t *Transport) RoundTrip(request *http.Request) (*http.Response, error) {
	if t.base == nil {
		closeBody(request)
		return nil, fmt.Errorf("%w: the transport was not made by NewTransport", framework.ErrNotStarted)
	}
	s := t.serviceOf(request.URL)
	if s == nil {
		return t.base.RoundTrip(request)
	}
	return (&exchange{base: t.base, service: s, request: request}).run()
}

// serviceOf returns the service that the URL names, or nil.
func (t *Transport) serviceOf(u *url.URL) service {
	if u == nil || u.Scheme != "http" && u.Scheme != "https" {
		return nil
	}
	return t.services[strings.ToLower(u.Host)] // with a port it is no service's name
}

// CloseIdleConnections closes idle connections of the base transport, if it can; http.Client
// calls it.
func (t *Transport) CloseIdleConnections() {
	if base, ok := t.base.(interface{ CloseIdleConnections() }); ok {
		base.CloseIdleConnections()
	}
}
