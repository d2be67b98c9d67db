package framework

import (
	"context"
	"errors"
	"net"
	"net/netip"
)

// Resolver looks the addresses of a host up. A *net.Resolver is one; others are for tests and for
// registries of another kind. LookupNetIP is called with the network "ip" and a host as it is in
// the connect string, for several hosts at a time. It must return when ctx ends. Addresses that
// come with an error are used all the same.
type Resolver interface {
	LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error)
}

var _ Resolver = (*net.Resolver)(nil)

// WithResolver sets how the names of servers are looked up, for private DNS servers and for tests.
// The default is net.DefaultResolver.
//
// Names are looked up anew each time all servers have been tried, or a connection was lost. A name
// with several addresses stands for as many servers: each has its turn, in random order, and its
// own share of the time in which all are tried. A name that cannot be looked up is one attempt that
// fails. It is still the name for which WithTLS verifies the server's certificate.
//
// With WithDialer and without this option nothing is looked up: the dialer is given names, as
// proxies need. With both the dialer is given addresses.
//
// Java: HostProvider, whose StaticHostProvider takes one address of each name, by chance.
func WithResolver(r Resolver) Option {
	return option(func(c *config) error {
		if r == nil {
			return errors.New("WithResolver: the resolver is nil")
		}
		c.lookUp = r.LookupNetIP
		return nil
	})
}

// resolve returns how names are looked up, nil if they are not.
func (c *config) resolve() func(ctx context.Context, host string) ([]netip.Addr, error) {
	lookUp := c.lookUp
	switch {
	case lookUp == nil && c.dial != nil:
		return nil
	case lookUp == nil:
		lookUp = net.DefaultResolver.LookupNetIP
	}
	return func(ctx context.Context, host string) ([]netip.Addr, error) { return lookUp(ctx, "ip", host) }
}
