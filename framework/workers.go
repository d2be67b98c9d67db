package framework

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/go-curator/curator/internal/background"
)

// workers are what runs beside a client's callers. They have the goroutines of its own work and,
// apart from these, those of users' functions, which Close does not wait for without end.
type workers struct {
	tasks   background.Queue // operations in the background
	work    background.Group // goroutines that run them
	pending background.Group // goroutines of our own: guaranteed deletes, the recipes'

	reports   background.Queue // what users' functions, log handlers and span processors are told
	callbacks background.Queue // the outcomes of operations in the background
	users     background.Group // goroutines that run users' functions

	removals atomic.Int64 // those that PendingRemovals tells of

	// The life of the client, from Start to Close. It is set ahead of the first operation.
	life    context.Context
	endLife context.CancelFunc
}

// report runs what ends in a user's code, a log handler as a rule, behind what was
// reported before: it must hold nothing of ours up.
func (w *workers) report(fn func()) { w.reports.Add(&w.users, fn) }

// beginRemoval counts one of those that PendingRemovals tells of, and that Close waits for. It
// returns false when the client is closed.
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

// join waits for our own work, which sees that life has ended, and then, for so long, for users'
// functions: one of them may have called Close, and does not return before it.
func (w *workers) join(ctx context.Context, wait time.Duration) error {
	ctx = context.WithoutCancel(ctx)
	w.pending.Wait(ctx)
	w.work.Wait(ctx)
	w.users.Close()
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	if n := w.users.Wait(ctx); n > 0 {
		return fmt.Errorf("%d functions of watchers, log handlers or in the background have not returned", n)
	}
	return nil
}

// bounded returns ctx or, when that has ended, a context with the time that Close takes all the
// same.
func bounded(ctx context.Context, wait time.Duration) (context.Context, context.CancelFunc) {
	if ctx.Err() == nil {
		return ctx, func() {}
	}
	return context.WithTimeout(context.WithoutCancel(ctx), wait)
}
