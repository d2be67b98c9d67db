package discoverygrpc

import (
	"net"
	"strconv"

	"google.golang.org/grpc/experimental/balancer/weight"
	"google.golang.org/grpc/resolver"

	"github.com/go-curator/curator/recipes/discovery"
)

// endpoints returns the function that makes endpoints of instances, and tells whether they have
// an address.
func (c Config[T]) endpoints(secure bool) func(discovery.ServiceInstance[T]) (resolver.Endpoint, bool) {
	address := c.Address
	if address == nil {
		address = func(instance discovery.ServiceInstance[T]) resolver.Address {
			return resolver.Address{Addr: addressOf(instance, secure)}
		}
	}
	return func(instance discovery.ServiceInstance[T]) (resolver.Endpoint, bool) {
		a := address(instance)
		if a.Addr == "" {
			return resolver.Endpoint{}, false
		}
		endpoint := resolver.Endpoint{Addresses: []resolver.Address{a}}
		if c.Weight != nil {
			endpoint = weight.Set(endpoint, weight.EndpointInfo{Weight: c.Weight(instance)})
		}
		return endpoint, true
	}
}

// addressOf returns address and port, or "". What others have registered may be nonsense; gRPC
// finds out that it cannot connect to that.
func addressOf[T any](instance discovery.ServiceInstance[T], secure bool) string {
	port := instance.Port
	if secure && instance.SSLPort != 0 {
		port = instance.SSLPort
	}
	if instance.Address == "" || port < 1 || port > 65535 {
		return ""
	}
	return net.JoinHostPort(instance.Address, strconv.Itoa(port))
}

// isSecure reports whether a ClientConn has transport credentials other than those of package
// insecure.
func isSecure(opts resolver.BuildOptions) bool {
	creds := opts.DialCreds
	if opts.CredsBundle != nil {
		creds = opts.CredsBundle.TransportCredentials()
	}
	return creds != nil && creds.Info().SecurityProtocol != "insecure"
}
