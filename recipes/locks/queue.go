package locks

import (
	"context"
	"errors"
	"slices"

	"github.com/go-curator/curator/internal/recipeapi"
)

// queue goes on until the node is the first, or there is something to wait for.
func (c *contender) queue(ctx context.Context) (*hold, error) {
	if nearEnd(nameOf(c.node.Path)) {
		return nil, ErrSequenceExhausted
	}
	for {
		in, err := c.turn(ctx)
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

// turn tells whether the contender is let in. If not, and if err is nil, that may have changed
// meanwhile.
func (c *contender) turn(ctx context.Context) (in bool, err error) {
	if c.asleep {
		if in, again, err := c.woken(ctx); in || !again || err != nil {
			return in, err
		}
	}
	in, err = c.look(ctx)
	if in || err != nil {
		return in, err
	}
	if c.asleep, err = c.watch(ctx); c.asleep {
		c.warnLater()
		return false, errAsleep
	}
	return false, err
}

// woken says what has happened while the contender slept: that it is let in, or that the
// queue is to be looked at again.
func (c *contender) woken(ctx context.Context) (in, again bool, err error) {
	if ctx.Err() != nil {
		return false, false, ended(ctx)
	}
	in, again, err = c.heard()
	if c.overdue.Swap(false) && !in && !again && err == nil {
		c.warn()
		again, err = c.check(ctx)
	}
	if !in && !again && err == nil {
		return false, false, errAsleep
	}
	c.asleep = false
	return in, again, err
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
	c.near = len(next.PathsToWatch) == slices.Index(queue, own)
	c.sawBusy()
	switch {
	case !c.wait:
		return false, ErrNotAcquired
	case len(next.PathsToWatch) == 0:
		return false, errNothingToWatch
	}
	c.ahead = nil
	for _, name := range next.PathsToWatch { // the rest of the queue need not be kept
		c.ahead = append(c.ahead, c.in.full+"/"+name)
	}
	return false, nil
}

// sawBusy takes note of others who hold the lock.
func (c *contender) sawBusy() {
	c.busy = true
	if c.in.cfg.handover > 0 {
		turns.saw(c.in.key())
	}
}

// complete tells whether the nodes of all leases are in the queue.
func (c *contender) complete(queue []string) bool {
	return c.mates == nil || !slices.ContainsFunc(c.mates.nodes, func(mate recipeapi.Created) bool { return !slices.Contains(queue, nameOf(mate.Path)) })
}
