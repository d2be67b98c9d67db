package locks

import (
	"context"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/recipes/internal/ephemeral"
)

// OnNode returns a lease on an ephemeral node of another recipe of this module, for example a
// leader's. Other modules cannot call it, because they cannot make such a node.
//
// path is the path of the recipe, for errors and logs. kind is the kind of the lease in
// metrics. The lease has the values of ctx, and ends like a lock's lease. Release deletes the
// node. If the lease was lost before, Release leaves the node to the recipe: while the node's
// session lives, the recipe may call OnNode again, and gets a lease with the same Token. Leases
// on a node do not nest, and there is one at a time.
//
// Errors: those of [ephemeral.Node.Hold], for a session that cannot be relied on now and for a
// node that is gone, framework.ErrClosed, and framework.ErrInvalidPath.
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
