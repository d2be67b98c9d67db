package lockqueue

import (
	"context"
	"errors"

	"github.com/go-curator/curator/internal/zkclient"
	"github.com/go-curator/curator/internal/zkconn"
	"github.com/go-curator/curator/recipes/internal/ephemeral"
)

// Next returns when the contender's place in the queue has changed: when a list of the queue has shown
// others ahead, and when the queue lets the contender in. If others were ahead in the last step, Next
// waits. After a step with First the caller holds the nodes, all or none, and says so by Held, or it
// calls Again. Otherwise Next returns the same step once more.
//
// The caller must call End after the last Next.
//
// Many goroutines may wait here. The functions of all other steps have returned before they
// sleep, so their stacks stay small.
func (c *Contender) Next(ctx context.Context) (Step, error) {
	c.use()
	if c.state == held {
		c.state = c.begin()
	}
	for c.state != first {
		from := c.state
		next, err := c.step(ctx)
		if err != nil {
			c.state = c.begin()
			return Step{}, err
		}
		c.state = next
		if from == look && next == arm {
			s := Step{Holder: c.ahead.holder, Behind: c.ahead.nodes, Ahead: int(c.ahead.count), Of: int(c.listed)}
			if c.ahead.children {
				s.Ahead, s.Of = s.Of-len(c.place.nodes), 0
			}
			return s, nil
		}
	}
	return Step{First: c.place.owned, Of: int(c.listed - c.ahead.count)}, nil
}

// begin is the state in which the next attempt begins.
func (c *Contender) begin() phase {
	if len(c.place.nodes) > 0 {
		return look
	}
	return create
}

func (c *Contender) step(ctx context.Context) (next phase, err error) {
	switch c.state {
	case create:
		next, err = c.create(ctx)
	case look:
		next, err = c.look(ctx)
	case arm:
		next, err = c.arm(ctx)
	case wait:
		next, err = c.wait(ctx)
	default:
		next, err = c.restart(ctx)
	}
	if next == first && err == nil && !c.own() {
		return restart, nil
	}
	return next, err
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

// own takes charge of the nodes, unless it has done so before. The queue lets them in: look has seen nothing ahead of
// them, or wait has seen the marker of the node right ahead, or the end of the only node ahead.
// Only the session is still to be checked, by [ephemeral.Node.Hold] (rule 11). It returns false for a node of a
// session that is over.
func (c *Contender) own() bool {
	for _, node := range c.place.nodes[len(c.place.owned):] {
		n, err := ephemeral.Own(c.spec.Owned, node, c.place.waited)
		if err != nil {
			return false
		}
		c.place.owned = append(c.place.owned, n)
	}
	return true
}

// Held says that all nodes of the last step are held. The watches of the wait are given back, except
// the one on the own node, which stays with the node. Without Spec.Stays the contender forgets the nodes:
// the next Next takes another place.
func (c *Contender) Held() {
	own := c.watches.Take(ownNode)
	c.endWait()
	last := len(c.place.owned) - 1
	for _, node := range c.place.owned[:last] {
		node.Watch(nil, ephemeral.Content{})
	}
	c.place.owned[last].Watch(own, c.place.ownRead)
	if !c.spec.Stays {
		c.place = place{}
	}
	c.state = held
}

// Again says that the nodes of the last step are not held, and why:
//
//	ephemeral.ErrInDoubt   Again waits until the session can be relied on, or is over
//	ephemeral.ErrGone      the next Next takes another place
//	ErrLookAgain           the next Next lists the queue
//
// Any other error is returned, as is that of the wait. Then a Next may follow with Spec.Stays only.
func (c *Contender) Again(ctx context.Context, why error) (err error) {
	switch {
	case errors.Is(why, ErrLookAgain):
		c.state = look
	case errors.Is(why, ephemeral.ErrGone):
		c.state = restart
	case errors.Is(why, ephemeral.ErrInDoubt):
		c.state, err = c.awaitProof(ctx)
	default:
		c.state, err = c.begin(), why
	}
	return err
}

// awaitProof waits until the session can be relied on, or is over.
func (c *Contender) awaitProof(ctx context.Context) (phase, error) {
	conn, err := c.spec.Client.Conn()
	if err != nil {
		return look, err
	}
	err = conn.AwaitProof(ctx, c.last().Session)
	switch {
	case err == nil:
		return look, nil
	case ctx.Err() != nil:
		return look, zkclient.ContextError(ctx)
	case errors.Is(err, zkconn.ErrSessionExpired):
		return restart, nil
	}
	return look, err
}

// Wake says that the rules may decide otherwise now: a wait ends, and the queue is listed. Any goroutine
// may call it, also after End.
func (c *Contender) Wake() {
	c.changed.Store(true)
	c.watches.Wake()
}

// use has the session proved while somebody waits for a grant, which needs a young proof.
func (c *Contender) use() {
	if c.inUse != nil {
		return
	}
	if conn, err := c.spec.Client.Conn(); err == nil {
		conn.Use()
		c.inUse = conn
	}
}

// End ends what Next has begun. Unless the nodes are held, it deletes them, as far as the server can be
// reached within Spec.CleanUp, and in the background after that. With Spec.Stays it keeps them.
func (c *Contender) End(ctx context.Context) {
	if c.inUse != nil {
		c.inUse.Unuse()
		c.inUse = nil
	}
	if c.state != held && !c.spec.Stays {
		c.giveUp(ctx)
	}
}
