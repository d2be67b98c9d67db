package framework

import (
	"context"
	"errors"
	"net"
	"net/netip"
)

// Resolver looks up the addresses of a host. A *net.Resolver is one; others are for tests and
// for other registries. LookupNetIP is called with the network "ip" and a host of the connect
// string, for several hosts at the same time. It must return when ctx ends. Addresses that it
// returns together with an error are used.
type Resolver interface {
	LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error)
}

var _ Resolver = (*net.Resolver)(nil)

// WithResolver sets how the names of servers are looked up, for private DNS servers and for tests.
// The default is net.DefaultResolver.
//
// Names are looked up again each time all servers have been tried, or a connection was lost.
// Each address of a name counts as a server: it is tried in random order, and has its own share
// of the time in which all are tried. A failed look-up counts as one failed attempt. WithTLS
// verifies the server's certificate for the name, not the address.
//
// With WithDialer and without this option the client looks up no names: the dialer gets names,
// as proxies need. With both options the dialer gets addresses.
//
// Java: HostProvider, whose StaticHostProvider uses one random address of each name.
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
