package lockqueue

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/go-curator/curator/internal/layout"
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

// look decides by the children of the queue whether the contender is let in (rule 1), and if
// not, what it waits for. The children came with the last write, or are listed now.
func (c *Contender) look(ctx context.Context) (phase, error) {
	own := Name(c.last().Path)
	number, ok := sequence(own, c.spec.Name)
	if !ok {
		return restart, ErrSequenceExhausted
	}
	names, err := c.children(ctx)
	if errors.Is(err, ErrLeft) {
		return restart, nil
	}
	if err == nil {
		err = c.spec.Rules.Check(names)
	}
	if err != nil {
		return restart, err
	}
	if c.spec.Rules.Order(own) == "" { // another node would have no better name
		return restart, ErrNothingToWatch
	}
	queue := layout.Sort(names, c.spec.Rules.Order)
	if !c.allIn(queue) {
		return restart, nil
	}
	decision := c.spec.Rules.Decide(queue, own)
	if !decision.Children { // else the order says nothing
		c.reportPlace(queue, own, number)
	}
	if decision.Admitted {
		return first, nil
	}
	c.waitFor(decision, queue, own)
	if c.ahead.children {
		c.ahead.decidedOn = slices.Sorted(slices.Values(names))
	}
	return arm, nil
}

// children returns the names that the last write has listed, once, or lists them.
func (c *Contender) children(ctx context.Context) (names []string, err error) {
	if names, c.place.names = c.place.names, nil; names != nil {
		return names, nil
	}
	return List(ctx, c.spec.Client, c.spec.Dir, c.spec.FullDir, c.last().Session)
}

// waitFor keeps what the decision says must change. The rest of the queue is not kept.
func (c *Contender) waitFor(d Decision, queue []string, own string) {
	c.ahead = ahead{
		children: d.Children, all: len(d.Behind) == slices.Index(queue, own),
		isNext: d.Next && !c.spec.Client.Made(d.Behind[0]),
	}
	for _, name := range d.Behind {
		c.ahead.nodes = append(c.ahead.nodes, c.spec.FullDir+"/"+name)
	}
	if i := slices.IndexFunc(queue, func(name string) bool { return !c.owns(name) }); i >= 0 {
		c.ahead.holder = queue[i]
	}
}

// owns reports whether a node of the queue is one of the contender's.
func (c *Contender) owns(name string) bool {
	return slices.ContainsFunc(c.place.nodes, func(n zkclient.Created) bool { return Name(n.Path) == name })
}

// allIn reports whether all nodes of the contender are in the queue.
func (c *Contender) allIn(queue []string) bool {
	return !slices.ContainsFunc(c.place.nodes, func(n zkclient.Created) bool { return !slices.Contains(queue, Name(n.Path)) })
}

// reportPlace tells telemetry of the place in the queue, once.
func (c *Contender) reportPlace(queue []string, own string, number int64) {
	if c.reported {
		return
	}
	c.reported = true
	order := c.spec.Rules.Order
	// The writer whose place a reader takes has the same number, and is not ahead.
	if ahead := slices.IndexFunc(queue, func(name string) bool { return order(name) == order(own) }); ahead >= 0 {
		c.spec.Owned.Span.Enqueued(ahead, len(queue), math.MaxInt32-number)
	}
}
