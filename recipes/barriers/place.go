package barriers

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/layout"
	"github.com/go-curator/curator/internal/zkclient"
	"github.com/go-curator/curator/internal/zkconn"
	"github.com/go-curator/curator/recipes/internal/watchset"
)

// place is where a barrier is.
type place struct {
	client *framework.Client
	api    *zkclient.Client
	path   string // the client's
	full   string // the server's
}

func newPlace(client *framework.Client, path string) (place, error) {
	api := zkclient.Of(client)
	full, err := api.ServerPath(path)
	if err != nil {
		return place{}, err
	}
	return place{client, api, path, full}, nil
}

// check returns why the barrier cannot be used, nil if it can. p may be nil.
func (p *place) check(ctx context.Context) (err error) {
	switch {
	case p == nil || p.client == nil:
		err = framework.ErrNotStarted
	case ctx == nil:
		err = errNilContext
	default:
		_, err = p.api.Conn()
	}
	if err != nil {
		return fmt.Errorf("barrier: %w", err)
	}
	return nil
}

func below(path, name string) string {
	if path == "/" {
		return path + name
	}
	return path + "/" + name
}

// ready and child return the server's paths of nodes.
func (p *place) ready() string            { return below(p.full, layout.ReadyName) }
func (p *place) child(name string) string { return below(p.full, name) }

// giveBack removes watches that are not needed any more.
func (p *place) giveBack(set *watchset.Set, more ...*watchset.Watch) {
	conn, err := p.api.Conn()
	if err != nil {
		return // the client is closed, and its watches are gone
	}
	set.Close(conn, nil)
	for _, w := range more {
		if w != nil {
			conn.Unwatch(&w.Watch)
		}
	}
}

// stat is the answer to exists; nil if there is no node.
type stat = *jute.Stat

// existsCall and listCall return reads without watches.
func existsCall(full string) *zkconn.Call {
	return watchset.ReadCall(watchset.Want{Path: full, Kind: watchset.Exists}, nil)
}

func (p *place) listCall() *zkconn.Call {
	return watchset.ReadCall(watchset.Want{Path: p.full, Kind: watchset.Children}, nil)
}

func (p *place) syncCall() *zkconn.Call {
	return &zkconn.Call{Op: jute.OpSync, Req: &jute.PathRequest{Path: p.full}, Res: &jute.SyncResponse{}}
}

func deleteCall(full string) *zkconn.Call {
	return &zkconn.Call{Op: jute.OpDelete, Req: &jute.DeleteRequest{Path: full, Version: -1}}
}

// statOf and namesOf return the answers to reads, nil for a missing node.
func statOf(call *zkconn.Call) (stat, error) {
	switch {
	case errors.Is(call.Err, framework.ErrNoNode):
		return nil, nil
	case call.Err != nil:
		return nil, call.Err
	}
	switch res := call.Res.(type) {
	case *jute.GetDataResponse:
		return &res.Stat, nil
	case *jute.StatResponse:
		return &res.Stat, nil
	default:
		return nil, nil
	}
}

// namesOf also returns the stat of the node whose children are listed.
func namesOf(call *zkconn.Call) (children []string, parent stat, err error) {
	if errors.Is(call.Err, framework.ErrNoNode) {
		return nil, nil, nil
	}
	if call.Err != nil {
		return nil, nil, call.Err
	}
	res := call.Res.(*jute.GetChildren2Response)
	return res.Children, &res.Stat, nil
}

// statsOf reads the stats of members' nodes, nil for those that have gone.
func (p *place) statsOf(ctx context.Context, conn *zkconn.Conn, session int64, names []string) (stats []stat, err error) {
	var calls []*zkconn.Call
	for _, name := range names {
		calls = append(calls, existsCall(p.child(name)))
	}
	if err := conn.Do(ctx, session, calls...); err != nil {
		return nil, err
	}
	for _, call := range calls {
		s, err := statOf(call)
		if err != nil {
			return nil, err
		}
		stats = append(stats, s)
	}
	return stats, nil
}

// retry calls fn, which may be repeated, under the client's retry policy. If the error of fn says
// that the session is over, retry returns errSessionOver without another try.
func (p *place) retry(ctx context.Context, op string, fn func(ctx context.Context, conn *zkconn.Conn) error) error {
	over := false
	err := p.api.Retry(ctx, op, p.path, func(ctx context.Context, conn *zkconn.Conn) error {
		err := fn(ctx, conn)
		if over = errors.Is(err, framework.ErrSessionExpired); over {
			return nil
		}
		return err
	})
	if over {
		return errSessionOver
	}
	return err
}

// errSessionOver says that the session of a member's node is over.
var errSessionOver = errors.New("the session of the member is over")

// commit commits a transaction. done says that it was applied, lost that there was no answer. If
// both are false and err is nil, the server refused it because the nodes are not as expected.
func (p *place) commit(ctx context.Context, ops ...framework.Op) (done, lost bool, err error) {
	_, err = p.client.Transaction().ForOperations(ctx, ops...)
	switch {
	case err == nil:
		return true, false, nil
	case ctx.Err() != nil, errors.Is(err, framework.ErrClosed):
		return false, false, err
	case framework.MaybeApplied(err), framework.Retryable(err):
		return false, true, nil // another look waits for a connection
	case errors.Is(err, framework.ErrNoNode), errors.Is(err, framework.ErrNodeExists), errors.Is(err, framework.ErrNotEmpty),
		errors.Is(err, framework.ErrBadVersion):
		return false, false, nil
	}
	return false, false, err
}

// checkOp and deleteOp are operations on a node of a server's path.
func (p *place) checkOp(full string) framework.Op {
	return p.client.TransactionOp().Check().ForPath(p.api.ClientPath(full))
}

func (p *place) deleteOp(full string) framework.Op {
	return p.client.TransactionOp().Delete().ForPath(p.api.ClientPath(full))
}

// createReady is the creation of the node that opens the barrier.
func (p *place) createReady() framework.Op {
	return p.client.TransactionOp().Create().Uncompressed().ForPath(p.api.ClientPath(p.ready()))
}
