package framework

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"time"

	"github.com/go-curator/curator/framework/schema"
	"github.com/go-curator/curator/internal/telemetry"
	"github.com/go-curator/curator/internal/zkconn"
	"github.com/go-curator/curator/retry"
	"github.com/go-curator/curator/state"
	"github.com/go-curator/curator/tracing"
)

// Option is an option of a client; see NewClient.
type Option interface{ apply(*config) error }

type option func(*config) error

func (o option) apply(c *config) error { return o(c) }

type config struct {
	retryPolicy       retry.Policy
	sessionTimeout    time.Duration
	connectionTimeout time.Duration
	maxCloseWait      time.Duration
	lossMargin        time.Duration
	lossPercent       int
	syncProof         bool
	readOnly          bool
	maxData           int
	maxReply          int
	namespace         string
	auth              []zkconn.Auth
	sasl              zkconn.SASL // nil for none
	dial              dialFunc    // nil for net.Dialer.DialContext
	lookUp            lookUpFunc  // nil for the default
	tls               *tls.Config // nil for none
	defaultData       []byte
	containers        bool
	aclProvider       ACLProvider // nil opens everything
	compression       CompressionProvider
	compressAll       bool
	errorPolicy       state.ErrorPolicy
	breaker           retry.Policy // nil for none
	logger            *slog.Logger
	untraced          bool
	tracing           tracing.Settings
	ownerLabel        string
	provider          EnsembleProvider // nil for the connect string
	untracked         bool
	schemas           *schema.Set // nil permits everything
}

type (
	dialFunc   = func(ctx context.Context, network, address string) (net.Conn, error)
	lookUpFunc = func(ctx context.Context, network, host string) ([]netip.Addr, error)
)

const (
	// defaultMaxData leaves a server's default jute.maxbuffer, 0xfffff bytes, room.
	defaultMaxData = 0xfffff - 1024
	// minSessionTimeout is two ticks of the fastest server anyone runs.
	minSessionTimeout = 10 * time.Millisecond
	maxSessionTimeout = 24 * time.Hour
)

func newConfig(policy retry.Policy, opts []Option) (config, error) {
	cfg := config{
		retryPolicy:       policy,
		sessionTimeout:    60 * time.Second,
		connectionTimeout: 15 * time.Second,
		maxCloseWait:      time.Second,
		lossPercent:       100,
		maxData:           defaultMaxData,
		maxReply:          16 << 20,
		defaultData:       localAddress(),
		containers:        true,
		compression:       GzipCompressionProvider(),
		errorPolicy:       state.StandardErrorPolicy(),
		logger:            slog.Default(),
		ownerLabel:        telemetry.DefaultLabel(),
	}
	if err := retry.Validate(policy); err != nil {
		return cfg, fmt.Errorf("%w: %w", ErrInvalidOption, err)
	}
	for _, o := range opts {
		if o == nil {
			return cfg, fmt.Errorf("%w: an option is nil", ErrInvalidOption)
		}
		if err := o.apply(&cfg); err != nil {
			return cfg, fmt.Errorf("%w: %w", ErrInvalidOption, err)
		}
	}
	cfg.errorPolicy = decide(cfg.errorPolicy)
	return cfg, nil
}

// checkDuration refuses durations that nobody means, above all milliseconds from Java.
func checkDuration(name string, d, least, most time.Duration) error {
	switch {
	case d > 0 && d < time.Millisecond:
		return fmt.Errorf("%s(%d) is %v; Go durations are nanoseconds: %d*time.Millisecond?", name, int64(d), d, int64(d))
	case d < least:
		return fmt.Errorf("%s(%v) is below %v", name, d, least)
	case d > most:
		return fmt.Errorf("%s(%v) is above %v", name, d, most)
	}
	return nil
}

func durationOption(name string, d, least time.Duration, set func(*config)) Option {
	return option(func(c *config) error {
		if err := checkDuration(name, d, least, maxSessionTimeout); err != nil {
			return err
		}
		set(c)
		return nil
	})
}

// WithSessionTimeout asks for a session timeout. The default is 60 s, as in Java; the
// server may grant another, see SessionTimeout. It limits the time for which a lock stays held
// after its holder died, and the time that a partition may last before locks are lost.
//
// Use five of the server's ticks or more, because a stall of more than 0.27 of the timeout ends
// leases. A client that holds something or waits sends two requests every 0.3 of the timeout,
// and one of them is a write (docs/session.md). Java: sessionTimeoutMs.
func WithSessionTimeout(d time.Duration) Option {
	return durationOption("WithSessionTimeout", d, minSessionTimeout, func(c *config) { c.sessionTimeout = d })
}

// WithConnectionTimeout sets how long an attempt of an operation waits for a connection before
// it fails and the retry policy is asked. The default is 15 s.
func WithConnectionTimeout(d time.Duration) Option {
	return durationOption("WithConnectionTimeout", d, time.Millisecond, func(c *config) { c.connectionTimeout = d })
}

// WithMaxCloseWait sets how long Close works when its context has ended already. The
// default is 1 s. Java: maxCloseWaitMs.
func WithMaxCloseWait(d time.Duration) Option {
	return durationOption("WithMaxCloseWait", d, time.Millisecond, func(c *config) { c.maxCloseWait = d })
}

// WithNamespace puts every path of the client below a namespace; see UsingNamespace.
func WithNamespace(namespace string) Option {
	return option(func(c *config) error {
		_, err := namespacePrefix(namespace)
		c.namespace = namespace
		return err
	})
}

// WithAuthorization adds credentials, which are sent on every connection before all other
// requests: "digest", "user:password". A server that refuses them ends the connection, and the client
// tries the others. When each server that can be reached has refused, and there were three refusals at
// least since a server served the client, every operation returns [ErrAuthFailed].
func WithAuthorization(scheme string, auth []byte) Option {
	return option(func(c *config) error {
		if scheme == "" {
			return errors.New("WithAuthorization: the scheme is empty")
		}
		c.auth = append(c.auth, zkconn.Auth{Scheme: scheme, Auth: append([]byte{}, auth...)})
		return nil
	})
}

// WithDialer replaces net.Dialer.DialContext, for proxies and for curatortest. dial must return
// when its context ends. It gets names as they are in the connect string, or addresses with
// WithResolver.
//
// The connections must support deadlines for reads and writes, because the client could not
// notice a silent server without them. The client refuses connections without deadlines, and
// the error says so. To check this, it reads and writes with past deadlines before it uses a
// connection that is not of package net. It checks the connection below TLS if the TLS
// connection has a method NetConn.
func WithDialer(dial func(ctx context.Context, network, address string) (net.Conn, error)) Option {
	return option(func(c *config) error {
		if dial == nil {
			return errors.New("WithDialer: the function is nil")
		}
		c.dial = dial
		return nil
	})
}

// WithDefaultData sets the data of creates that give none; nil means empty. The default is the
// local IP address as text, as in Java. It is the first public or private IPv4 address of the
// network interfaces; Java looks up the host's name.
func WithDefaultData(data []byte) Option {
	return option(func(c *config) error {
		c.defaultData = append([]byte{}, data...)
		return nil
	})
}

// WithoutContainerParents makes CreatingParentContainersIfNeeded create persistent
// parents, for servers older than 3.5. Java: dontUseContainerParents.
func WithoutContainerParents() Option {
	return option(func(c *config) error {
		c.containers = false
		return nil
	})
}

// WithSimulatedSessionExpirationPercent sets the part of the session timeout after which the
// state becomes Lost if no server has answered: 1 to 100 percent. The default is 100.
func WithSimulatedSessionExpirationPercent(percent int) Option {
	return option(func(c *config) error {
		if percent < 1 || percent > 100 {
			return fmt.Errorf("WithSimulatedSessionExpirationPercent(%d) is not from 1 to 100", percent)
		}
		c.lossPercent = percent
		return nil
	})
}

// WithLossMargin sets the time by which leases end before the servers can end the session. In
// this time a holder must stop; it also covers clocks that run at different rates. The default
// is an eighth of the session timeout, the maximum is three tenths; a larger value is reduced
// to three tenths, because a proof of the session may be six tenths old when the next one
// comes; see docs/session.md.
func WithLossMargin(d time.Duration) Option {
	return durationOption("WithLossMargin", d, time.Millisecond, func(c *config) { c.lossMargin = d })
}

// WithSyncProof makes the client prove its session without writes. A client that holds
// something or waits sends a sync and a transaction that changes nothing, every 0.3 of the
// session timeout, to know that the leader has heard of its session. With this option the
// transaction is replaced by a second sync. It is for ensembles that cannot afford one write
// per client and period.
//
// A leader that was replaced and does not know it answers a sync, but cannot complete a write.
// So leases are safe from such a leader only if the sum of 0.3 of the session timeout and the
// loss margin is at least syncLimit + 1 ticks: a session timeout of 28 s or more, with a tick
// of 2 s, a syncLimit of 5 and the default margin. Java Curator does not prove its session.
func WithSyncProof() Option {
	return option(func(c *config) error {
		c.syncProof = true
		return nil
	})
}

// WithErrorPolicy sets the connection states in which recipes treat their work as failed. The
// default is state.StandardErrorPolicy: locks are lost at Suspended. NewClient asks the policy once for
// each state, and nobody asks it later.
// Java: connectionStateErrorPolicy.
func WithErrorPolicy(p state.ErrorPolicy) Option {
	return option(func(c *config) error {
		if p == nil {
			return errors.New("WithErrorPolicy: the policy is nil")
		}
		c.errorPolicy = p
		return nil
	})
}

// WithMaxData sets the largest request, just under 1 MiB by default; it must not
// exceed the servers' jute.maxbuffer.
func WithMaxData(bytes int) Option {
	return option(func(c *config) error {
		if bytes < 1024 {
			return fmt.Errorf("WithMaxData(%d) is below 1024", bytes)
		}
		c.maxData = bytes
		return nil
	})
}

// WithMaxReply sets the largest answer that the client accepts, 16 MiB by default, at least 1
// MiB. It matters for lists of very many children; the servers' jute.maxbuffer limits nodes. A
// larger answer is dropped, and its request fails with ErrTooLarge. Other requests are not
// affected.
// Java: the system property jute.maxbuffer; there such an answer ends the connection.
func WithMaxReply(bytes int) Option {
	return option(func(c *config) error {
		if bytes < 1<<20 {
			return fmt.Errorf("WithMaxReply(%d) is below 1 MiB", bytes)
		}
		c.maxReply = bytes
		return nil
	})
}

// WithLogger sets the logger. The default is slog.Default() at the time of NewClient.
// slog.New(slog.DiscardHandler) silences the client.
func WithLogger(logger *slog.Logger) Option {
	return option(func(c *config) error {
		if logger == nil {
			return errors.New("WithLogger: the logger is nil")
		}
		c.logger = logger
		return nil
	})
}
