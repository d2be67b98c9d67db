package zk

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"slices"
	"sync"
	"time"
)

const (
	defaultLookupTimeout = 3 * time.Second
	secondLookupTimeout  = time.Second // of a look-up that delays an attempt
)

type lookupHostFn func(context.Context, string) ([]string, error)

// DNSHostProviderOption is an option of a DNSHostProvider.
type DNSHostProviderOption interface {
	apply(*DNSHostProvider)
}

type lookupTimeoutOption time.Duration

func (o lookupTimeoutOption) apply(p *DNSHostProvider) { p.lookupTimeout = time.Duration(o) }

// WithLookupTimeout sets how long the look-up of all servers may take. The default is 3 s.
func WithLookupTimeout(timeout time.Duration) DNSHostProviderOption {
	return lookupTimeoutOption(timeout)
}

// DNSHostProvider is the default HostProvider. It looks the servers up in Init, and tries all their addresses in random
// order. Unlike the driver's it looks them up again when all of them were tried in vain, because they may have
// moved. If that fails, or finds the same addresses, nothing changes.
type DNSHostProvider struct {
	lookupTimeout time.Duration
	lookupHost    lookupHostFn // nil for net.Resolver.LookupHost

	mu    sync.Mutex
	names []string
	found []string
	next  int
	start int // where the round began; -1 before the first attempt
	tries int // since Connected was called
}

// NewDNSHostProvider returns a provider for WithHostProvider.
func NewDNSHostProvider(options ...DNSHostProviderOption) *DNSHostProvider {
	p := &DNSHostProvider{}
	for _, o := range options {
		o.apply(p)
	}
	return p
}

// Init looks up the servers, host:port.
func (hp *DNSHostProvider) Init(servers []string) error {
	found, err := hp.look(servers, defaultLookupTimeout)
	if err != nil {
		return err
	}
	hp.mu.Lock()
	defer hp.mu.Unlock()
	hp.names, hp.found, hp.next, hp.start = slices.Clone(servers), found, 0, -1
	return nil
}

// look returns the addresses of servers, in random order.
func (hp *DNSHostProvider) look(servers []string, atMost time.Duration) ([]string, error) {
	lookup := hp.lookupHost
	if lookup == nil {
		lookup = new(net.Resolver).LookupHost
	}
	timeout := hp.lookupTimeout
	if timeout == 0 {
		timeout = atMost
	}
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	var found []string
	for _, server := range servers {
		host, port, err := net.SplitHostPort(server)
		if err != nil {
			return nil, err
		}
		addresses, err := lookup(ctx, host)
		if err != nil {
			return nil, err
		}
		for _, a := range addresses {
			found = append(found, net.JoinHostPort(a, port))
		}
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("no hosts found for addresses %q", servers)
	}
	rand.Shuffle(len(found), func(i, j int) { found[i], found[j] = found[j], found[i] })
	return found, nil
}

// Len returns the number of addresses.
func (hp *DNSHostProvider) Len() int {
	hp.mu.Lock()
	defer hp.mu.Unlock()
	return len(hp.found)
}

// Next returns the address to be tried next. retryStart says that all of them were tried since Connected was called.
func (hp *DNSHostProvider) Next() (server string, retryStart bool) {
	server, retryStart = hp.advance()
	if retryStart && hp.moved() {
		server, _ = hp.advance()
	}
	return server, retryStart
}

func (hp *DNSHostProvider) advance() (server string, retryStart bool) {
	hp.mu.Lock()
	defer hp.mu.Unlock()
	server, retryStart = hp.found[hp.next], hp.next == hp.start
	if hp.start == -1 {
		hp.start = hp.next
	}
	hp.next = (hp.next + 1) % len(hp.found)
	hp.tries++
	return server, retryStart
}

// moved looks the servers up again. If their addresses are others, these are tried from now on.
func (hp *DNSHostProvider) moved() bool {
	hp.mu.Lock()
	names, failed := hp.names, hp.tries > len(hp.found)
	hp.mu.Unlock()
	if !failed { // the address that was of use just now is as good as any
		return false
	}
	found, err := hp.look(names, secondLookupTimeout)
	hp.mu.Lock()
	defer hp.mu.Unlock()
	if err != nil || slices.Equal(slices.Sorted(slices.Values(found)), slices.Sorted(slices.Values(hp.found))) {
		return false
	}
	hp.found, hp.next, hp.start = found, 0, -1
	return true
}

// Connected notes that the address that Next has returned last is of use: a round begins behind it.
func (hp *DNSHostProvider) Connected() {
	hp.mu.Lock()
	defer hp.mu.Unlock()
	hp.start = (hp.next + len(hp.found) - 1) % len(hp.found)
	hp.tries = 0
}
