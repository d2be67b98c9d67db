package framework

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/go-curator/curator/internal/background"
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

	// The life of the client, from Start to Close. It is set ahead of the first operation.
	life    context.Context
	endLife context.CancelFunc
}

// report queues fn, which ends in a user's code, mostly a log handler. So that code cannot delay the
// client's own work.
func (w *workers) report(fn func()) { w.reports.Add(&w.users, fn) }

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

// withClientLife returns a copy of ctx that ends with the client.
func (w *workers) withClientLife(ctx context.Context) (context.Context, context.CancelCauseFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(w.life, func() { cancel(ErrClosed) })
	return ctx, func(cause error) {
		stop()
		cancel(cause)
	}
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
// longer than wait: one of them may have called Close, and does not return before Close does.
func (w *workers) join(ctx context.Context, wait time.Duration) error {
	ctx = context.WithoutCancel(ctx)
	w.pending.Wait(ctx)
	w.work.Wait(ctx)
	w.users.Close()
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	if n := w.users.Wait(ctx); n > 0 {
		return fmt.Errorf("%d functions of watchers, log handlers, metrics or in the background have not returned", n)
	}
	return nil
}

// bounded returns ctx or, when that has ended, a context that ends after wait, the time that Close
// then has.
func bounded(ctx context.Context, wait time.Duration) (context.Context, context.CancelFunc) {
	if ctx.Err() == nil {
		return ctx, func() {}
	}
	return context.WithTimeout(context.WithoutCancel(ctx), wait)
}
