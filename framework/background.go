package framework

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cenkalti/backoff/v4"

	"github.com/go-curator/curator/internal/telemetry"
	"github.com/go-curator/curator/internal/wait"
	"github.com/go-curator/curator/internal/zkconn"
)

// backgroundDelete is a delete that goes on in the background, as telemetry sees it.
type backgroundDelete struct {
	core *core
	ctx  context.Context // ends with the client
	seen bool            // there is a span or a metric, so end runs a user's code
	end  func(tries int, err error)
}

// background begins the span of a delete in the background, in the trace of cause. If batch is above
// one, it is a transaction of that many operations.
func (c *core) background(cause context.Context, conn *zkconn.Conn, full string, batch int) backgroundDelete {
	if cause == nil {
		cause = c.life
	}
	name := "delete"
	if batch > 1 {
		name = "multi"
	}
	traced, op := c.telemetry.Operation(context.WithoutCancel(cause), conn, telemetry.Op{
		Name: name, Path: full, Full: true, Batch: batch, Missing: true, Background: true,
	})
	if !op.Active() {
		return backgroundDelete{core: c, ctx: c.life, end: func(int, error) {}}
	}
	ctx, cancel := c.withClientLife(traced)
	return backgroundDelete{core: c, ctx: ctx, seen: true, end: func(tries int, err error) {
		op.End(tries, err)
		cancel(nil)
	}}
}

// untilKnown tries fn until it succeeds, fails for a reason that does not pass, or the client is
// closed. Before each try but the first it waits for a connection. The first try does that itself,
// because its request may have been sent already.
func (b *backgroundDelete) untilKnown(fn func(ctx context.Context, conn *zkconn.Conn) error) (err error) {
	c, tries := b.core, 1
	defer func() { b.end(tries, err) }()
	var pace backoff.BackOff // most succeed at once
	for {
		conn := c.conn.Load()
		if tries > 1 {
			err = conn.Ready(c.life)
		}
		if err == nil {
			err = fn(b.ctx, conn)
		}
		if err == nil || permanent(err) {
			return err
		}
		if pace == nil {
			pace = backoff.NewExponentialBackOff(
				backoff.WithInitialInterval(10*time.Millisecond),
				backoff.WithMaxInterval(5*time.Second),
				backoff.WithMaxElapsedTime(0))
		}
		if err := wait.For(c.life, pace.NextBackOff()); err != nil {
			return err
		}
		tries++
		c.telemetry.Retry(b.ctx, "delete", tries, err)
		err = nil
	}
}

// permanent reports whether an error of a delete does not pass with time. After an unknown error the
// delete is tried again, because a node that stays blocks others.
func permanent(err error) bool {
	for _, last := range []error{
		ErrNoNode, ErrNotEmpty, ErrBadVersion, ErrNoAuth, ErrAuthFailed, ErrClosed, ErrInvalidPath,
		zkconn.ErrBadArguments, zkconn.ErrUnimplemented, context.Canceled,
	} {
		if errors.Is(err, last) {
			return true
		}
	}
	return false
}

// giveUp reports work in the background that did not succeed. It reports nothing if Close ended the
// work: Close returns that, and ephemeral nodes end with the session.
func (c *core) giveUp(what string, err error) {
	if errors.Is(err, ErrClosed) || errors.Is(err, context.Canceled) {
		return
	}
	c.report(func() { c.cfg.logger.Warn("zookeeper: gave up in the background", "what", what, "error", err) })
	c.unhandled.Notify(fmt.Errorf("%s: %w", what, err))
}
