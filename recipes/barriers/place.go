package barriers

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/layout"
	"github.com/go-curator/curator/internal/zkclient"
	"github.com/go-curator/curator/internal/zkconn"
	"github.com/go-curator/curator/recipes/internal/options"
	"github.com/go-curator/curator/recipes/internal/watchset"
)

// place is where a barrier is.
type place struct {
	client *framework.Client
	api    *zkclient.Client
	path   string // the client's
	full   string // the server's
}

func newPlace(client *framework.Client, path string, opts []Option) (place, error) {
	client, err := options.Configure(client, new(struct{}), opts, Option.apply)
	if err != nil {
		return place{}, err
	}
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
		err = zkclient.ErrNilContext
	default:
		_, err = p.api.Conn()
	}
	if err != nil {
		return fmt.Errorf("barrier: %w", err)
	}
	return nil
}

// ready and child return the server's paths of nodes.
func (p *place) ready() string            { return zkclient.Join(p.full, layout.ReadyName) }
func (p *place) child(name string) string { return zkclient.Join(p.full, name) }

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

// failure returns err, the error of a request, or else why one of its calls was refused. That a node is missing
// is an answer.
func failure(err error, calls ...*zkconn.Call) error {
	for _, call := range calls {
		if err == nil && !errors.Is(call.Err, framework.ErrNoNode) {
			err = call.Err
		}
	}
	return err
}

// statsOf reads the stats of members' nodes, nil for those that have gone.
func (p *place) statsOf(ctx context.Context, conn *zkconn.Conn, session int64, names []string) (stats []*zkconn.Stat, err error) {
	var calls []*zkconn.Call
	for _, name := range names {
		calls = append(calls, zkconn.Exists(p.child(name), nil))
	}
	if err := failure(conn.Do(ctx, session, calls...), calls...); err != nil {
		return nil, err
	}
	for _, call := range calls {
		stats = append(stats, call.Stat())
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

// checkQuantity refuses more members than the transaction that opens the barrier can name: it checks each of
// them (rule B4), and a server refuses a request that is larger than its jute.maxbuffer. Otherwise all
// members would come, and the last of them would fail.
func (p *place) checkQuantity(memberQty int) error {
	if memberQty <= 0 {
		return fmt.Errorf("%w: memberQty is %d", framework.ErrInvalidOption, memberQty)
	}
	rest, err := p.size(p.deleteOp(p.ready()), p.createReady())
	if err != nil {
		return nil //nolint:nilerr // Enter says so, too
	}
	check, err := p.size(p.checkOp(p.child(layout.NewUUID())))
	if err != nil {
		return nil //nolint:nilerr // as above
	}
	limit := p.api.MaxRequest()
	end, _ := p.size() // of a transaction without operations
	most := (limit - xidAndType - rest) / (check - end)
	if memberQty <= most {
		return nil
	}
	return fmt.Errorf("%w: memberQty is %d, and at most %d members find room in the transaction that opens a barrier at %s, whose limit is %d bytes: see framework.WithMaxData",
		framework.ErrInvalidOption, memberQty, max(most, 0), p.path, limit)
}

// xidAndType is the size of what is ahead of a transaction in its request.
const xidAndType = 8

// fits reports whether a transaction is not too large. Beside so many members that they just find room
// there is none for the marks.
func (p *place) fits(ops []framework.Op) bool {
	size, err := p.size(ops...)
	return err == nil && size+xidAndType <= p.api.MaxRequest()
}

// size returns the size of a transaction of these operations, in bytes.
func (p *place) size(ops ...framework.Op) (int, error) {
	var request zkconn.MultiRequest
	for i := range ops {
		op := zkclient.OpOf(&ops[i])
		if op.Err != nil {
			return 0, op.Err
		}
		request.Ops = append(request.Ops, op.Multi)
	}
	return len(request.Append(nil)), nil
}
