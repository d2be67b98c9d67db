package ensemble

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strconv"
	"strings"
	"time"
)

// Option sets something of an SRVProvider; see NewSRVProvider.
type Option interface{ apply(*config) error }

type option func(*config) error

func (o option) apply(c *config) error { return o(c) }

type config struct {
	interval time.Duration
	resolver Resolver
	logger   *slog.Logger
	fallback []string // nil for none
}

const (
	defaultInterval = 30 * time.Second
	minInterval     = time.Second
)

func newConfig(opts []Option) (config, error) {
	cfg := config{interval: defaultInterval, resolver: net.DefaultResolver, logger: slog.Default()}
	for _, o := range opts {
		if o == nil {
			return cfg, errors.New("an option is nil")
		}
		if err := o.apply(&cfg); err != nil {
			return cfg, err
		}
	}
	return cfg, nil
}

// Resolver looks up SRV records. A *net.Resolver is one; others are for tests and for other
// registries. LookupSRV is called with an empty service and proto, and name as it was given to
// NewSRVProvider. It must return when ctx ends. It is called by one goroutine at a time.
// Records that it returns together with an error are used.
type Resolver interface {
	LookupSRV(ctx context.Context, service, proto, name string) (cname string, records []*net.SRV, err error)
}

// WithResolver replaces net.DefaultResolver, for private DNS servers and for tests. It is only
// for the SRV records. The client looks up the names in the records with the resolver of
// framework.WithResolver. See the example of NewSRVProvider.
func WithResolver(r Resolver) Option {
	return option(func(c *config) error {
		if r == nil {
			return errors.New("WithResolver: the resolver is nil")
		}
		c.resolver = r
		return nil
	})
}

// WithInterval sets how often the records are read again, in addition to every loss of the
// connection. The default is 30 s, the minimum is 1 s.
func WithInterval(d time.Duration) Option {
	return option(func(c *config) error {
		if d < minInterval {
			return fmt.Errorf("WithInterval(%d) is %v, below %v; Go durations are nanoseconds", int64(d), d, minInterval)
		}
		c.interval = d
		return nil
	})
}

// WithFallback sets servers, each host:port, for a Start whose look-up fails or names no
// server. Start then logs the reason and returns nil, unless its context has ended. These are
// the servers until a look-up succeeds. By default Start fails.
func WithFallback(servers ...string) Option {
	return option(func(c *config) error {
		if len(servers) == 0 {
			return errors.New("WithFallback: there is no server")
		}
		for _, server := range servers {
			if err := checkServer(server); err != nil {
				return fmt.Errorf("WithFallback: %w", err)
			}
		}
		c.fallback = append([]string{}, servers...)
		return nil
	})
}

func checkServer(server string) error {
	host, port, err := net.SplitHostPort(server)
	if err != nil {
		return err
	}
	if !validHost(host) {
		return fmt.Errorf("%q has no valid host name", server)
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
		return fmt.Errorf("%q has no valid port", server)
	}
	return nil
}

// validHost tells whether host can stand in a connect string.
func validHost(host string) bool {
	return host != "" && !strings.ContainsAny(host, ",/[] \t\r\n")
}

// WithLogger sets the logger. The default is slog.Default() at the time of NewSRVProvider.
// Changes are logged at level Info, and the first of several failed look-ups at level Warn.
func WithLogger(logger *slog.Logger) Option {
	return option(func(c *config) error {
		if logger == nil {
			return errors.New("WithLogger: the logger is nil")
		}
		c.logger = logger
		return nil
	})
}
