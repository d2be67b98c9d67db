package lockqueue

import (
	"context"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/recipeapi"
)

// failed ends a Join or an Acquire that failed.
func (c *Contender) failed(ctx context.Context) {
	switch {
	case !c.spec.Stays:
		c.giveUp(ctx)
	case len(c.nodes) > 0:
		c.state = look
	default:
		c.state = create
	}
}

// giveUp gives back the watches and deletes the nodes. It waits for the deletion, with Spec.Stays
// until ctx ends: at most one place of a recipe that stays is being deleted at a time.
func (c *Contender) giveUp(ctx context.Context) {
	removals := c.remove(ctx)
	if c.spec.Stays {
		c.leaving = append(c.leaving, removals...)
		_ = c.awaitLeaving(ctx) // Leave says so again
		return
	}
	AwaitRemovals(ctx, c.spec.CleanUp, removals...)
}

// remove gives back the watches and has the nodes deleted in the background.
func (c *Contender) remove(ctx context.Context) (removals []*recipeapi.PendingDelete) {
	c.endWait()
	for i, node := range c.nodes {
		var with recipeapi.Release
		if c.spec.GiveUp != nil {
			with = c.spec.GiveUp(node)
		}
		if i >= len(c.owned) {
			removals = append(removals, c.spec.Client.Release(ctx, node.Path, node.Session, with))
			continue
		}
		c.owned[i].Delete(ctx, with)
		removals = append(removals, c.owned[i].Deletion())
	}
	c.Forget()
	return removals
}

// Leave gives up the place of a contender with Spec.Stays: it gives back the watches, deletes
// the nodes in the background, and waits for the outcome until ctx ends. For released nodes it
// only waits. The next Acquire creates other nodes.
//
// A nil error says that no node of this contender is left. Errors: framework.ErrClosed, ctx's
// with its cause, and the server's refusal to delete a node. The nodes are then deleted with
// their session at the latest.
func (c *Contender) Leave(ctx context.Context) error {
	c.leaving = append(c.leaving, c.remove(ctx)...)
	return c.awaitLeaving(ctx)
}

// awaitLeaving waits until the outcome of all deletes is known, or until ctx ends. It forgets
// those that have succeeded.
func (c *Contender) awaitLeaving(ctx context.Context) (err error) {
	left := c.leaving[:0]
	for _, removal := range c.leaving {
		if removal == nil {
			err = framework.ErrClosed
			continue
		}
		select {
		case <-removal.Done:
		default:
			select {
			case <-removal.Done:
			case <-ctx.Done():
				err = ContextError(ctx)
				left = append(left, removal)
				continue
			}
		}
		if removal.Outcome == recipeapi.RemovalGivenUp {
			err = removal.Err
			left = append(left, removal) // Leave says so again
		}
	}
	clear(c.leaving[len(left):])
	c.leaving = left
	return err
}
