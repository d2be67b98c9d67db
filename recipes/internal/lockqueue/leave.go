package lockqueue

import (
	"context"
	"time"

	"github.com/go-curator/curator/internal/zkclient"
	"github.com/go-curator/curator/internal/zkconn"
	"github.com/go-curator/curator/recipes/internal/ephemeral"
)

// leaving is a node that is being deleted.
type leaving struct {
	removal *zkclient.Removal // nil if the client was closed before
	session int64             // the node's; 0 if that is not known
}

// giveUp gives back the watches and deletes the nodes. It waits for the deletion, with Spec.Stays
// until ctx ends: at most one place of a recipe that stays is being deleted at a time.
func (c *Contender) giveUp(ctx context.Context) {
	if c.spec.Stays {
		_ = c.Leave(ctx) // Leave says so again
		return
	}
	var removals []*zkclient.Removal
	for _, l := range c.remove(ctx) {
		removals = append(removals, l.removal)
	}
	AwaitRemovals(ctx, c.spec.CleanUp, removals...)
}

// remove gives back the watches and has the nodes deleted in the background.
func (c *Contender) remove(ctx context.Context) (all []leaving) {
	c.endWait()
	for i, node := range c.place.nodes {
		if i >= len(c.place.owned) {
			removal := ephemeral.Release{}.Remove(ctx, c.spec.Client, node.Path, node.Session, false)
			all = append(all, leaving{removal, node.Session})
			continue
		}
		owned := c.place.owned[i]
		owned.Delete(ctx, owned.Record())
		all = append(all, leaving{owned.Deletion(), node.Session})
	}
	c.place, c.state = place{}, create
	return all
}

// Leave gives up the place of a contender with Spec.Stays: it gives back the watches, deletes
// the nodes in the background, and waits for the outcome until ctx ends. For released nodes it
// only waits. The next Next creates other nodes.
//
// A nil error says that no node of this contender is left, also because the client has closed their
// session. Errors: zkconn.ErrClosed, ctx's with its cause, and the server's refusal to delete a node.
// The nodes are then deleted with their session at the latest.
func (c *Contender) Leave(ctx context.Context) error {
	c.leaving = append(c.leaving, c.remove(ctx)...)
	return c.awaitLeaving(ctx)
}

// awaitLeaving waits until the outcome of all deletes is known, or until ctx ends. It forgets
// those that have succeeded.
func (c *Contender) awaitLeaving(ctx context.Context) (err error) {
	left := c.leaving[:0]
	for _, l := range c.leaving {
		if failed := c.awaitOne(ctx, l); failed != nil {
			err = failed
			left = append(left, l) // Leave says so again
		}
	}
	clear(c.leaving[len(left):])
	c.leaving = left
	return err
}

// awaitOne waits until a node is gone, or returns why that is not known.
func (c *Contender) awaitOne(ctx context.Context, l leaving) error {
	err := error(zkconn.ErrClosed)
	if l.removal != nil {
		select {
		case <-l.removal.Done:
		default:
			select {
			case <-l.removal.Done:
			case <-ctx.Done():
				return zkclient.ContextError(ctx)
			}
		}
		if l.removal.Outcome != zkclient.RemovalGivenUp {
			return nil
		}
		err = l.removal.Err
	}
	if c.spec.Client.SessionEnd(ctx, l.session) != zkconn.SessionMayLive {
		return nil // the node has gone with it
	}
	return err
}

// AwaitRemovals waits until the nodes are deleted, but not longer than bound. The end of ctx
// does not matter. Without this wait a caller could return, or queue again, while its former
// node is still ahead.
func AwaitRemovals(ctx context.Context, bound time.Duration, removals ...*zkclient.Removal) {
	if len(removals) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), bound)
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
