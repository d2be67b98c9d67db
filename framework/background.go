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
	seen bool            // telemetry wants to know of it, so that end runs a user's code
	end  func(tries int, err error)
}

// background begins a delete in the background, or a transaction of batch operations if that is
// more than one, for the trace of cause.
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
// closed. It waits for connections rather than for time. The first try waits for a connection by
// itself: its request may have been sent already.
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

// permanent reports whether an error of a delete does not pass with time. After an error of
// which that is not known the delete is tried again: a node that stays blocks others.
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

// giveUp reports work in the background that did not succeed, unless it is Close that
// ended it: that is reported by Close, and ephemeral nodes go with the session.
func (c *core) giveUp(what string, err error) {
	if errors.Is(err, ErrClosed) || errors.Is(err, context.Canceled) {
		return
	}
	c.report(func() { c.cfg.logger.Warn("zookeeper: gave up in the background", "what", what, "error", err) })
	c.unhandled.Notify(fmt.Errorf("%s: %w", what, err))
}
