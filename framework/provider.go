package framework

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-curator/curator/internal/zkconn"
)

// EnsembleProvider says where the ensemble is, and may change its mind. Its methods are
// called without any lock held, and one at a time, except that Close may come while a
// ConnectString that does not return still runs.
//
// Java: EnsembleProvider.
type EnsembleProvider interface {
	// Start is called by the client's Start, whose ctx it is given, and must have the
	// servers' names when it returns nil. An error is the client's, which can be started
	// again then.
	Start(ctx context.Context) error
	// ConnectString returns a list of host:port, without a chroot. It is called by the
	// client's Start, and on a goroutine of the client's own whenever the connection is
	// lost, and every 3 s while there is none. If the answer is another one than the last,
	// these are the servers from then on; one that is no list is logged, and changes
	// nothing. It should return what it knows, not go and find out.
	ConnectString() string
	// Close is called once by the client's Close, if Start returned nil, behind everything
	// else. It must return when ctx ends.
	Close(ctx context.Context) error
}

// EnsembleNotifier is implemented by an EnsembleProvider that learns of other servers by
// itself, not only when it is asked.
//
// Java has no counterpart.
type EnsembleNotifier interface {
	// Changed returns a channel that has a value when ConnectString has another answer. The
	// client calls Changed once, after Start, and is the only reader of the channel. While
	// there is no connection, a value makes it call ConnectString at once, in place of up to
	// 3 s later. It ignores a value while there is a connection, because it asks when that
	// is lost. A channel that is closed, or nil, has no more values.
	Changed() <-chan struct{}
}

// WithEnsembleProvider takes the servers from p. The connect string of NewClient must then
// be "", or a chroot alone, "/app". A provider belongs to one client. Package
// framework/ensemble has one that reads DNS SRV records. If p is an EnsembleNotifier, too, the
// client hears of other servers sooner.
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

// providerPause is how often a provider is asked while there is no connection.
const providerPause = 3 * time.Second

// signal wakes a goroutine; what is said twice before it wakes is heard once.
type signal chan struct{}

func newSignal() signal { return make(signal, 1) }

func (s signal) set() {
	select {
	case s <- struct{}{}:
	default:
	}
}

// firstServers returns the servers to start with.
func (c *core) firstServers(ctx context.Context) ([]string, error) {
	p := c.cfg.provider
	if p == nil {
		return c.servers, nil
	}
	if err := p.Start(ctx); err != nil {
		return nil, fmt.Errorf("start the ensemble provider: %w", err)
	}
	servers, err := c.queryProvider(p)
	if err != nil {
		return nil, errors.Join(err, c.closeProvider(ctx))
	}
	return servers, nil
}

// queryProvider asks the provider for the servers.
func (c *core) queryProvider(p EnsembleProvider) ([]string, error) {
	c.provided = p.ConnectString()
	servers, err := parseServers(c.provided)
	if err != nil {
		return nil, fmt.Errorf("%w: the ensemble provider's connect string %q: %w", ErrInvalidOption, c.provided, err)
	}
	return servers, nil
}

// followProvider asks the provider until the client's life ends.
func (c *core) followProvider(conn *zkconn.Conn) {
	timer := time.NewTimer(providerPause)
	defer timer.Stop()
	var changed <-chan struct{}
	if n, ok := c.cfg.provider.(EnsembleNotifier); ok {
		changed = n.Changed()
	}
	for {
		var again <-chan time.Time
		if !conn.State().IsConnected() {
			timer.Reset(providerPause)
			again = timer.C
		}
		select {
		case <-c.disconnected:
		case <-again:
			if conn.State().IsConnected() { // since then
				continue
			}
		case _, open := <-changed:
			if !open {
				changed = nil
			}
			if !open || conn.State().IsConnected() { // it is asked when that is lost
				continue
			}
		case <-c.life.Done():
			return
		}
		last := c.provided
		servers, err := c.queryProvider(c.cfg.provider)
		switch {
		case c.provided == last:
		case err != nil:
			c.report(func() { c.cfg.logger.Warn("zookeeper: the servers stay as they are", "error", err) })
		default:
			conn.SetServers(servers)
			id, _ := conn.Session()
			c.report(func() { c.telemetry.ServersChanged(id) })
		}
	}
}

// closeProvider closes the provider, if there is one that was started.
func (c *core) closeProvider(ctx context.Context) error {
	if c.cfg.provider == nil {
		return nil
	}
	ctx, cancel := c.bounded(ctx)
	defer cancel()
	if err := c.cfg.provider.Close(ctx); err != nil {
		return fmt.Errorf("close the ensemble provider: %w", err)
	}
	return nil
}
