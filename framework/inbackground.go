package framework

import (
	"context"

	"github.com/go-curator/curator/retry"
)

// inBackground queues an operation after those that were queued before. do returns a function that
// calls the user's function with the outcome. Without a user's function do returns nil, and has put the
// outcome into the event.
func (c *Client) inBackground(ctx context.Context, op, path string, do func(ctx context.Context, event *Event) (report func(ctx context.Context))) error {
	if _, err := c.started(ctx); err != nil {
		return &OpError{Op: op, Path: path, Err: err}
	}
	ctx = retry.Detach(context.WithoutCancel(ctx))
	event := Event{Op: op, Path: path, ctx: ctx}
	ctx = context.WithValue(ctx, acceptedBeforeClose{}, true)
	task := func() {
		opCtx, cancel := c.core.withClientLife(ctx)
		defer cancel(nil)
		report := do(opCtx, &event)
		if report == nil {
			c.core.outcomes.Notify(event)
			return
		}
		c.core.callbacks.Add(&c.core.users, func() {
			ctx, cancel := c.core.withClientLife(ctx)
			defer cancel(nil)
			report(ctx)
		})
	}
	if !c.core.tasks.Add(&c.core.work, task) {
		return &OpError{Op: op, Path: path, Err: ErrClosed}
	}
	return nil
}
