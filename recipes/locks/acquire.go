package locks

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/seam"
	"github.com/go-curator/curator/internal/telemetry"
	"github.com/go-curator/curator/internal/zkconn"
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
		return nil, fmt.Errorf("%w: the context is nil", framework.ErrInvalidOption)
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
	c := contender{in: in, span: span, wait: wait, site: here()}
	for {
		hold, err := c.contend(waitCtx)
		if err != nil {
			return nil, c.explain(ctx, waitCtx, err)
		}
		if lease := hold.newLease(ctx, span, nil); lease != nil {
			return lease, nil
		}
		hold.remove(ctx) // lost before anyone could use it
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

	node  seam.Created   // the last, which waits for all
	mates []seam.Created // those of the other leases, right ahead of it
	own   *nodeWatch     // on the own node, once it waits

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
		// A number of its own would put the reader behind writers that wait already: the
		// first of them would be let in together with it.
		builder = builder.WithMode(framework.Ephemeral)
		name += orderOf(nameOf(c.writer.node.Path))
	}
	node, removal, err := c.in.inside.CreateAndList(ctx, builder, c.in.path+"/"+name)
	c.node = node
	switch {
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
		if c.own != nil {
			c.own.stop()
			c.own = nil
		}
		for _, node := range append(slices.Clone(c.mates), c.node) {
			left = append(left, c.in.inside.Remove(ctx, node.Path, node.Session))
		}
	}()
	hold, err = c.queue(ctx, c.node.Siblings)
	return hold, nil, err
}

// settle waits for the removals of the contender's nodes, for a bound of its own, so that
// nothing is left behind when Acquire returns if the server can be reached.
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

// queue waits until the node is the first. names are the children of the lock's path as
// its create left them.
func (c *contender) queue(ctx context.Context, names []string) (*hold, error) {
	own := nameOf(c.node.Path)
	if nearEnd(own) {
		return nil, ErrSequenceExhausted
	}
	for first := true; ; first = false {
		queue, err := c.in.contenders(names)
		if err != nil {
			return nil, err
		}
		if first {
			c.enqueued(queue, own)
		}
		if !slices.Contains(queue, own) || !c.complete(queue) {
			return nil, errStartOver
		}
		switch next := c.in.driver.GetsTheLock(queue, own, c.in.maxLeases); {
		case next.GetsTheLock:
			hold, err := c.grantAll()
			if !errors.Is(err, errInDoubt) {
				return hold, err
			}
		case !c.wait:
			c.busy = true
			return nil, ErrNotAcquired
		case len(next.PathsToWatch) == 0:
			return nil, errNothingToWatch
		default:
			c.busy = true
			if err := c.sleep(ctx, next.PathsToWatch); err != nil {
				return nil, err
			}
		}
		if names, err = c.in.list(ctx, c.node.Session); err != nil {
			return nil, err
		}
	}
}

// complete tells whether the nodes of all leases are in the queue.
func (c *contender) complete(queue []string) bool {
	return !slices.ContainsFunc(c.mates, func(mate seam.Created) bool { return !slices.Contains(queue, nameOf(mate.Path)) })
}

// sleep returns nil when the queue is to be looked at again: because one of the nodes
// ahead went or changed, or because the watch on it could not be kept.
func (c *contender) sleep(ctx context.Context, ahead []string) error {
	conn, err := c.in.inside.Conn()
	if err != nil {
		return err
	}
	var calls []*zkconn.Call
	arming := c.own == nil || c.own.fired()
	if arming {
		c.own = newNodeWatch(conn, make(chan zkconn.EventType, 1), c.node.Path)
		calls = append(calls, c.own.call())
	}
	next := newNodeWatches(conn, c.in.full, ahead)
	defer next.stop()
	calls = append(calls, next.calls()...)
	if err := c.watch(ctx, conn, ahead, calls...); err != nil {
		if arming {
			c.own = nil // Do took its watches back
		}
		return c.interrupted(ctx, err)
	}
	if arming && calls[0].Err != nil {
		c.own = nil
		return c.refused(calls[0].Err, errStartOver)
	}
	for _, call := range calls {
		if call.Err != nil {
			return c.refused(call.Err, nil)
		}
	}
	c.waiting(calls[len(calls)-len(ahead):])
	warning := time.NewTimer(selfWait)
	defer warning.Stop()
	for {
		select {
		case what := <-next.events:
			return after(what)
		case what := <-c.own.events:
			c.own.events <- what // it has fired, for whoever asks
			if what == zkconn.NodeDeleted {
				return errStartOver
			}
			return after(what)
		case <-warning.C:
			c.warn(ahead)
		case <-ctx.Done():
			return ended(ctx)
		}
	}
}

// refused is the answer to a watch that was not set: missing for a node that is gone.
func (c *contender) refused(err, missing error) error {
	if errors.Is(err, framework.ErrNoNode) {
		return missing
	}
	return err
}

// interrupted says how to go on after a request that was not answered. A lost connection
// is waited for by the look at the queue that follows.
func (c *contender) interrupted(ctx context.Context, err error) error {
	switch {
	case ctx.Err() != nil:
		return ended(ctx)
	case errors.Is(err, framework.ErrSessionExpired):
		return errStartOver
	case framework.Retryable(err):
		return nil
	}
	return err
}

// after says how to go on after an event of a watch.
func after(what zkconn.EventType) error {
	switch what {
	case zkconn.WatchSessionLost:
		return errStartOver
	case zkconn.WatchClosed:
		return framework.ErrClosed
	}
	return nil
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
