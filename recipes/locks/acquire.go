package locks

import (
	"context"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/recipes/internal/ephemeral"
	"github.com/go-curator/curator/recipes/internal/lockqueue"
)

// acquire is Acquire, and TryAcquire when wait is false. It nests in the lease that ctx carries.
// Without one it contends.
func (l *queueLock) acquire(ctx context.Context, wait bool) (*Lease, error) {
	a, err := l.begin(ctx, wait)
	if err != nil {
		return nil, err
	}
	defer a.close()
	lease, nested, err := l.reenter(a)
	if !nested && err == nil {
		lease, err = l.contend(a)
	}
	return a.end(lease, err)
}

// contend goes on until it has a lease.
func (l *queueLock) contend(a *acquisition) (*Lease, error) {
	parts, err := l.contendFor(a, 1)
	if err != nil {
		return nil, err
	}
	return parts[0], nil
}

// contendFor goes on until it has n leases. It holds the node that another goroutine of this client
// hands over, or takes a place in the queue.
func (l *queueLock) contendFor(a *acquisition, n int) ([]*Lease, error) {
	defer a.passTurn()
	var contender *lockqueue.Contender
	for {
		holds, err := l.handedOver(a)
		if holds == nil && err == nil && contender == nil {
			contender, err = l.contender(a, n)
		}
		if holds == nil && err == nil {
			holds, err = l.queueUp(a, contender)
		}
		if err != nil {
			return nil, a.explain(err)
		}
		if leases := leasesOf(a, holds); leases != nil {
			return leases, nil
		}
		withdrawAll(a, holds) // one was lost before there was a lease
		if a.writer != nil {
			return nil, holds[0].reason()
		}
		a.awaitRemovals(holds...)
	}
}

// queueUp waits until the queue lets the contender in, and holds its nodes.
func (l *queueLock) queueUp(a *acquisition, contender *lockqueue.Contender) ([]*hold, error) {
	defer contender.End(a.waitCtx)
	for {
		step, err := contender.Next(a.waitCtx)
		if err != nil {
			return nil, err
		}
		if step.First == nil {
			if a.sawBusy(l, step); !a.wait {
				return nil, errBusy
			}
			continue
		}
		if a.queued != nil {
			a.queued.first = step.Of
		}
		holds, err := l.holdAll(a, step.First)
		if err == nil {
			contender.Held()
			return holds, nil
		}
		if err = contender.Again(a.waitCtx, err); err != nil {
			return nil, err
		}
	}
}

// holdAll makes holds of all nodes that the queue lets in, or of none. Its errors are for
// Contender.Again.
func (l *queueLock) holdAll(a *acquisition, nodes []*ephemeral.Node) ([]*hold, error) {
	if err := l.awaitDelay(a, nodes[0]); err != nil {
		return nil, err
	}
	holds := make([]*hold, 0, len(nodes))
	defer func() { // also when an error policy of the user panics
		if len(holds) < len(nodes) {
			for _, h := range holds {
				h.abandon()
			}
		}
	}()
	for _, node := range nodes {
		h, err := l.newHold(a, node)
		if err != nil {
			return nil, err
		}
		holds = append(holds, h)
	}
	return holds, nil
}

// awaitDelay records the contender as the holder, with WithLockDelay. When the holder before it was lost
// not long ago, it waits instead, and the queue must be listed again.
func (l *queueLock) awaitDelay(a *acquisition, node *ephemeral.Node) error {
	if l.delay == nil {
		return nil
	}
	if a.record == nil {
		a.record = &delayRecord{lockDelay: l.delay}
	}
	lost, left, err := a.record.admit(a.waitCtx, node)
	if err != nil || left <= 0 {
		return err
	}
	if a.sawBusy(l, lockqueue.Step{Holder: lost}); !a.wait {
		return ErrNotAcquired
	}
	return a.record.pause(a.waitCtx, node.Session(), left)
}

// newHold holds a node that was let in. Its errors are those of ephemeral.Node.Hold, which sets the
// hold as the holder of the node before it looks at the clock (rule 11).
func (l *queueLock) newHold(a *acquisition, node *ephemeral.Node) (*hold, error) {
	h := &hold{
		lock: l, node: node, token: node.Czxid(), site: a.site,
		granted: time.Now(), leases: map[*leaseNode]struct{}{},
	}
	if a.writer != nil {
		h.token = a.writer.token // its own would be higher than that of a writer to come
	}
	if err := node.Hold(h); err != nil {
		return nil, err
	}
	if h.enlist(a.turn) {
		a.turn = nil // from now on the hold passes the turn on
	}
	return h, nil
}

// leasesOf returns a lease of each hold. It returns nil if one of the holds has ended. Then the
// caller withdraws all of them.
func leasesOf(a *acquisition, holds []*hold) []*Lease {
	leases := make([]*Lease, 0, len(holds))
	for _, h := range holds {
		if len(holds) > 1 { // the first of them may have been held for a while
			h.node.Check()
		}
		if lease := newLease(a.ctx, h, a.span, nil); lease != nil {
			leases = append(leases, lease)
		}
	}
	if len(leases) == len(holds) {
		return leases
	}
	for _, lease := range leases {
		lease.released.Store(true)
	}
	return nil
}

// withdrawAll ends holds that have no lease, and deletes their nodes.
func withdrawAll(a *acquisition, holds []*hold) {
	for _, h := range holds {
		h.withdraw(a.waitCtx)
	}
}

// handedOver waits for the turn, with WithLocalHandover, and holds the node that comes with it.
// It returns nil if no node comes with it. Then the caller takes a place in the queue.
func (l *queueLock) handedOver(a *acquisition) (holds []*hold, err error) {
	if l.cfg.handover == 0 || a.turn != nil {
		return nil, nil
	}
	if a.waitsOn == nil { // the timer of a slow wait reads it
		a.waitsOn = l
	}
	a.logSlowWait()
	turn, node, busy, err := locksOf(l.api).lines.take(a.waitCtx, l.key(), a.wait)
	if err == nil {
		a.turn = turn
	} else if busy {
		a.sawBusy(l, lockqueue.Step{Holder: locksOf(l.api).holder(l.key())})
	}
	if node == nil {
		return nil, err
	}
	defer func() { // also when an error policy of the user panics
		if holds == nil { // nobody takes the node
			node.Delete(a.ctx, ephemeral.Release{})
			lockqueue.AwaitRemovals(a.waitCtx, l.cfg.releaseTimeout, node.Deletion())
		}
	}()
	if err != nil {
		return nil, err
	}
	if h, err := l.newHold(a, node); err == nil { // if the node cannot be held the caller contends
		holds = []*hold{h}
	}
	return holds, nil
}

// watchAfter is the time from the grant until the holder's node is watched.
const watchAfter = 20 * time.Millisecond

// contender returns one for a place in the lock's queue with n nodes.
func (l *queueLock) contender(a *acquisition, n int) (*lockqueue.Contender, error) {
	spec, err := l.spec(a, n)
	if err != nil {
		return nil, err
	}
	return lockqueue.New(spec), nil
}

// spec describes a place in the lock's queue with n nodes.
func (l *queueLock) spec(a *acquisition, n int) (*lockqueue.Spec, error) {
	node, err := l.api.Spec(l.nodeBuilder(a.span), l.path+"/"+l.lockName)
	if err != nil {
		return nil, err
	}
	s := &lockqueue.Spec{
		Client: l.api, Owned: ephemeral.Config{
			Client: l.nodeClient, ErrorPolicy: l.client.ErrorPolicy(), WatchAfter: watchAfter, Span: a.span, Unwatched: l.logUnwatched,
		},
		Dir: l.path, FullDir: l.full, Name: l.lockName, Node: node, Rules: l.rules,
		Nodes: n, Plain: l.cfg.plain, CleanUp: l.cfg.releaseTimeout,
	}
	if l.cfg.plain {
		s.Owned.WatchAfter = 0
	}
	if a.writer != nil {
		s.InPlaceOf = a.writer.node
	}
	return s, nil
}

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
	client, cfg, err := newConfig(client, []MutexOption{}, MutexOption.applyMutex)
	if err != nil {
		return nil, err
	}
	l, err := newQueueLock(client, path, cfg, rules{kind: kind, flat: true, keepsLost: true})
	if err != nil {
		return nil, err
	}
	a := &acquisition{lock: l, ctx: ctx}
	caller(&a.site)
	h, err := l.newHold(a, node)
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
