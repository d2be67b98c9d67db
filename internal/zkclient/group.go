package zkclient

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/zkconn"
)

// groupCreation creates several protected nodes in one transaction, with consecutive numbers.
type groupCreation struct {
	creation
	n      int
	made   []Created
	doubts []string // the beginnings of the names of nodes that lost tries may have made
}

// CreateGroup is Create for n sequential nodes with protection, all or none, whose numbers follow each other.
// It lists their siblings in the same write.
func (c *Client) CreateGroup(ctx context.Context, spec NodeSpec, n int) (created []Created, left []*Removal, err error) {
	g := groupCreation{creation: creation{CreateRequest: CreateRequest{c: c, spec: spec}}, n: n}
	if g.Path, err = c.ServerPath(spec.Path); err == nil { // it ends in a name, ahead of the number
		err = g.fill()
	}
	if err != nil {
		return nil, nil, c.fail("create", spec.Path, err)
	}
	g.dir, g.name = split(g.Path)
	defer func() { // also when a user's retry policy panics
		for _, prefix := range g.doubts {
			left = append(left, c.removeLost(ctx, g.dir, prefix))
		}
	}()
	err = c.Run(ctx, Operation{Name: "create", Path: spec.Path, Repeat: true, Wire: "multi", Batch: n}, g.attempt)
	return g.made, nil, err
}

// attempt is one try. The nodes of a try whose reply was lost are not used: they are removed before
// other nodes are created, because these would be behind them in the queue.
func (g *groupCreation) attempt(ctx context.Context, conn *zkconn.Conn) error {
	for ; len(g.doubts) > 0; g.doubts = g.doubts[1:] {
		if err := removeProtected(ctx, conn, g.dir, g.doubts[0]); err != nil {
			return NotApplied(err)
		}
	}
	err := g.send(ctx, conn)
	for range 5 { // as in creation.attempt
		if !errors.Is(err, zkconn.ErrNoNode) {
			return err
		}
		if _, err := g.c.makeParents(ctx, conn, g.Path, &g.spec); err != nil && !errors.Is(err, errReaped) {
			return NotApplied(err)
		}
		err = g.send(ctx, conn)
	}
	return err
}

func (g *groupCreation) send(ctx context.Context, conn *zkconn.Conn) error {
	multi := &zkconn.MultiRequest{}
	var prefixes []string
	for range g.n {
		prefix := g.c.protection.prefix()
		prefixes = append(prefixes, prefix)
		_, req := g.at(Join(g.dir, prefix+g.name))
		multi.Ops = append(multi.Ops, zkconn.MultiOp{Op: jute.OpCreate, Req: req})
	}
	var res zkconn.MultiResponse
	var siblings jute.GetChildren2Response
	create := &zkconn.Call{Op: jute.OpMulti, Req: multi, Res: &res}
	list := &zkconn.Call{Op: jute.OpGetChildren2, Req: &jute.PathWatchRequest{Path: g.dir}, Res: &siblings}
	if err := conn.Do(ctx, 0, create, list); err != nil {
		if MaybeApplied(err) {
			g.doubts = append(g.doubts, prefixes...)
		}
		return err
	}
	switch {
	case create.Err != nil:
		return create.Err
	case res.Failed >= 0:
		return res.Results[res.Failed].Err
	case len(res.Results) != g.n:
		g.doubts = append(g.doubts, prefixes...)
		return fmt.Errorf("the server answered %d creates of %d", len(res.Results), g.n)
	case list.Err != nil:
		g.doubts = append(g.doubts, prefixes...)
		return list.Err
	}
	g.made = nil
	stat := jute.Stat{Czxid: create.Zxid, EphemeralOwner: create.Session} // a transaction tells none
	for _, result := range res.Results {
		g.made = append(g.made, g.created(result.Path, stat, create.Session, siblings.Children))
	}
	return nil
}
