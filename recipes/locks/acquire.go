package locks

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/seam"
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
)

// acquire is Acquire, or TryAcquire when it must not wait, as a span.
func (in *internals) acquire(ctx context.Context, wait bool) (*Lease, error) {
	if ctx == nil {
		return nil, errNilContext
	}
	return in.traced(ctx, wait, func(waitCtx context.Context, span *telemetry.Acquisition) (*Lease, error) {
		return in.enter(ctx, waitCtx, span, wait)
	})
}

// traced runs an acquisition as a span. What it waits for is bounded by the context that
// it is given, which ends with ctx or by WithMaxWait.
func (in *internals) traced(ctx context.Context, wait bool, acquire func(waitCtx context.Context, span *telemetry.Acquisition) (*Lease, error)) (*Lease, error) {
	waitCtx, span := in.inside.Telemetry().Acquire(ctx, in.seen, !wait)
	if wait && in.cfg.maxWait > 0 {
		var cancel context.CancelFunc
		waitCtx, cancel = context.WithTimeoutCause(waitCtx, in.cfg.maxWait, errMaxWait)
		defer cancel()
	}
	lease, err := acquire(waitCtx, span)
	if err != nil {
		span.Failed(failure(waitCtx, err))
		return nil, fmt.Errorf("lock %s: %w", in.path, err)
	}
	lease.opened(ctx)
	span.Granted(lease.Token(), lease.nested)
	return lease, nil
}

// enter nests in the lease that ctx carries, if it does, or else contends. The wait's own
// context is waitCtx; ctx is what Acquire was given.
func (in *internals) enter(ctx, waitCtx context.Context, span *telemetry.Acquisition, wait bool) (*Lease, error) {
	if ctx.Err() != nil {
		return nil, ended(ctx)
	}
	for parent := in.carried(ctx); parent != nil && !in.flat; parent = in.carried(ctx) {
		lease, err := parent.nest(ctx, waitCtx, span, wait)
		if !errors.Is(err, errParentOver) {
			return lease, err
		}
		if ctx.Err() != nil { // as a rule it was the outer lease's own
			return nil, ended(ctx)
		}
	}
	c := &contender{in: in, span: span, wait: wait, site: here()}
	if in.cfg.handover > 0 {
		return c.takeTurn(ctx, waitCtx)
	}
	if in.readers != nil && in.readers.carried(ctx) != nil {
		return nil, fmt.Errorf("%w: from a read lease to a write lease", ErrDeadlock)
	}
	if in.writers != nil {
		if write := in.writers.carried(ctx); write != nil {
			c.writer = write.hold
		}
	}
	return c.take(ctx, waitCtx)
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

// contender is one acquisition on its way.
type contender struct {
	in     *internals
	span   *telemetry.Acquisition
	wait   bool
	busy   bool  // others were seen ahead
	writer *hold // the write lock's whose place a reader takes; nil without one
	count  int   // how many leases of a semaphore, 0 is one
	site   site
	trace  trace
	handed seat // whose node it is, if it was handed over

	node   seam.Created   // the last, which waits for all
	mates  []seam.Created // those of the other leases, right ahead of it
	near   bool           // all who are ahead are waited for
	placed bool           // the place in the queue has been told of
	ahead  []string       // the names of nodes of which one must go
	vigil  *vigil         // once it waits

	matesHolds []*hold // when the lock is granted
}

// contend queues until the lock is granted. Whatever it returns but a hold, it leaves no
// node behind.
func (c *contender) contend(ctx context.Context) (*hold, error) {
	for {
		left, err := c.create(ctx)
		if err != nil {
			c.settle(ctx, left...)
			return nil, err
		}
		hold, left, err := c.attempt(ctx)
		if !errors.Is(err, errStartOver) {
			c.settle(ctx, left...)
			return hold, err
		}
		c.settle(ctx, left...)
	}
}

// create makes the contender's node. When it fails, left is what goes on in the background
// to remove what was made.
func (c *contender) create(ctx context.Context) (left []*seam.Removal, err error) {
	builder, name := c.in.builder(c.span), c.in.lockName
	if c.count > 1 {
		return c.createAll(ctx, builder)
	}
	if c.writer != nil {
		if err := c.writer.seat(); err != nil {
			return nil, err
		}
		// A number of its own would put the reader behind writers that wait already: the
		// first of them would be let in together with it.
		name += orderOf(nameOf(c.writer.node.Path))
	}
	node, removal, err := c.make(ctx, builder, c.in.path+"/"+name)
	c.node = node
	switch {
	case errors.Is(err, framework.ErrInvalidBuilder):
		return nil, fmt.Errorf("%w: WithDriver: %w", framework.ErrInvalidOption, err)
	case err != nil:
		return []*seam.Removal{removal}, err
	case c.writer == nil:
		return nil, nil
	}
	// A node never comes back: if the writer's is there now, it was there when the reader's
	// was made, and nobody else had been let in.
	if c.node.Session != c.writer.node.Session || !slices.Contains(c.node.Siblings, nameOf(c.writer.node.Path)) {
		c.writer.lose(LossNodeDeleted, nil)
		return []*seam.Removal{c.in.inside.Remove(ctx, c.node.Path, c.node.Session)}, c.writer.lost()
	}
	return nil, nil
}

// make makes one node, and looks at the queue with the same write unless that is ruled out.
func (c *contender) make(ctx context.Context, builder framework.CreateBuilder, path string) (seam.Created, *seam.Removal, error) {
	if c.in.cfg.plain && c.writer == nil {
		return c.in.inside.Create(ctx, builder, path)
	}
	return c.in.inside.CreateAndList(ctx, builder, path, c.writer == nil)
}

// createAll makes the nodes of several leases.
func (c *contender) createAll(ctx context.Context, builder framework.CreateBuilder) (left []*seam.Removal, err error) {
	nodes, left, err := c.in.inside.CreateGroup(ctx, builder, c.in.path+"/"+c.in.lockName, c.count)
	if err != nil {
		return left, err
	}
	c.mates, c.node = nodes[:c.count-1], nodes[c.count-1]
	return nil, nil
}

// nameOf returns the last part of a path.
func nameOf(path string) string { return path[strings.LastIndexByte(path, '/')+1:] }

// attempt queues with the node that was made. When it fails, or a user's retry policy
// panics, the node is removed.
func (c *contender) attempt(ctx context.Context) (hold *hold, left []*seam.Removal, err error) {
	defer func() {
		if hold != nil {
			return
		}
		c.stop()
		for _, node := range append(slices.Clone(c.mates), c.node) {
			left = append(left, c.in.inside.Remove(ctx, node.Path, node.Session))
		}
	}()
	hold, err = c.queue(ctx)
	return hold, nil, err
}

// settle waits for the removals of the contender's nodes, for a bound of its own, so that if
// the server can be reached nothing is left behind when Acquire returns, or begins anew: behind
// its former nodes the contender would wait for itself, and take itself for somebody else.
func (c *contender) settle(ctx context.Context, removals ...*seam.Removal) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), c.in.cfg.releaseTimeout)
	defer cancel()
	for _, removal := range removals {
		if removal == nil {
			continue
		}
		select {
		case <-removal.Done:
		case <-ctx.Done():
			return
		}
	}
}

// cleanUp returns the context in which clean-up waits: ctx, or when it has ended a short
// time of its own.
func (in *internals) cleanUp(ctx context.Context) (context.Context, context.CancelFunc) {
	if ctx != nil && ctx.Err() == nil {
		return context.WithCancel(ctx)
	}
	if ctx == nil {
		ctx = over // Release with a nil context still releases
	}
	return context.WithTimeout(context.WithoutCancel(ctx), in.cfg.releaseTimeout)
}

// queue waits until the node is the first.
func (c *contender) queue(ctx context.Context) (*hold, error) {
	if nearEnd(nameOf(c.node.Path)) {
		return nil, ErrSequenceExhausted
	}
	for {
		in, err := c.look(ctx)
		if err == nil && !in {
			in, err = c.sleep(ctx)
		}
		if err != nil {
			return nil, err
		}
		if in && c.in.cfg.lockDelay > 0 {
			again, err := c.keepDelay(ctx)
			if err != nil {
				return nil, err
			}
			in = !again
		}
		if in {
			if hold, err := c.grantAll(); !errors.Is(err, errInDoubt) {
				return hold, err
			}
		}
	}
}

// look decides by the children of the lock's path, as the create of the node left them or as
// they are, whether the contender is let in, and if not what it waits for.
func (c *contender) look(ctx context.Context) (in bool, err error) {
	names := c.node.Siblings
	c.node.Siblings = nil // of many waiters each has seen as many
	if names == nil {
		if names, err = c.in.list(ctx, c.node.Session); err != nil {
			return false, err
		}
	}
	queue, err := c.in.contenders(names)
	if err != nil {
		return false, err
	}
	own := nameOf(c.node.Path)
	if !c.placed {
		c.placed = true
		c.enqueued(queue, own)
	}
	if !slices.Contains(queue, own) || !c.complete(queue) {
		return false, errStartOver
	}
	next := c.in.driver.GetsTheLock(queue, own, c.in.maxLeases)
	if next.GetsTheLock {
		return true, nil
	}
	c.busy, c.near = true, len(next.PathsToWatch) == slices.Index(queue, own)
	switch {
	case !c.wait:
		return false, ErrNotAcquired
	case len(next.PathsToWatch) == 0:
		return false, errNothingToWatch
	}
	c.ahead = slices.Clone(next.PathsToWatch) // the rest of the queue need not be kept
	return false, nil
}

// complete tells whether the nodes of all leases are in the queue.
func (c *contender) complete(queue []string) bool {
	return !slices.ContainsFunc(c.mates, func(mate seam.Created) bool { return !slices.Contains(queue, nameOf(mate.Path)) })
}

// explain turns the reason for which a wait ended into the caller's error: seen busy and
// not let in is ErrNotAcquired, and not having seen the queue is not.
func (c *contender) explain(ctx, waitCtx context.Context, err error) error {
	switch {
	case waitCtx.Err() == nil || errors.Is(err, ErrKindMismatch) || errors.Is(err, ErrNotAcquired):
		return err
	case ctx.Err() == nil && c.busy:
		return fmt.Errorf("%w within %v", ErrNotAcquired, c.in.cfg.maxWait)
	case ctx.Err() == nil:
		return fmt.Errorf("%w: no answer within %v: %v", framework.ErrConnectionLoss, c.in.cfg.maxWait, err)
	case c.busy:
		return fmt.Errorf("%w: %w", ErrNotAcquired, ended(ctx))
	}
	return err
}
