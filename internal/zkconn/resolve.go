package zkconn

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"slices"
	"sync"
)

// A target is a server to dial.
type target struct {
	server  string // host:port, as the client was given it
	address string // host:port to dial, the same unless the host was looked up
	ip      string // that was found, "" if the host was not looked up
	err     error  // why there is no address
}

// is tells whether two targets are the same.
func (t target) is(other target) bool { return t.server == other.server && t.address == other.address }

// String returns "zk.example.org:2181 (10.0.0.7)", or without a look-up only what the client was given.
func (t target) String() string {
	if t.ip == "" {
		return t.server
	}
	return t.server + " (" + t.ip + ")"
}

type resolveFunc = func(ctx context.Context, host string) ([]netip.Addr, error)

// expand looks up the addresses of all servers at the same time. A name without an address becomes one
// target with the reason.
func expand(ctx context.Context, resolve resolveFunc, servers []string) [][]target {
	targets := make([][]target, len(servers))
	var lookUps sync.WaitGroup
	for i, server := range servers {
		host, port, err := net.SplitHostPort(server)
		if _, notLiteral := netip.ParseAddr(host); err != nil || resolve == nil || notLiteral == nil {
			targets[i] = []target{{server: server, address: server}}
			continue
		}
		lookUps.Go(func() { targets[i] = lookUp(ctx, resolve, server, host, port) })
	}
	lookUps.Wait()
	return targets
}

var errNoAddress = errors.New("the name has no address")

// lookUp returns the addresses of one server. Addresses that come with an error are used, too.
func lookUp(ctx context.Context, resolve resolveFunc, server, host, port string) (targets []target) {
	addresses, err := callUser("WithResolver", func() ([]netip.Addr, error) { return resolve(ctx, host) })
	for _, a := range addresses {
		ip := a.Unmap().String()
		targets = append(targets, target{server: server, address: net.JoinHostPort(ip, port), ip: ip})
	}
	if len(targets) == 0 {
		if err == nil {
			err = errNoAddress
		}
		return []target{{server: server, address: server, err: err}}
	}
	return slices.Clip(targets)
}
