package locks_test

import (
	"context"
	"errors"
	"net"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/state"
)

// An Acquire that waits for the first connection is granted, although the client becomes SUSPENDED
// meanwhile: another operation has failed for want of a connection.
func TestAcquireWaitsForTheFirstConnection(t *testing.T) {
	virtually(t, func(t *testing.T, e *env) {
		var open atomic.Bool
		client, _ := e.b.Client(t, framework.WithDialer(func(ctx context.Context, network, address string) (net.Conn, error) {
			if !open.Load() {
				return nil, syscall.ECONNREFUSED
			}
			return e.network.Dial(ctx, network, address)
		}))
		waiting := e.start(t.Context(), e.lock(client))
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
		defer cancel()
		if _, err := client.CheckExists().ForPath(ctx, "/"); !errors.Is(err, context.DeadlineExceeded) {
			t.Fatal(err)
		}
		if s := client.ConnectionState(); s != state.Suspended {
			t.Fatalf("state %v", s)
		}
		open.Store(true)
		<-waiting.done
		if waiting.err != nil || waiting.lease.Err() != nil {
			t.Fatal(waiting.err, waiting.lease.Err())
		}
		e.wantNodes(1)
		e.release(waiting.lease)
	})
}
