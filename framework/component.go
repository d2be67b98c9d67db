package framework

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cenkalti/backoff/v4"

	"github.com/go-curator/curator/internal/zkclient"
	"github.com/go-curator/curator/retry"
)

// Component has a Start and a Close: a client, a cache, a kept node. A Client is one, and so is
// every recipe with these methods.
//
// Start returns nil when the component does its work: the value is read, the node exists. Its
// context bounds only this wait. When Start fails, nothing was started, and it may be called
// again. Once Start has succeeded, the component works until Close, whatever happens to
// connections and sessions. It logs a failure once, and once more when the failure is over. A
// second Start returns ErrAlreadyStarted, and a Start after Close returns ErrClosed.
// Client.Start is the exception: it does not wait.
//
// With the option WithStartInBackground, which each package of recipes has for its components, Start
// does not wait either. It returns nil when it has checked what it can check without a server, and the
// component goes on trying until Close, also after errors that another try may not change. So a program
// may start before its servers. See the option for how the component tells that it is there, and what
// its methods return before.
//
// Close ends the work, removes the component's watches and kept nodes from the server, and
// joins every goroutine. Close is idempotent and allowed before Start. It works with an ended
// context, but then waits for a second at most, and a Client for the time of WithMaxCloseWait. It
// does not wait for servers that do not come back: when the client has had no connection for 5 s,
// the rest goes on in the background as far as it can, and the error says what is left.
//
// Java: the recipes' start and close.
type Component interface {
	Start(ctx context.Context) error
	Close(ctx context.Context) error
}

const (
	firstRestartPause = 250 * time.Millisecond
	maxRestartPause   = 10 * time.Second
)

// Run starts components in the given order, waits until ctx ends, and closes them in the
// reverse order. It is one call for errgroup and for main:
//
//	g, ctx := errgroup.WithContext(ctx)
//	g.Go(func() error { return framework.Run(ctx, members, config) })
//	g.Go(func() error { return server.Serve(ctx, config) })
//	return g.Wait()
//
// A Start that fails because there is no connection (see Retryable) is repeated after a pause,
// which grows from a quarter of a second to 10 s, until it succeeds or ctx ends. So a program
// may start before its ensemble. The Start of a component with WithStartInBackground does not wait,
// so those behind it are started, too. Any other error ends Run: Run closes the started components,
// and returns the error. Run returns nil if ctx ended and every Close succeeded. Close gets
// ctx, which has ended then.
//
// Run does not end when a component ends. A nil component is refused with ErrInvalidOption
// before anything is started.
//
// Start the client before Run, and do not pass it to Run: other goroutines that use the client
// would get ErrNotStarted until Run has started it. Close the client when every goroutine that
// uses it has returned, as in the example.
//
// Java: none.
func Run(ctx context.Context, components ...Component) (err error) {
	if ctx == nil {
		return zkclient.ErrNilContext
	}
	for i, c := range components {
		if c == nil {
			return fmt.Errorf("%w: component %d of %d is nil", ErrInvalidOption, i+1, len(components))
		}
	}
	for _, c := range components {
		if err := startWhenConnected(ctx, c); err != nil {
			if ctx.Err() != nil {
				return nil // the end of ctx is no error, also when it came before the first connection
			}
			return err
		}
		defer func() { err = errors.Join(err, c.Close(ctx)) }()
	}
	<-ctx.Done()
	return nil
}

// startWhenConnected repeats Starts that fail because there is no connection. Within each of
// them the client's retry policy is asked as usual.
func startWhenConnected(ctx context.Context, c Component) error {
	pauses := retry.FromBackOff(func() backoff.BackOff {
		b := backoff.NewExponentialBackOff()
		b.InitialInterval, b.MaxInterval, b.MaxElapsedTime = firstRestartPause, maxRestartPause, 0
		b.Reset()
		return b
	})
	return retry.Do(ctx, pauses, func(ctx context.Context) error {
		err := c.Start(retry.Detach(ctx))
		if err != nil && !Retryable(err) {
			return retry.Permanent(err)
		}
		return err
	})
}
