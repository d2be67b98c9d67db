package lockqueue

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"

	"github.com/go-curator/curator/internal/layout"
	"github.com/go-curator/curator/internal/zkclient"
)

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
	c.listed = int32(len(queue))
	if c.ahead.count = 0; decision.Admitted {
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
		count:  int32(max(slices.IndexFunc(queue, c.owns), 0)), // not those of the contender's own group
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

// Name returns the last part of a path.
func Name(path string) string { return path[strings.LastIndexByte(path, '/')+1:] }
