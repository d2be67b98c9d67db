package framework

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-curator/curator/internal/telemetry"
	"github.com/go-curator/curator/internal/zkconn"
	"github.com/go-curator/curator/retry"
)

// operation is one call of a user.
type operation struct {
	name, path string
	// repeat: the operation may be tried again although an earlier try may have been
	// applied.
	repeat  bool
	missing bool   // ErrNoNode is an answer, not a failure
	wire    string // the request that is sent, if it has another name
	batch   int    // how many operations it is, if that is more than one
}

// traced returns the operation as spans and metrics show it.
func (op operation) traced(ctx context.Context, prefix string) telemetry.Op {
	name := op.name
	if op.wire != "" {
		name = op.wire
	}
	return telemetry.Op{
		Name: name, Path: op.path, Prefix: prefix, Batch: op.batch, Missing: op.missing,
		Background: ctx.Value(acceptedBeforeClose{}) != nil,
	}
}

// run tries fn until it succeeds or the retry policy gives up.
func (c *Client) run(ctx context.Context, op operation, fn func(ctx context.Context, conn *zkconn.Conn) error) error {
	conn, err := c.started(ctx)
	if err != nil {
		return &OpError{Op: op.name, Path: op.path, Err: err}
	}
	ctx, traced := c.core.telemetry.Operation(ctx, conn, op.traced(ctx, c.prefix))
	tries, err := 1, errPanic
	defer func() { traced.End(tries, err) }()
	// Nearly every operation succeeds at once, and then needs no loop.
	if err = fn(ctx, conn); err != nil {
		tries, err = c.retry(ctx, conn, op, fn, err)
		if lacksConnection(err) {
			conn.SuspendUnconnected()
		}
	}
	return err
}

// lacksConnection tells whether an operation failed because there was no connection in time: before the
// client's own timeout, or before the deadline of the operation's context. A context that was
// cancelled says nothing about the connection.
func lacksConnection(err error) bool {
	var unsent *zkconn.TransportError
	return errors.As(err, &unsent) && !unsent.Sent &&
		(errors.Is(unsent.Err, ErrConnectionLoss) || errors.Is(unsent.Err, context.DeadlineExceeded))
}

// errPanic is recorded in spans and metrics if a user's retry policy panics.
var errPanic = errors.New("panic")

// retry tries fn again, if that makes sense after the first try's error. It returns how many
// tries there were.
func (c *Client) retry(ctx context.Context, conn *zkconn.Conn, op operation, fn func(ctx context.Context, conn *zkconn.Conn) error, err error) (tries int, _ error) {
	fail := func(n int, err error, applied bool) *OpError {
		return &OpError{Op: op.name, Path: op.path, Attempts: n, Err: err, final: !op.repeat && MaybeApplied(err), applied: applied}
	}
	tries = 1
	last := fail(tries, err, false)
	attempt := func(ctx context.Context) error {
		c.core.telemetry.Retry(ctx, op.name, tries+1, last.Err)
		tries++
		err := fn(ctx, conn)
		if err == nil {
			return nil
		}
		last = fail(tries, err, last.MaybeApplied())
		return last
	}
	first := error(last)
	if !last.Retryable() {
		return tries, first
	}
	ctx, cancel := c.core.withClientLife(ctx)
	defer cancel(nil)
	err = retry.Do(ctx, c.core.cfg.retryPolicy, func(ctx context.Context) error {
		if first != nil {
			err := first
			first = nil
			return err
		}
		return attempt(ctx)
	})
	if err == nil {
		return tries, nil
	}
	if last.Retryable() {
		c.core.telemetry.GaveUp()
	}
	if err != error(last) { //nolint:errorlint // ctx ended the loop, else it is last itself
		last = &OpError{
			Op: op.name, Path: op.path, Attempts: last.Attempts, Err: loopError(ctx, last.Err),
			final: true, applied: last.MaybeApplied(),
		}
	}
	return tries, last
}

// loopError joins the last try's error with why the loop ended.
func loopError(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause == ErrClosed { //nolint:errorlint // the client's own end, not that of another one in the cause of the caller
		return fmt.Errorf("%w: %w", cause, err)
	}
	return fmt.Errorf("%w: %w", ctx.Err(), err)
}
