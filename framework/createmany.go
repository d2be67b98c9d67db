package framework

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/recipeapi"
	"github.com/go-curator/curator/internal/zkconn"
)

// createManyOp creates several protected nodes in one transaction, with consecutive numbers.
type createManyOp struct {
	createOp
	n      int
	made   []recipeapi.Created
	doubts []string // the beginnings of the names of nodes that lost tries may have made
}

// createGroup creates n nodes and lists their siblings in the same write.
func (p *createParams) createGroup(ctx context.Context, c *Client, path string, n int) (created []recipeapi.Created, left []*recipeapi.PendingDelete, err error) {
	full, err := c.usable(path)
	g := createManyOp{createOp: createOp{c: c, p: p, full: full}, n: n}
	if err == nil {
		err = p.check()
	}
	if err == nil {
		g.data, g.acl, err = p.contents(c, full)
	}
	if err != nil {
		return nil, nil, &OpError{Op: "create", Path: path, Err: err}
	}
	g.dir, g.name = split(full)
	defer func() { // also when a user's retry policy panics
		for _, prefix := range g.doubts {
			left = append(left, c.core.removeLostCreates(ctx, g.dir, prefix))
		}
	}()
	err = c.run(ctx, operation{name: "create", path: path, repeat: true, wire: "multi", batch: n}, g.attempt)
	return g.made, nil, err
}

// attempt is one try. The nodes of a try whose reply was lost are not used: they are removed before
// other nodes are created, because these would be behind them in the queue.
func (g *createManyOp) attempt(ctx context.Context, conn *zkconn.Conn) error {
	for ; len(g.doubts) > 0; g.doubts = g.doubts[1:] {
		if err := removeProtected(ctx, conn, g.dir, g.doubts[0]); err != nil {
			return notApplied(err)
		}
	}
	err := g.send(ctx, conn)
	for range 5 { // as in createOp.attempt
		if !errors.Is(err, ErrNoNode) {
			return err
		}
		if err := g.createParents(ctx, conn); err != nil && !errors.Is(err, errReaped) {
			return notApplied(err)
		}
		err = g.send(ctx, conn)
	}
	return err
}

func (g *createManyOp) send(ctx context.Context, conn *zkconn.Conn) error {
	multi := &zkconn.MultiRequest{}
	var prefixes []string
	for range g.n {
		prefix := g.c.core.protection.prefix()
		prefixes = append(prefixes, prefix)
		_, req := g.p.request(join(g.dir, prefix+g.name), g.data, g.acl)
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
