package locks

import (
	"context"
	"errors"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/zkconn"
)

// watchLater is how long after the grant the own node is watched: most locks are held for less,
// and need no watch.
const watchLater = 20 * time.Millisecond

// watchLater returns how long to wait with the watch on the own node.
func (in *internals) watchLater() time.Duration {
	if in.cfg.plain {
		return 0
	}
	return watchLater
}

// watchFrom takes over the contender's watch on the own node, or whoever's it was handed over
// by, if there is one, or sees to it that there will be.
func (h *hold) watchFrom(c *contender) {
	own, asked := c.seat.own, false
	if c.vigil != nil && c.node.Path == h.node.Path {
		asked = c.vigil.asked
		own = c.vigil.take()
		c.stop()
	}
	if own != nil {
		h.keep(own)
		if fired := own.handOver(h.onNode); asked && !fired { // else the node is read again
			h.revoke()
		}
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.err == nil {
		h.watch = time.AfterFunc(h.in.watchLater(), func() { h.in.inside.Go(h.watchNode) })
	}
}

// watchNode keeps an eye on the own node, which somebody may delete. Nobody waits for
// its answer.
func (h *hold) watchNode(ctx context.Context) {
	conn, err := h.in.inside.Conn()
	if err != nil {
		return
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if !h.mayWatch(cancel) {
		return
	}
	ctx, traced := h.watched.Watch(ctx, conn, h.node.Path, !h.rearmed.Swap(true))
	tries := 0
	defer func() {
		if errors.Is(err, context.Canceled) {
			err = nil // it does not matter any more
		}
		traced.End(tries, err)
	}()
	for tries == 0 || !h.over.Load() {
		tries++
		own := newOwnWatch(h)
		call := dataCall(h.node.Path, &own.Watch)
		if err = conn.Do(ctx, h.node.Session, call); err == nil {
			err = call.Err
			switch {
			case errors.Is(err, framework.ErrNoNode):
				h.lose(LossNodeDeleted, nil)
			case err == nil && !h.keep(own):
				conn.Unwatch(&own.Watch)
			case err == nil && asksToLetGo(call):
				h.revoke()
			}
			return
		}
		if errors.Is(err, framework.ErrConnectionLoss) {
			err = conn.Ready(ctx)
		}
		if err != nil {
			return
		}
	}
}

// mayWatch tells whether the own node is to be watched, and takes note of what ends that with
// the hold.
func (h *hold) mayWatch(unset context.CancelFunc) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.unset = unset
	return h.err == nil
}

// newOwnWatch returns a watch on a hold's node that tells the hold.
func newOwnWatch(h *hold) *nodeWatch {
	w := &nodeWatch{role: ownNode, tell: h.onNode}
	w.Init(h.node.Path, zkconn.WatchData, w.fire)
	return w
}

// keep takes note of the watch on the own node, for whom that is handed over to. It reports
// false when that has happened by now: the next one has, or sets, a watch of its own.
func (h *hold) keep(own *nodeWatch) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.handed {
		return false
	}
	h.own = own
	return true
}

// onNode takes the event of the own node's watch, which most often is our own delete.
func (h *hold) onNode(e zkconn.WatchEvent) {
	if h.over.Load() {
		return
	}
	switch e.Type {
	case zkconn.NodeDeleted:
		h.in.inside.Go(func(context.Context) { h.lose(LossNodeDeleted, nil) })
	case zkconn.NodeDataChanged, zkconn.WatchReset:
		h.in.inside.Go(h.watchNode)
	}
}
