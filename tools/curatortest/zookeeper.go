package curatortest

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/zkclient"
	"github.com/go-curator/curator/retry"
)

// ZooKeeper has the common methods of [Server] and [Ensemble], so one test can run on the
// embedded server and on real ones. A call that takes milliseconds on an embedded server can
// take seconds on real ones.
//
// Minor releases may add methods, because only this package implements it.
//
// Java: TestingServer and TestingCluster, which have no common type.
type ZooKeeper interface {
	// ConnectString returns the connect string of the servers for framework.NewClient.
	ConnectString() string
	// Client returns a started client, which is closed at the end of the test. See
	// [Server.Client].
	Client(tb TB, opts ...framework.Option) *framework.Client

	// ExpireSession ends a session now, as its timeout would. An unknown session is ignored.
	ExpireSession(id int64)
	// SessionIDs returns the ids of the sessions, in ascending order, including sessions without a
	// connection.
	SessionIDs() []int64
	// Disconnect closes every connection; clients reconnect.
	Disconnect()
	// Refuse immediately closes new connections until accept is called or the test ends. Open
	// connections stay.
	Refuse() (accept func())
	// Partition lets nothing through between clients and servers in the given direction,
	// without closing connections, until heal is called or the test ends.
	Partition(d Direction) (heal func())
	// Pause stops the servers, as SIGSTOP does, until resume is called or the test ends, or
	// the servers are stopped or restarted.
	Pause() (resume func())

	// Stop stops the servers until Start: connections end, and there are no new ones. Data and
	// sessions stay, and no session ends meanwhile.
	Stop()
	// Start starts stopped servers with their data, and returns when they serve. Each session
	// has its full timeout again.
	Start()
	// Restart is Stop and Start.
	Restart()

	// Close ends the servers and deletes their data. A test's servers end with it. It can be
	// called more than once.
	Close() error

	sealed()
}

var (
	_ ZooKeeper = (*Server)(nil)
	_ ZooKeeper = (*Ensemble)(nil)
)

func (*Server) sealed()   {}
func (*Ensemble) sealed() {}

// closeTimeout bounds the Close of a test's client. With a healthy server Close is much faster, so a
// Close that takes longer fails the test.
const closeTimeout = 10 * time.Second

// Client returns a started client of the server, which retries for a few seconds. The client is
// closed at the end of the test. The test fails if a lease of the client was not released, also
// after its loss, or if Close fails. It does not fail if the server does not confirm the end of
// the session, because a test may end while the connection is down.
//
// The client has framework.WithoutEnsembleTracker, so it sends no requests that a test could
// confuse with its own.
func (s *Server) Client(tb TB, opts ...framework.Option) *framework.Client {
	mustHaveTB(tb, "Server.Client")
	tb.Helper()
	if !s.virtual() {
		refuseSockets(tb)
	}
	opts = append([]framework.Option{framework.WithDialer(s.DialContext), framework.WithoutEnsembleTracker()}, opts...)
	return NewClient(tb, s.ConnectString(), opts...)
}

// Client is Server.Client for an ensemble. It always connects through the proxies, whatever
// addresses the servers report.
func (e *Ensemble) Client(tb TB, opts ...framework.Option) *framework.Client {
	mustHaveTB(tb, "Ensemble.Client")
	tb.Helper()
	refuseSockets(tb)
	opts = append([]framework.Option{framework.WithoutEnsembleTracker()}, opts...)
	return NewClient(tb, e.ConnectString(), opts...)
}

// NewClient is Server.Client for any server, with only the options of the caller.
func NewClient(tb TB, connectString string, opts ...framework.Option) *framework.Client {
	mustHaveTB(tb, "NewClient")
	tb.Helper()
	policy := retry.BoundedExponentialBackoff(50*time.Millisecond, time.Second, 10)
	client, err := framework.NewClient(connectString, policy, opts...)
	if err != nil {
		tb.Fatalf("curatortest: client: %v", err)
	}
	ctx := context.Background()
	if err := client.Start(ctx); err != nil {
		tb.Fatalf("curatortest: start the client: %v", err)
	}
	tb.Cleanup(func() {
		tb.Helper()
		if held := zkclient.Of(client).Held(); len(held) > 0 {
			tb.Errorf("curatortest: the test ends with leases that were not released, of %s", strings.Join(held, ", "))
		}
		byTest := client.State() == framework.Stopped
		ctx, cancel := context.WithTimeout(ctx, closeTimeout)
		defer cancel()
		switch err := client.Close(ctx); { // it waits for a Close that the test has begun
		case byTest: // the test has the error
		case errors.Is(err, framework.ErrConnectionLoss):
			tb.Logf("curatortest: close the client: %v", err)
		case err != nil:
			tb.Errorf("curatortest: close the client: %v", err)
		}
	})
	return client
}
