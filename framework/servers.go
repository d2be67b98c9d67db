package framework

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"github.com/go-curator/curator/internal/wait"
	"github.com/go-curator/curator/internal/zkclient"
	"github.com/go-curator/curator/internal/zkconn"
)

const defaultPort = "2181"

// parseConnectString reads "zk1:2181,zk2:2181/chroot", or "/chroot" if a provider has the servers.
func parseConnectString(s string, provided bool) (servers []string, chroot string, err error) {
	if scheme, _, found := strings.Cut(s, "://"); found {
		return nil, "", fmt.Errorf("%w: connect string %q: leave %q out; it begins with the first server", ErrInvalidOption, s, scheme+"://")
	}
	hosts, rest, hasChroot := strings.Cut(s, "/")
	if hasChroot && rest != "" {
		chroot = "/" + rest
		if err := zkclient.ValidatePath(chroot, false); err != nil {
			return nil, "", fmt.Errorf("%w: connect string %q: chroot: %w", ErrInvalidOption, s, err)
		}
		if server := serverInChroot(chroot); server != "" {
			return nil, "", fmt.Errorf("%w: connect string %q: %q is behind the chroot, which comes once, at the end", ErrInvalidOption, s, server)
		}
	}
	switch {
	case !provided:
		servers, err = parseServers(hosts)
	case hosts != "":
		err = fmt.Errorf("it has servers, which are the ensemble provider's to name")
	}
	if err != nil {
		return nil, "", fmt.Errorf("%w: connect string %q: %w", ErrInvalidOption, s, err)
	}
	return servers, chroot, nil
}

// serverInChroot returns the first host:port behind a comma in a chroot: "zk1:2181/app,zk2:2181/app"
// would otherwise be one server with a chroot that does not exist.
func serverInChroot(chroot string) string {
	for _, part := range strings.Split(chroot, ",")[1:] {
		server, _, _ := strings.Cut(part, "/")
		if _, port, err := net.SplitHostPort(server); err == nil && port != "" {
			return server
		}
	}
	return ""
}

// parseServers reads "zk1:2181,zk2:2181".
func parseServers(s string) ([]string, error) {
	var servers []string
	for host := range strings.SplitSeq(s, ",") {
		server, err := parseServer(strings.TrimSpace(host))
		if err != nil {
			return nil, err
		}
		servers = append(servers, server)
	}
	return servers, nil
}

func parseServer(s string) (string, error) {
	if s == "" {
		return "", fmt.Errorf("a server's name is empty")
	}
	if strings.ContainsAny(s, " \t\r\n;") {
		return "", fmt.Errorf("%q: servers are separated by commas", s)
	}
	host, port, err := net.SplitHostPort(s)
	if err != nil {
		if strings.Count(s, ":") > 1 && !strings.HasPrefix(s, "[") {
			return "", fmt.Errorf("%q: an IPv6 address needs brackets", s)
		}
		host, port, err = net.SplitHostPort(net.JoinHostPort(strings.Trim(s, "[]"), defaultPort))
	}
	if err != nil {
		return "", err
	}
	if host == "" {
		return "", fmt.Errorf("%q has no valid host name", s)
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
		return "", fmt.Errorf("%q has no valid port", s)
	}
	return net.JoinHostPort(host, port), nil
}

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

// EnsembleProvider returns the servers of the ensemble, which may change. The client calls its
// methods without holding a mutex, and one at a time, except that it may call Close while a
// ConnectString that does not return still runs.
//
// Java: EnsembleProvider.
type EnsembleProvider interface {
	// Start is called by the client's Start, with its ctx. When it returns nil it must know the
	// servers. The client's Start returns its error, and may be called again then.
	Start(ctx context.Context) error
	// ConnectString returns a list of host:port, without a chroot. It is called by the client's
	// Start, and on one of the client's goroutines whenever the connection is lost, and every 3
	// s while there is none. If the list differs from the last one, the client uses the new
	// list. A list that cannot be parsed is logged, and changes nothing. It should return the
	// known list without waiting for a look-up.
	ConnectString() string
	// Close is called once at the end of the client's Close, if Start returned nil. It must
	// return when ctx ends.
	Close(ctx context.Context) error
}

// EnsembleNotifier is implemented by an EnsembleProvider that can report new servers before it
// is asked.
//
// Java has no counterpart.
type EnsembleNotifier interface {
	// Changed returns a channel that has a value when the result of ConnectString has changed.
	// The client calls Changed once, after Start, and is the only reader of the channel. While
	// there is no connection, a value makes it call ConnectString immediately instead of up to
	// 3 s later. It ignores a value while there is a connection, because it asks when the
	// connection is lost. A closed or nil channel has no more values.
	Changed() <-chan struct{}
}

// providerPause is how often a provider is asked while there is no connection.
const providerPause = 3 * time.Second

// ensembleServers are where the ensemble is, as the connect string or a provider says.
type ensembleServers struct {
	configured   []string         // of the connect string
	provider     EnsembleProvider // nil for the connect string
	provided     string           // the provider's last answer; used by Start, then by the goroutine of follow
	disconnected wait.Signal      // tells follow that the connection was lost
}

// start starts the provider, if there is one.
func (s *ensembleServers) start(ctx context.Context) error {
	if s.provider == nil {
		return nil
	}
	if err := s.provider.Start(ctx); err != nil {
		return fmt.Errorf("start the ensemble provider: %w", err)
	}
	return nil
}

// firstServers returns the servers to start with.
func (s *ensembleServers) firstServers() ([]string, error) {
	if s.provider == nil {
		return s.configured, nil
	}
	return s.queryProvider()
}

// queryProvider asks the provider for the servers.
func (s *ensembleServers) queryProvider() ([]string, error) {
	s.provided = s.provider.ConnectString()
	servers, err := parseServers(s.provided)
	if err != nil {
		return nil, fmt.Errorf("%w: the ensemble provider's connect string %q: %w", ErrInvalidOption, s.provided, err)
	}
	return servers, nil
}

// follow asks the provider until life ends. It calls changed when conn has got other servers, and
// refused when the provider's answer is no list.
func (s *ensembleServers) follow(life context.Context, conn *zkconn.Conn, changed func(), refused func(error)) {
	timer := time.NewTimer(providerPause)
	defer timer.Stop()
	var notified <-chan struct{}
	if n, ok := s.provider.(EnsembleNotifier); ok {
		notified = n.Changed()
	}
	for {
		var again <-chan time.Time
		if !conn.State().IsConnected() {
			timer.Reset(providerPause)
			again = timer.C
		}
		select {
		case <-s.disconnected:
		case <-again:
			if conn.State().IsConnected() { // since then
				continue
			}
		case _, open := <-notified:
			if !open {
				notified = nil
			}
			if !open || conn.State().IsConnected() { // it is asked when that is lost
				continue
			}
		case <-life.Done():
			return
		}
		last := s.provided
		servers, err := s.queryProvider()
		switch {
		case s.provided == last:
		case err != nil:
			refused(err)
		default:
			conn.SetServers(servers)
			changed()
		}
	}
}

// close closes the provider, if there is one; it was started.
func (s *ensembleServers) close(ctx context.Context) error {
	if s.provider == nil {
		return nil
	}
	if err := s.provider.Close(ctx); err != nil {
		return fmt.Errorf("close the ensemble provider: %w", err)
	}
	return nil
}

// WithEnsembleProvider takes the servers from p. The connect string of NewClient must then
// be "", or a chroot alone, "/app". A provider belongs to one client. Package
// framework/ensemble has one that reads DNS SRV records. If p is an EnsembleNotifier, too, the
// client learns of new servers sooner.
//
// Java: Builder.ensembleProvider.
func WithEnsembleProvider(p EnsembleProvider) Option {
	return option(func(c *config) error {
		if p == nil {
			return errors.New("WithEnsembleProvider: the provider is nil")
		}
		c.provider = p
		return nil
	})
}

// WithoutEnsembleTracker makes the client ignore the ensemble's own configuration.
//
// By default a client reads the configuration with every new connection and watches it. If it
// has an address for clients for each server, as dynamic configurations have, the client tries
// these servers from then on, before those of the connect string. Otherwise nothing changes,
// for example with a server that has no ensemble, or whose configuration the client may not
// read. The client never ends a working connection because of the configuration.
//
// Use this option if clients cannot reach the configured addresses, for example behind proxies
// or in containers. Otherwise the client tries each of these addresses in vain before the
// connect string's. With WithTLS the configuration is always ignored, because it has no ports
// for TLS.
//
// Java: Builder.ensembleTracker(false).
func WithoutEnsembleTracker() Option {
	return option(func(c *config) error {
		c.untracked = true
		return nil
	})
}

// tracks tells whether the client follows the ensemble's configuration.
func (c *config) tracks() bool { return !c.untracked && c.tls == nil }
