package lockqueue

import (
	"context"
	"errors"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/zkclient"
	"github.com/go-curator/curator/recipes/internal/ephemeral"
)

// grant hands the nodes to the caller. The queue lets them in: look has seen nothing ahead of
// them, or wait has seen the marker of the node right ahead, or the end of the only node ahead.
// Only the session is still to be checked, by [ephemeral.Node.Hold] (rule 11).
func (c *Contender) grant(ctx context.Context) (phase, error) {
	if c.spec.Admit != nil {
		if again, err := c.spec.Admit(ctx, c.last()); again || err != nil {
			return look, err
		}
	}
	if err := c.own(); errors.Is(err, ephemeral.ErrGone) {
		return restart, nil
	}
	switch err := c.hold(c.owned); {
	case errors.Is(err, ephemeral.ErrInDoubt):
		return c.awaitProof(ctx)
	case errors.Is(err, ephemeral.ErrGone):
		return restart, nil
	case err != nil:
		return restart, err
	}
	ownWatch := c.watches.Take(ownNode)
	c.endWait()
	last := len(c.owned) - 1
	for _, node := range c.owned[:last] {
		node.Watch(nil, nil)
	}
	c.owned[last].Watch(ownWatch, c.ownRead)
	return granted, nil
}

// awaitProof waits until the session can be relied on, or is over.
func (c *Contender) awaitProof(ctx context.Context) (phase, error) {
	conn, err := c.spec.Client.Conn()
	if err != nil {
		return restart, err
	}
	err = conn.AwaitProof(ctx, c.last().Session)
	switch {
	case err == nil:
		return look, nil
	case ctx.Err() != nil:
		return restart, zkclient.ContextError(ctx)
	case errors.Is(err, framework.ErrSessionExpired):
		return restart, nil
	}
	return restart, err
}

// own takes charge of the nodes, unless it has done so before.
func (c *Contender) own() error {
	for _, node := range c.nodes[len(c.owned):] {
		n, err := ephemeral.Own(ephemeral.Config{
			Client: c.spec.NodeClient, Node: node, ErrorPolicy: c.spec.ErrorPolicy, Waited: c.waited,
			WatchAfter: c.spec.WatchAfter, Span: c.spec.Span, Unwatched: c.spec.Unwatched,
		})
		if err != nil {
			return err
		}
		c.owned = append(c.owned, n)
	}
	return nil
}
