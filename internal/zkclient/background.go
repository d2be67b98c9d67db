package zkclient

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/go-curator/curator/internal/background"
	"github.com/go-curator/curator/internal/telemetry"
	"github.com/go-curator/curator/internal/wait"
	"github.com/go-curator/curator/internal/zkconn"
)

// workers are the goroutines of a client. Those of its own work and those that run users' functions
// are in different groups, because Close waits for the latter only for a bounded time.
type workers struct {
	tasks   background.Queue // operations in the background
	work    background.Group // goroutines that run them
	pending background.Group // goroutines of our own: guaranteed deletes, the recipes'

	reports   background.Queue // calls that end in a user's code, such as a log handler
	callbacks background.Queue // the outcomes of operations in the background
	users     background.Group // goroutines that run users' functions

	removals atomic.Int64 // those that PendingRemovals tells of

	// The life of the client, from Open to Close. It is set ahead of the first operation.
	life    context.Context
	endLife context.CancelFunc
}

// Go runs fn in the background until it returns; ctx ends with the client. It reports false when the
// client is closed.
func (w *workers) Go(fn func(ctx context.Context)) bool {
	return w.pending.Start(func() { fn(w.life) })
}

// InOrder runs an operation in the background, behind those that were queued before. It reports false when the
// client is closed.
func (w *workers) InOrder(task func()) bool { return w.tasks.Add(&w.work, task) }

// CallbackInOrder runs fn, which tells a user's code of the outcome of an operation of InOrder, behind those
// that were queued before.
func (w *workers) CallbackInOrder(fn func()) { w.callbacks.Add(&w.users, fn) }

// Log queues fn, which ends in a user's code, mostly a log handler, behind what was queued before. So that
// code cannot delay the client's own work. Log does not wait.
func (w *workers) Log(fn func()) { w.reports.Add(&w.users, fn) }

// Callback runs fn, which is a user's code, on a goroutine of its own, which Close waits for as for those
// of watchers.
func (w *workers) Callback(fn func()) bool { return w.users.Start(fn) }

// Users has the goroutines that run users' functions.
func (w *workers) Users() *background.Group { return &w.users }

// Life ends with the client. It is nil before Open.
func (w *workers) Life() context.Context { return w.life }

// WithLife returns a copy of ctx that ends with the client.
func (w *workers) WithLife(ctx context.Context) (context.Context, context.CancelCauseFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(w.life, func() { cancel(zkconn.ErrClosed) })
	return ctx, func(cause error) {
		stop()
		cancel(cause)
	}
}

// PendingRemovals returns the number of deletes in the background.
func (w *workers) PendingRemovals() int { return int(w.removals.Load()) }

// beginRemoval counts a delete that PendingRemovals counts and Close waits for. It returns false when
// the client is closed.
func (w *workers) beginRemoval() bool {
	if !w.pending.Enter() {
		return false
	}
	w.removals.Add(1)
	return true
}

func (w *workers) endRemoval() {
	w.removals.Add(-1)
	w.pending.Leave()
}

// finish gives our own work time until ctx ends, and then ends the client's life. The error says
// how much is left undone.
func (w *workers) finish(ctx context.Context) error {
	left := w.work.Wait(ctx) + w.pending.Wait(ctx)
	w.pending.Close()
	w.work.Close()
	w.endLife()
	if left > 0 {
		return fmt.Errorf("operations in the background that are left undone: %d", left)
	}
	return nil
}

// join waits for the client's own work, which ends with life, and then for users' functions, but not
// longer than maxWait: one of them may have called Close, and does not return before Close does.
func (w *workers) join(ctx context.Context, maxWait time.Duration) error {
	ctx = context.WithoutCancel(ctx)
	w.pending.Wait(ctx)
	w.work.Wait(ctx)
	w.users.Close()
	ctx, cancel := context.WithTimeout(ctx, maxWait)
	defer cancel()
	if n := w.users.Wait(ctx); n > 0 {
		return fmt.Errorf("%d functions of watchers, log handlers, metrics or in the background have not returned", n)
	}
	return nil
}

// Bounded returns ctx or, when that has ended, a context that ends after maxWait, the time that Close
// then has.
func Bounded(ctx context.Context, maxWait time.Duration) (context.Context, context.CancelFunc) {
	if ctx.Err() == nil {
		return ctx, func() {}
	}
	return context.WithTimeout(context.WithoutCancel(ctx), maxWait)
}

// backgroundOp is a delete that goes on in the background, as telemetry sees it.
type backgroundOp struct {
	c    *Client
	ctx  context.Context // ends with the client
	seen bool            // there is a span or a metric, so end runs a user's code
	end  func(tries int, err error)
}

// background begins the span of a delete in the background, in the trace of cause. If batch is above
// one, it is a transaction of that many operations.
func (c *Client) background(cause context.Context, full string, batch int) backgroundOp {
	if cause == nil {
		cause = c.life
	}
	name := "delete"
	if batch > 1 {
		name = "multi"
	}
	traced, op := c.cfg.Telemetry.Operation(context.WithoutCancel(cause), c.conn.Load(), telemetry.Op{
		Name: name, Path: full, Full: true, Batch: batch, Missing: true, Background: true,
	})
	if !op.Active() {
		return backgroundOp{c: c, ctx: c.life, end: func(int, error) {}}
	}
	ctx, cancel := c.WithLife(traced)
	return backgroundOp{c: c, ctx: ctx, seen: true, end: func(tries int, err error) {
		op.End(tries, err)
		cancel(nil)
	}}
}

// untilKnown tries fn until it succeeds, fails for a reason that does not pass, or the client is
// closed. Before each try but the first it waits for a connection. The first try does that itself,
// because its request may have been sent already.
func (b *backgroundOp) untilKnown(fn func(ctx context.Context, conn *zkconn.Conn) error) (err error) {
	c, tries := b.c, 1
	defer func() { b.end(tries, err) }()
	conn, pace := c.conn.Load(), wait.Pace{First: 10 * time.Millisecond, Most: 5 * time.Second}
	again := func(err error) bool {
		if !mayPass(err) {
			return false
		}
		tries++
		c.cfg.Telemetry.Retry(b.ctx, "delete", tries, err)
		return true
	}
	return RetryForever(c.life, conn, pace, again, func(context.Context) error { return fn(b.ctx, conn) })
}

// mayPass reports whether an error of a delete may pass with time. After an unknown error the delete is
// tried again, because a node that stays blocks others.
func mayPass(err error) bool {
	for _, last := range []error{
		zkconn.ErrNoNode, zkconn.ErrNotEmpty, zkconn.ErrBadVersion, zkconn.ErrNoAuth, zkconn.ErrAuthFailed, zkconn.ErrClosed, ErrInvalidPath,
		zkconn.ErrBadArguments, zkconn.ErrUnimplemented, context.Canceled,
	} {
		if errors.Is(err, last) {
			return false
		}
	}
	return true
}

// giveUp reports work in the background that did not succeed. It reports nothing if Close ended the
// work: Close returns that, and ephemeral nodes end with the session.
func (c *Client) giveUp(what string, err error) {
	if errors.Is(err, zkconn.ErrClosed) || errors.Is(err, context.Canceled) {
		return
	}
	c.Log(func() { c.cfg.Logger.Warn("zookeeper: gave up in the background", "what", what, "error", err) })
	c.Unhandled(what, err)
}
