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
