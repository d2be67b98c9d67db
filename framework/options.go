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

	"github.com/go-curator/curator/internal/telemetry"
	"github.com/go-curator/curator/internal/zkclient"
	"github.com/go-curator/curator/internal/zkconn"
	"github.com/go-curator/curator/retry"
	"github.com/go-curator/curator/state"
	"github.com/go-curator/curator/tracing"
)

// Option is an option of a client; see NewClient.
type Option interface{ apply(*config) error }

type option func(*config) error

func (o option) apply(c *config) error { return o(c) }

// config is what the options say. newCore adds what the client itself has to say to client and conn.
type config struct {
	client       zkclient.Config
	conn         zkconn.Config
	maxCloseWait time.Duration
	namespace    string
	dial         dialFunc    // nil for net.Dialer.DialContext
	lookUp       lookUpFunc  // nil for the default
	tls          *tls.Config // nil for none
	acl          defaultACL
	breaker      retry.Policy // nil for none
	untraced     bool
	tracing      tracing.Settings
	ownerLabel   string
	provider     EnsembleProvider // nil for the connect string
	untracked    bool
}

type (
	dialFunc   = func(ctx context.Context, network, address string) (net.Conn, error)
	lookUpFunc = func(ctx context.Context, network, host string) ([]netip.Addr, error)
)

const (
	// defaultMaxBuffer is a server's default jute.maxbuffer.
	defaultMaxBuffer = 0xfffff
	// defaultMaxData leaves that room.
	defaultMaxData = defaultMaxBuffer - 1024
	// minSessionTimeout is two ticks of the fastest server anyone runs.
	minSessionTimeout = 10 * time.Millisecond
	maxSessionTimeout = 24 * time.Hour
)

func newConfig(policy retry.Policy, opts []Option) (config, error) {
	cfg := config{
		client: zkclient.Config{
			Retry:       policy,
			ErrorPolicy: state.StandardErrorPolicy(),
			Logger:      slog.Default(),
			DefaultData: localAddress(),
			Containers:  true,
			Compression: GzipCompressionProvider(),
		},
		conn: zkconn.Config{
			SessionTimeout:    60 * time.Second,
			ConnectionTimeout: 15 * time.Second,
			LossPercent:       100,
			MaxRequest:        defaultMaxData,
			MaxReply:          16 << 20,
		},
		maxCloseWait: time.Second,
		ownerLabel:   telemetry.DefaultLabel(),
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
	if err := cfg.acl.check(); err != nil {
		return cfg, err
	}
	if cfg.conn.MaxBuffer == 0 {
		cfg.conn.MaxBuffer = max(defaultMaxBuffer, cfg.conn.MaxRequest)
	}
	cfg.client.ErrorPolicy = zkclient.Decide(cfg.client.ErrorPolicy)
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
	return durationOption("WithSessionTimeout", d, minSessionTimeout, func(c *config) { c.conn.SessionTimeout = d })
}

// WithConnectionTimeout sets how long an attempt of an operation waits for a connection before
// it fails and the retry policy is asked. The default is 15 s.
func WithConnectionTimeout(d time.Duration) Option {
	return durationOption("WithConnectionTimeout", d, time.Millisecond, func(c *config) { c.conn.ConnectionTimeout = d })
}

// WithFailFast ends an attempt of an operation as soon as all servers have been tried in vain since it began to wait,
// and not only after the connection timeout. The retry policy decides what follows. It is off by default, as in
// Java: while an ensemble restarts, the retries would be used up within moments.
//
// It does not shorten what waits for a connection in another way, such as BlockUntilConnected and the recipes, which try
// again for as long as their context lets them.
func WithFailFast() Option {
	return option(func(c *config) error {
		c.conn.FailFast = true
		return nil
	})
}

// WithMaxInFlight lets at most n operations have requests outstanding at a time. Further operations wait in
// the order in which they came, and each of them is sent when an earlier one was answered. It is for servers
// that many goroutines of one program must not load at once. Without the option there is no limit, except
// for 100,000 requests that wait for an answer.
//
// What is sent together counts as one operation: a transaction, up to 512 operations of a Batch, up to 64
// nodes of a ReadMany, a new node and the list of its siblings. An operation that sends one request behind
// another, as a create of missing parents does, waits for each of them again, and for nothing while it waits
// for a watch, for a pause of the retry policy or for another operation. So it is no deadlock that one
// operation needs another one to go on, even if n is 1.
//
// The operations of recipes count, and deletes in the background. The client's own requests do not, and
// never wait: pings, proofs of the session, credentials, watches that are restored or given back, and the
// end of the session.
//
// An operation whose ctx ends while it waits was not sent: its error matches ctx.Err, and its text says that
// the limit was reached. The wait counts for no other timeout. When the connection is lost, operations that
// wait fail as others that were not sent, and the retry policy is asked. When the client is closed, they
// return ErrClosed. The limit is that of a client with all its views, not that of a process. n below 1 is
// ErrInvalidOption.
//
// Java: none; programs have a Semaphore for it.
func WithMaxInFlight(n int) Option {
	return option(func(c *config) error {
		if n < 1 {
			return fmt.Errorf("WithMaxInFlight(%d) is below 1", n)
		}
		c.conn.MaxInFlight = n
		return nil
	})
}

// WithMaxCloseWait sets how long Close works when its context has ended already. The
// default is 1 s. Java: maxCloseWaitMs.
func WithMaxCloseWait(d time.Duration) Option {
	return durationOption("WithMaxCloseWait", d, time.Millisecond, func(c *config) { c.maxCloseWait = d })
}

// WithNamespace puts every path of the client below a namespace; see UsingNamespace.
func WithNamespace(namespace string) Option {
	return option(func(c *config) error {
		_, err := zkclient.NamespacePrefix(namespace)
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
		c.conn.Auth = append(c.conn.Auth, zkconn.Auth{Scheme: scheme, Auth: append([]byte{}, auth...)})
		return nil
	})
}

// WithDialer replaces net.Dialer.DialContext, for proxies and for curatortest. dial must return
// when its context ends. It gets names as they are in the connect string, or addresses with
// WithResolver.
//
// The connections need not support deadlines. The client relies on those of a *net.TCPConn, a
// *net.UnixConn, and a *tls.Conn above one of them. It closes any other connection when a read or a
// write takes too long, to notice a silent server. So Close must end reads and writes that run, at
// once and without the help of the other side: the channel of an SSH connection does not. It is called
// once, and may be called on any goroutine. If the connection has a method NetConn, as one of TLS has,
// the connection below, which that returns, is closed first, and may be closed again.
func WithDialer(dial func(ctx context.Context, network, address string) (net.Conn, error)) Option {
	return option(func(c *config) error {
		if dial == nil {
			return errors.New("WithDialer: the function is nil")
		}
		c.dial = dial
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
		c.conn.LossPercent = percent
		return nil
	})
}

// WithLossMargin sets the time by which leases end before the servers can end the session. In
// this time a holder must stop; it also covers clocks that run at different rates. The default
// is an eighth of the session timeout, the maximum is three tenths; a larger value is reduced
// to three tenths, because a proof of the session may be six tenths old when the next one
// comes; see docs/session.md.
func WithLossMargin(d time.Duration) Option {
	return durationOption("WithLossMargin", d, time.Millisecond, func(c *config) { c.conn.LossMargin = d })
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
		c.conn.SyncProof = true
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
		c.client.ErrorPolicy = p
		return nil
	})
}

// WithReadOnly lets the client read from a server that has lost its quorum, while it finds no
// server with a quorum. The servers must permit it, with readonlymode.enabled=true and
// localSessionsEnabled=true. Other servers without a quorum refuse the connection, as they do
// without the option.
//
// On such a connection the state is state.ReadOnly, and BlockUntilConnected returns. Reads and
// watches work. The data may be old, and a part of it may be undone when the quorum is back.
// Writes and sync fail with [ErrNotReadOnly] without a retry.
//
// A read-only server does not keep the client's session alive. The session becomes state.Lost
// by its own timeout. Then the state is state.ReadOnly again, and Client.SessionID is zero. If
// the quorum is back before, the session is resumed, with its ephemeral nodes. On such a
// connection the deadline of a lease does not move, and no lock is acquired. Guaranteed deletes
// wait until there is a quorum.
//
// In the background the client connects to each of its servers, at least every few seconds,
// until one has a quorum. Then it moves to that server: the state is state.Suspended, and then
// state.Reconnected. The client first asks every server for its session, and only after a
// refusal for reads, so a read-only connection takes two attempts. Between the loss of a quorum
// and the first read-only connection servers refuse all connections, by default for 2 s or a
// tick, if that is longer.
//
// Java: CuratorFrameworkFactory.Builder.canBeReadOnly.
func WithReadOnly() Option {
	return option(func(c *config) error {
		c.conn.ReadOnly = true
		return nil
	})
}
