package lockqueue

import (
	"context"
	"fmt"
	"slices"

	"github.com/go-curator/curator/internal/zkclient"
)

// create makes the contender's nodes and lists the queue in the same write. A session's
// requests are handled in order, so the list shows the nodes (rule 1).
func (c *Contender) create(ctx context.Context) (phase, error) {
	s := c.spec
	switch {
	case !s.Node.Protection || s.Node.Mode != zkclient.EphemeralSequential:
		return restart, fmt.Errorf("%w: a contender's node needs protection, and is ephemeral and sequential", zkclient.ErrInvalidBuilder)
	case s.InPlaceOf != nil:
		return c.createInPlace(ctx)
	case s.Nodes > 1:
		nodes, left, err := s.Client.CreateGroup(ctx, s.Node, s.Nodes)
		if err != nil {
			AwaitRemovals(ctx, s.CleanUp, left...)
			return restart, err
		}
		c.take(nodes)
		return look, nil
	}
	node, err := c.createOne(ctx, s.Node)
	if err != nil {
		return restart, err
	}
	c.take([]zkclient.Created{node})
	return look, nil
}

func (c *Contender) createOne(ctx context.Context, spec zkclient.NodeSpec) (node zkclient.Created, err error) {
	node, left, err := c.spec.Client.Create(ctx, spec, !c.spec.Plain || !spec.Mode.IsSequential())
	if err != nil {
		if c.spec.Stays && left != nil {
			c.leaving = append(c.leaving, leaving{left, 0})
		}
		AwaitRemovals(ctx, c.spec.CleanUp, left)
	}
	return node, err
}

// take keeps the nodes that were created. It keeps the names of their siblings only until the next
// look, because each of many waiters has listed all others.
func (c *Contender) take(nodes []zkclient.Created) {
	c.place.names = nodes[0].Siblings
	for i := range nodes {
		nodes[i].Siblings = nil
	}
	c.place.nodes = nodes
}

// createInPlace makes a node with the number of another node of this client. With a number of
// its own it would stand behind waiters that would be let in together with it.
func (c *Contender) createInPlace(ctx context.Context) (phase, error) {
	s := c.spec
	before := Name(s.InPlaceOf.Path())
	if !s.InPlaceOf.GivePlace() {
		return restart, ErrPlaceLost
	}
	inPlace := s.Node
	inPlace.Path, inPlace.Mode = inPlace.Path+s.Rules.Order(before), zkclient.Ephemeral
	node, err := c.createOne(ctx, inPlace)
	if err != nil {
		return restart, err
	}
	c.take([]zkclient.Created{node})
	// A deleted node never comes back. If the other node is there now, it was there when ours
	// was made, and nobody was let in between.
	if node.Session != s.InPlaceOf.Session() || !slices.Contains(c.place.names, before) {
		s.InPlaceOf.Lose(zkclient.Loss{Kind: zkclient.LossDeleted, Session: s.InPlaceOf.Session()})
		return restart, ErrPlaceLost
	}
	return look, nil
}
