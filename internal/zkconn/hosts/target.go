package hosts

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"slices"
	"sync"
)

// Target is a server to dial.
type Target struct {
	Server  string // host:port, as the client was given it
	Address string // host:port to dial, the same unless the host was looked up
	ip      string // that was found, "" if the host was not looked up
	Err     error  // why there is no address
}

// is tells whether two targets are the same.
func (t Target) is(other Target) bool { return t.Server == other.Server && t.Address == other.Address }

// String returns "zk.example.org:2181 (10.0.0.7)", or without a look-up only what the client was given.
func (t Target) String() string {
	if t.ip == "" {
		return t.Server
	}
	return t.Server + " (" + t.ip + ")"
}

// Attempt is one try to have a connection, and that connection if it succeeds.
type Attempt struct {
	Target Target
	last   bool // the last attempt of its round
	cancel context.CancelCauseFunc
	gone   bool // its server was taken off the list; guarded by List.mu
}

// Finish ends what the attempt's context is for: there is a connection, or there is none.
func (a *Attempt) Finish() { a.cancel(nil) }

// ErrGone is why a connection or an attempt ends whose server was taken off the list.
var ErrGone = errors.New("the server is no more on the list")

// Resolve looks up a host. It must return when ctx ends.
type Resolve = func(ctx context.Context, host string) ([]netip.Addr, error)

// expand looks up the addresses of all servers at the same time. A name without an address becomes one
// target with the reason.
func expand(ctx context.Context, resolve Resolve, servers []string) [][]Target {
	targets := make([][]Target, len(servers))
	var lookUps sync.WaitGroup
	for i, server := range servers {
		host, port, err := net.SplitHostPort(server)
		if _, notLiteral := netip.ParseAddr(host); err != nil || resolve == nil || notLiteral == nil {
			targets[i] = []Target{{Server: server, Address: server}}
			continue
		}
		lookUps.Go(func() { targets[i] = lookUp(ctx, resolve, server, host, port) })
	}
	lookUps.Wait()
	return targets
}

var errNoAddress = errors.New("the name has no address")

// lookUp returns the addresses of one server. Addresses that come with an error are used, too.
func lookUp(ctx context.Context, resolve Resolve, server, host, port string) (targets []Target) {
	addresses, err := callUser("WithResolver", func() ([]netip.Addr, error) { return resolve(ctx, host) })
	for _, a := range addresses {
		ip := a.Unmap().String()
		targets = append(targets, Target{Server: server, Address: net.JoinHostPort(ip, port), ip: ip})
	}
	if len(targets) == 0 {
		if err == nil {
			err = errNoAddress
		}
		return []Target{{Server: server, Address: server, Err: err}}
	}
	return slices.Clip(targets)
}
