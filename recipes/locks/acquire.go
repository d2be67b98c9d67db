package locks

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/telemetry"
)

var (
	// errStartOver: the contender's node is gone, by its session's end or by somebody's
	// hand; the attempt goes on with another node, at the end of the queue.
	errStartOver = errors.New("the contender's node is gone")
	// errMaxWait is the cause of a wait that WithMaxWait ended.
	errMaxWait = errors.New("WithMaxWait has passed")
	// errNothingToWatch: a driver did not say what the wait is for.
	errNothingToWatch = fmt.Errorf("%w: the driver neither lets the contender in nor says what to watch", framework.ErrInvalidOption)
	// errPanicked is what a span says of an acquire that did not return.
	errPanicked = errors.New("a panic in code of the user")
)

// acquire is Acquire, or TryAcquire when it must not wait, as a span.
//
// There may be many who wait, on a goroutine each, whose stacks are most of what they cost:
// so there is as little as possible on it between here and contender.park.
func (in *internals) acquire(ctx context.Context, wait bool) (*Lease, error) {
	if ctx == nil {
		return nil, errNilContext
	}
	c := &contender{acquisition: acquisition{in: in}, wait: wait, site: here()}
	waitCtx := c.begin(ctx, wait)
	defer c.close()
	lease, nested, err := c.nest(ctx, waitCtx)
	switch {
	case nested, err != nil:
	case in.cfg.handover > 0:
		lease, err = c.takeTurn(ctx, waitCtx)
	default:
		lease, err = c.take(ctx, waitCtx)
	}
	return c.end(ctx, waitCtx, lease, err)
}

// acquisition is an acquire as a span.
type acquisition struct {
	in     *internals
	span   *telemetry.Acquisition
	cancel context.CancelFunc // of WithMaxWait, or nil
	over   bool
}

// begin begins the span. What the acquire waits for is bounded by the context that it
// returns, which ends with ctx or by WithMaxWait.
func (a *acquisition) begin(ctx context.Context, wait bool) (waitCtx context.Context) {
	waitCtx, a.span = a.in.inside.Telemetry().Acquire(ctx, a.in.seen, !wait)
	if wait && a.in.cfg.maxWait > 0 {
		waitCtx, a.cancel = context.WithTimeoutCause(waitCtx, a.in.cfg.maxWait, errMaxWait)
	}
	return waitCtx
}

// end ends the span with what the acquire has come to.
func (a *acquisition) end(ctx, waitCtx context.Context, lease *Lease, err error) (*Lease, error) {
	a.over = true
	if err != nil {
		a.span.Failed(failure(waitCtx, err))
		return nil, fmt.Errorf("lock %s: %w", a.in.path, err)
	}
	lease.opened(ctx)
	a.span.Granted(lease.Token(), lease.nested)
	return lease, nil
}

// close ends what is left of the acquire, also when a user's code panics.
func (a *acquisition) close() {
	if a.cancel != nil {
		a.cancel()
	}
	if !a.over {
		a.span.Failed(telemetry.Failure{Err: errPanicked})
	}
}

// traced runs an acquire that is not the ordinary one.
func (in *internals) traced(ctx context.Context, wait bool, acquire func(waitCtx context.Context, span *telemetry.Acquisition) (*Lease, error)) (*Lease, error) {
	a := acquisition{in: in}
	waitCtx := a.begin(ctx, wait)
	defer a.close()
	lease, err := acquire(waitCtx, a.span)
	return a.end(ctx, waitCtx, lease, err)
}

// nest nests in the lease that ctx carries, if it does; else it prepares to contend. The wait's
// own context is waitCtx; ctx is what Acquire was given.
func (c *contender) nest(ctx, waitCtx context.Context) (lease *Lease, nested bool, err error) {
	in := c.in
	if ctx.Err() != nil {
		return nil, false, ended(ctx)
	}
	for parent := in.carried(ctx); parent != nil && !in.flat; parent = in.carried(ctx) {
		lease, err := parent.nest(ctx, waitCtx, c)
		if !errors.Is(err, errParentOver) {
			return lease, true, err
		}
		if ctx.Err() != nil { // as a rule it was the outer lease's own
			return nil, false, ended(ctx)
		}
	}
	if in.readers != nil && in.readers.carried(ctx) != nil {
		return nil, false, fmt.Errorf("%w: from a read lease to a write lease", ErrDeadlock)
	}
	if in.writers != nil {
		if write := in.writers.carried(ctx); write != nil {
			c.writer = write.hold
		}
	}
	return nil, false, nil
}

// take contends until there is a lease.
func (c *contender) take(ctx, waitCtx context.Context) (*Lease, error) {
	for {
		hold, err := c.contend(waitCtx)
		if err != nil {
			return nil, c.explain(ctx, waitCtx, err)
		}
		if lease := hold.newLease(ctx, c.span, nil); lease != nil {
			return lease, nil
		}
		hold.remove(ctx) // lost before anyone could use it
		if c.writer != nil {
			return nil, hold.lost()
		}
		c.settle(waitCtx, hold.leaving())
	}
}

// ended returns a context's error, with its cause.
func ended(ctx context.Context) error {
	if cause := context.Cause(ctx); cause != ctx.Err() {
		return fmt.Errorf("%w: %w", ctx.Err(), cause)
	}
	return ctx.Err()
}

// explain turns the reason for which a wait ended into the caller's error: seen busy and
// not let in is ErrNotAcquired, and not having seen the queue is not.
func (c *contender) explain(ctx, waitCtx context.Context, err error) error {
	maxWait := context.Cause(waitCtx) == errMaxWait // ctx may have ended, too, by the end of the clean-up
	switch {
	case waitCtx.Err() == nil || errors.Is(err, ErrKindMismatch) || errors.Is(err, ErrNotAcquired):
		return err
	case maxWait && c.busy:
		return fmt.Errorf("%w within %v", ErrNotAcquired, c.in.cfg.maxWait)
	case maxWait:
		return fmt.Errorf("%w: no answer within %v: %v", framework.ErrConnectionLoss, c.in.cfg.maxWait, err)
	case c.busy:
		return fmt.Errorf("%w: %w", ErrNotAcquired, ended(ctx))
	}
	return err
}
