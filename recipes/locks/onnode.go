package locks

import (
	"context"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/recipes/internal/ephemeral"
)

// OnNode returns a lease on an ephemeral node that another recipe of this module has made: that
// of a leader, for example. Other modules cannot make such a node, and so cannot call it.
//
// path is the recipe's, for errors and logs, and kind says in metrics what the lease is of. The
// lease has the values of ctx, and ends as that of a lock does. Release deletes the node. When
// the lease was lost before, Release leaves the node to the recipe: if the node's session still
// lives, the recipe may ask for another lease on it, which has the same Token. Leases on a node
// do not nest, and there is one at a time.
//
// Errors: those of [ephemeral.Node.Hold], for a session that cannot be relied on now and for a
// node that is gone, and those of a client that is closed or a path that is invalid.
func OnNode(ctx context.Context, client *framework.Client, path, kind string, node *ephemeral.Node) (*Lease, error) {
	cfg, err := newConfig([]MutexOption{}, MutexOption.applyMutex)
	if err != nil {
		return nil, err
	}
	l, err := newQueueLock(client, path, cfg, rules{kind: kind, flat: true, keepsLost: true})
	if err != nil {
		return nil, err
	}
	a := &acquisition{lock: l, ctx: ctx}
	caller(&a.site)
	h, err := l.newHold(node, a)
	if err != nil {
		return nil, err
	}
	lease := newLease(ctx, h, nil, nil)
	if lease == nil {
		return nil, ephemeral.ErrInDoubt // it was lost at once; another look finds out what is left
	}
	lease.countHeld(ctx)
	return lease, nil
}
