package lifecycle

import (
	"context"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/wait"
	"github.com/go-curator/curator/internal/zkclient"
	"github.com/go-curator/curator/state"
)

// Pauses are those since the last success of a recipe that tries something again until it succeeds: to
// take a place in an election, or to start in the background. One goroutine uses them.
type Pauses struct{ short, long wait.Pace }

// NewPauses returns the pauses behind a success. They are short after a lost connection, because the
// next try should come soon. They are long after an error answer that will not change without an operator.
func NewPauses() *Pauses {
	return &Pauses{
		short: wait.Pace{First: 10 * time.Millisecond, Most: 250 * time.Millisecond},
		long:  wait.Pace{First: time.Second, Most: 30 * time.Second},
	}
}

// Await waits before the next try after err. After the loss of a connection it waits for another
// one, and then for a short pause. After other errors it waits for a long pause, or until the next
// connection. It returns an error when ctx ends, or when the client is closed.
func (p *Pauses) Await(ctx context.Context, client *framework.Client, err error) error {
	conn, closed := zkclient.Of(client).Conn()
	if closed != nil {
		return closed
	}
	if !framework.Retryable(err) {
		return p.awaitLong(ctx, client)
	}
	if err := conn.Ready(ctx); err != nil {
		return err
	}
	return wait.For(ctx, p.short.Next())
}

// awaitLong ends early at a new connection, and when the client is closed.
func (p *Pauses) awaitLong(ctx context.Context, client *framework.Client) error {
	ctx, cancel := context.WithTimeout(ctx, p.long.Next())
	defer cancel()
	defer zkclient.Of(client).OnLoss("", func(l zkclient.Loss) {
		if l.Kind == zkclient.LossClosed {
			cancel()
		}
	})()
	defer client.ConnectionStateListenable().Add(func(_ context.Context, s state.ConnectionState) {
		if s.IsConnected() {
			cancel()
		}
	})()
	if _, closed := zkclient.Of(client).Conn(); closed != nil {
		return closed
	}
	<-ctx.Done()
	return nil
}
