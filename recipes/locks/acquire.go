package locks

import (
	"context"
	"time"

	"github.com/go-curator/curator/internal/zkclient"
	"github.com/go-curator/curator/recipes/internal/ephemeral"
	"github.com/go-curator/curator/recipes/internal/lockqueue"
)

// acquire is Acquire, and TryAcquire when wait is false. It nests in the lease that ctx carries.
// Without one it holds the node that another goroutine of this client hands over, or takes a
// place in the queue.
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
	defer a.passTurn()
	spec, err := l.spec(a)
	if err != nil {
		return nil, a.explain(err)
	}
	contender := lockqueue.New(spec)
	for {
		h, err := l.handedOver(a)
		if h == nil && err == nil {
			h, err = l.first(a, contender)
		}
		if err != nil {
			return nil, a.explain(err)
		}
		if lease := newLease(a.ctx, h, a.span, nil); lease != nil {
			return lease, nil
		}
		h.remove(a.ctx) // it was lost before there was a lease
		if a.writer != nil {
			return nil, h.reason()
		}
		contender.Forget()
		a.awaitRemovals(h)
	}
}

// first waits until the queue lets the contender in, and holds its node.
func (l *queueLock) first(a *acquisition, contender *lockqueue.Contender) (h *hold, err error) {
	err = contender.Acquire(a.waitCtx, func(nodes []*ephemeral.Node) (err error) {
		h, err = l.newHold(nodes[0], a)
		return err
	})
	return h, err
}

// handedOver waits for the turn, with WithLocalHandover, and holds the node that comes with it.
// It returns nil if no node comes with it. Then the caller contends.
func (l *queueLock) handedOver(a *acquisition) (h *hold, err error) {
	if l.cfg.handover == 0 || a.turn != nil {
		return nil, nil
	}
	if a.waitsOn == nil { // the timer of a slow wait reads it
		a.waitsOn = l
	}
	a.logSlowWait()
	lines := &locksOf(l.api).lines
	node, busy, err := lines.take(a.waitCtx, l.key(), a.wait)
	if err == nil {
		a.turn = lines
	} else if busy {
		a.sawBusy(l, locksOf(l.api).holder(l.key()), nil)
	}
	if node == nil {
		return nil, err
	}
	defer func() {
		if h == nil { // nobody takes the node
			node.Delete(a.ctx, ephemeral.Release{})
			lockqueue.AwaitRemovals(a.waitCtx, l.cfg.releaseTimeout, node.Deletion())
		}
	}()
	if err != nil {
		return nil, err
	}
	h, _ = l.newHold(node, a) // if the node cannot be held the caller contends
	return h, nil
}

// newHold holds a node that was let in. Its errors are those of ephemeral.Node.Hold.
func (l *queueLock) newHold(node *ephemeral.Node, a *acquisition) (*hold, error) {
	h := &hold{
		lock: l, node: node, token: node.Czxid(), site: a.site,
		granted: time.Now(), leases: map[*leaseNode]struct{}{},
	}
	if a.writer != nil {
		h.token = a.writer.token // its own would be higher than that of a writer to come
	}
	if a.record != nil {
		h.record = a.record.release(node.Path())
	}
	if err := node.Hold(h); err != nil {
		return nil, err
	}
	if h.enlist(a.turn) {
		a.turn = nil // from now on the hold passes the turn on
	}
	return h, nil
}

// watchAfter is the time from the grant until the holder's node is watched.
const watchAfter = 20 * time.Millisecond

// spec describes a place in the lock's queue.
func (l *queueLock) spec(a *acquisition) (*lockqueue.Spec, error) {
	node, err := l.api.Spec(l.nodeBuilder(a.span), l.path+"/"+l.lockName)
	if err != nil {
		return nil, err
	}
	s := &lockqueue.Spec{
		Client: l.api, NodeClient: l.nodeClient, ErrorPolicy: l.client.ErrorPolicy(), Dir: l.path, FullDir: l.full, Name: l.lockName,
		Node: node, Rules: l.rules, Try: !a.wait, Plain: l.cfg.plain,
		CleanUp: l.cfg.releaseTimeout, WatchAfter: watchAfter, Span: a.span,
		OnBusy:    func(first string, behind []string) { a.sawBusy(l, first, behind) },
		Unwatched: l.logUnwatched,
	}
	if l.cfg.plain {
		s.WatchAfter = 0
	}
	if a.writer != nil {
		s.InPlaceOf = a.writer.node
	}
	if l.delay != nil {
		a.record = &delayRecord{lockDelay: l.delay, try: !a.wait, busy: func(holder string) { a.sawBusy(l, holder, nil) }}
		s.Admit = a.record.admit
		s.GiveUp = func(node zkclient.Created) ephemeral.Release { return a.record.release(node.Path) }
	}
	return s, nil
}

// logUnwatched logs that the server refuses the watch on a holder's node. Nobody will notice
// when the node is deleted.
func (l *queueLock) logUnwatched(err error) {
	l.api.Log(func() {
		l.client.Logger().Warn("lock's node cannot be watched: if somebody deletes it, or asks for the lock, the holder does not learn of it",
			"path", l.path, "error", err)
	})
}
