package lockqueue

import (
	"context"

	"github.com/go-curator/curator/internal/zkclient"
	"github.com/go-curator/curator/recipes/internal/ephemeral"
)

// Acquire returns when the queue has let the contender in and hold has taken its nodes, all or
// none. The errors of hold are those of [ephemeral.Node.Hold]. When Acquire fails it has
// deleted the nodes, as far as the server could be reached within Spec.CleanUp. With Spec.Stays
// it keeps them: the next Acquire continues with them, or Leave deletes them.
//
// Acquire may be called again after it returned nil: for a new hold on the same nodes, or after
// Forget at the end of the queue.
//
// Many goroutines may wait here. The functions of all other steps have returned before they
// sleep, so their stacks stay small.
func (c *Contender) Acquire(ctx context.Context, hold func(nodes []*ephemeral.Node) error) (err error) {
	c.hold = hold
	if c.state == granted {
		c.state = look
	}
	defer func() { // also when a retry policy of the user panics
		if c.state != granted {
			c.failed(ctx)
		}
	}()
	if c.spec.Changed != nil {
		defer c.spec.Changed(func() { c.changed.Store(true); c.watches.Wake() })()
	}
	if conn, err := c.spec.Client.Conn(); err == nil {
		conn.Use() // the grant needs a proof of the session that is young
		defer conn.Unuse()
	}
	for c.state != granted {
		next, err := c.step(ctx)
		if err != nil {
			return err
		}
		c.state = next
	}
	return nil
}

// Join creates the contender's nodes, and returns when a list of the queue has shown them.
// Acquire then waits for the nodes ahead. When Join fails it deletes or keeps the nodes as a
// failed Acquire does.
func (c *Contender) Join(ctx context.Context) error {
	joined := false
	defer func() {
		if !joined {
			c.failed(ctx)
		}
	}()
	for c.state == create || c.state == look || c.state == restart {
		next, err := c.step(ctx)
		if err != nil {
			return err
		}
		c.state = next
	}
	joined = true
	return nil
}

func (c *Contender) step(ctx context.Context) (phase, error) {
	switch c.state {
	case create:
		return c.create(ctx)
	case look:
		return c.look(ctx)
	case arm:
		return c.arm(ctx)
	case wait:
		return c.wait(ctx)
	case grant:
		return c.grant(ctx)
	default:
		return c.restart(ctx)
	}
}

// restart deletes what is left of a place that was lost, before the contender takes another
// one: behind its former node the contender would wait for itself.
func (c *Contender) restart(ctx context.Context) (phase, error) {
	c.giveUp(ctx)
	switch guard := c.spec.Guard; {
	case guard != nil && guard.Expired():
		return restart, ErrGuardGone
	case ctx.Err() != nil:
		return restart, zkclient.ContextError(ctx)
	}
	return create, nil
}
