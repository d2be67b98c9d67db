// Package pauses has the pauses of recipes that try something again until it succeeds: to take a place
// in an election, or to start in the background.
package pauses

import (
	"context"
	"time"

	"github.com/cenkalti/backoff/v4"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/recipeapi"
	"github.com/go-curator/curator/internal/wait"
	"github.com/go-curator/curator/state"
)

// The pauses after a failure grow from the first to the last, and vary at random by a half.
// They are short after a lost connection, because the next try should come soon. They are long
// after an error answer that will not change without an operator.
const (
	firstShort = 10 * time.Millisecond
	lastShort  = 250 * time.Millisecond
	firstLong  = time.Second
	lastLong   = 30 * time.Second
)

// Pauses are those since the last success. The zero value is ready to use. One goroutine uses them.
type Pauses struct{ short, long backoff.BackOff }

// Await waits before the next try after err. After the loss of a connection it waits for another
// one, and then for a short pause. After other errors it waits for a long pause, or until the next
// connection. It returns an error when ctx ends, or when the client is closed.
func (p *Pauses) Await(ctx context.Context, client *framework.Client, err error) error {
	conn, closed := recipeapi.Of(client).Conn()
	if closed != nil {
		return closed
	}
	if !framework.Retryable(err) {
		return p.awaitLong(ctx, client)
	}
	if err := conn.Ready(ctx); err != nil {
		return err
	}
	if p.short == nil {
		p.short = NewShort()
	}
	return wait.For(ctx, p.short.NextBackOff())
}

// awaitLong ends early at a new connection, and when the client is closed.
func (p *Pauses) awaitLong(ctx context.Context, client *framework.Client) error {
	if p.long == nil {
		p.long = growing(firstLong, lastLong)
	}
	ctx, cancel := context.WithTimeout(ctx, p.long.NextBackOff())
	defer cancel()
	defer recipeapi.Of(client).OnLoss("", func(l recipeapi.Loss) {
		if l.Kind == recipeapi.LossClosed {
			cancel()
		}
	})()
	defer client.ConnectionStateListenable().Add(func(_ context.Context, s state.ConnectionState) {
		if s.IsConnected() {
			cancel()
		}
	})()
	if _, closed := recipeapi.Of(client).Conn(); closed != nil {
		return closed
	}
	<-ctx.Done()
	return nil
}

// NewShort returns short pauses, which go on without an end.
func NewShort() backoff.BackOff { return growing(firstShort, lastShort) }

func growing(first, last time.Duration) backoff.BackOff {
	return backoff.NewExponentialBackOff(backoff.WithInitialInterval(first), backoff.WithMaxInterval(last), backoff.WithMaxElapsedTime(0))
}
