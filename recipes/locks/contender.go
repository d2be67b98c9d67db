package locks

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/recipeapi"
)

// errAsleep: there is nothing to do before something has happened.
var errAsleep = errors.New("the contender waits")

// contender is one acquisition on its way. It goes on in steps, between which it waits.
type contender struct {
	acquisition
	wait   bool
	busy   bool // others were seen ahead
	near   bool // all who are ahead are waited for
	placed bool // the place in the queue has been told of
	asleep bool // the watches are set
	seat   seat // that was handed over to it

	writer *hold  // the write lock's whose place a reader takes; nil without one
	mates  *mates // with more than one lease of a semaphore
	site   site

	node  recipeapi.Created // none has no path
	ahead []string          // the paths of nodes of which one must go
	vigil *vigil            // once it waits

	warning *time.Timer // while it waits
	overdue atomic.Bool // it has waited for so long that warn is called
}

// mates are the other leases that a contender for several wants: their nodes are right ahead
// of its own, which waits for all.
type mates struct {
	n     int
	nodes []recipeapi.Created
	holds []*hold // when they are granted
}

// nodes are all that the contender has made.
func (c *contender) nodes() []recipeapi.Created {
	if c.mates == nil {
		return []recipeapi.Created{c.node}
	}
	return append(slices.Clone(c.mates.nodes), c.node)
}

// forget has the contender begin anew, with other nodes.
func (c *contender) forget() {
	c.node = recipeapi.Created{}
	if c.mates != nil {
		c.mates.nodes = nil
	}
}

// contend queues until the lock is granted. Whatever it returns but a hold, it leaves no
// node behind.
func (c *contender) contend(ctx context.Context) (*hold, error) {
	for {
		hold, err := c.advance(ctx)
		if err != errAsleep {
			return hold, err
		}
		c.park(ctx)
	}
}

// advance is contend until there is something to wait for: then it returns errAsleep.
func (c *contender) advance(ctx context.Context) (*hold, error) {
	for {
		if c.node.Path == "" {
			if left, err := c.create(ctx); err != nil {
				c.settle(ctx, left...)
				return nil, err
			}
		}
		hold, left, err := c.attempt(ctx)
		c.settle(ctx, left...)
		if hold != nil {
			c.forget() // should the hold be over already
		}
		if !errors.Is(err, errStartOver) {
			return hold, err
		}
	}
}

// create makes the contender's node. When it fails, left is what goes on in the background
// to remove what was made.
func (c *contender) create(ctx context.Context) (left []*recipeapi.PendingDelete, err error) {
	builder, name := c.in.builder(c.span), c.in.lockName
	if c.mates != nil {
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
		return []*recipeapi.PendingDelete{removal}, err
	case c.writer == nil:
		return nil, nil
	}
	// A node never comes back: if the writer's is there now, it was there when the reader's
	// was made, and nobody else had been let in.
	if c.node.Session != c.writer.node.Session || !slices.Contains(c.node.Siblings, nameOf(c.writer.node.Path)) {
		c.writer.lose(LossNodeDeleted, nil)
		return []*recipeapi.PendingDelete{c.in.inside.Remove(ctx, c.node.Path, c.node.Session)}, c.writer.lost()
	}
	return nil, nil
}

// make makes one node, and looks at the queue with the same write unless that is ruled out.
func (c *contender) make(ctx context.Context, builder framework.CreateBuilder, path string) (recipeapi.Created, *recipeapi.PendingDelete, error) {
	if c.in.cfg.plain && c.writer == nil {
		return c.in.inside.Create(ctx, builder, path)
	}
	return c.in.inside.CreateAndList(ctx, builder, path, c.writer == nil)
}

// createAll makes the nodes of several leases.
func (c *contender) createAll(ctx context.Context, builder framework.CreateBuilder) (left []*recipeapi.PendingDelete, err error) {
	nodes, left, err := c.in.inside.CreateGroup(ctx, builder, c.in.path+"/"+c.in.lockName, c.mates.n+1)
	if err != nil {
		return left, err
	}
	c.mates.nodes, c.node = nodes[:c.mates.n], nodes[c.mates.n]
	for i := range c.mates.nodes {
		c.mates.nodes[i].Siblings = nil // they are c.node's
	}
	return nil, nil
}

// nameOf returns the last part of a path.
func nameOf(path string) string { return path[strings.LastIndexByte(path, '/')+1:] }

// attempt goes on with the node that was made. When it fails, or a user's retry policy
// panics, the node is removed.
func (c *contender) attempt(ctx context.Context) (hold *hold, left []*recipeapi.PendingDelete, err error) {
	defer func() {
		if hold == nil && err != errAsleep {
			c.stop()
			left = c.withdraw(ctx)
		}
	}()
	hold, err = c.queue(ctx)
	return hold, nil, err
}

// withdraw removes the contender's nodes, in the background.
func (c *contender) withdraw(ctx context.Context) (left []*recipeapi.PendingDelete) {
	for _, node := range c.nodes() {
		left = append(left, c.in.inside.Remove(ctx, node.Path, node.Session))
	}
	c.forget()
	return left
}

// settle waits for the removals of the contender's nodes, for a bound of its own, so that if
// the server can be reached nothing is left behind when Acquire returns, or begins anew: behind
// its former nodes the contender would wait for itself, and take itself for somebody else.
func (c *contender) settle(ctx context.Context, removals ...*recipeapi.PendingDelete) {
	if len(removals) == 0 {
		return
	}
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
