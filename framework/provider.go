package framework

import (
	"context"
	"fmt"
	"time"

	"github.com/go-curator/curator/internal/zkconn"
)

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
	disconnected signal           // tells follow that the connection was lost
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
