package leader

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
// They are short after a lost connection, because the candidate should join again soon. They
// are long after an error answer that will not change without an operator.
const (
	firstShortPause = 10 * time.Millisecond
	lastShortPause  = 250 * time.Millisecond
	firstLongPause  = time.Second
	lastLongPause   = 30 * time.Second
)

// pauses are those of one candidate since it succeeded last. The zero value is ready to use.
type pauses struct{ short, long backoff.BackOff }

// await waits before the next try after err. After the loss of a connection it waits for another
// one, and then for a short pause. After other errors it waits for a long pause, or until the next
// connection. It returns an error when ctx ends, or when the client is closed.
func (p *pauses) await(ctx context.Context, client *framework.Client, err error) error {
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
		p.short = growing(firstShortPause, lastShortPause)
	}
	return wait.For(ctx, p.short.NextBackOff())
}

// awaitLong ends early at a new connection, and when the client is closed.
func (p *pauses) awaitLong(ctx context.Context, client *framework.Client) error {
	if p.long == nil {
		p.long = growing(firstLongPause, lastLongPause)
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

func growing(first, last time.Duration) backoff.BackOff {
	return backoff.NewExponentialBackOff(backoff.WithInitialInterval(first), backoff.WithMaxInterval(last), backoff.WithMaxElapsedTime(0))
}

const (
	shortTerm    = 10 * time.Millisecond // a term in which nothing was done, as a rule
	patientTerms = 100                   // how many of these in a row go on without a pause
)

// shortTerms counts short terms in a row. The zero value is ready to use.
type shortTerms struct {
	n      int
	pauses backoff.BackOff
}

// next takes note of a term, and returns the pause behind it.
func (s *shortTerms) next(took time.Duration) time.Duration {
	if took >= shortTerm {
		*s = shortTerms{}
		return 0
	}
	if s.n++; s.n <= patientTerms {
		return 0
	}
	if s.pauses == nil {
		s.pauses = growing(firstShortPause, lastShortPause)
	}
	return s.pauses.NextBackOff()
}
