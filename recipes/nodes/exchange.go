package nodes

import (
	"context"
	"errors"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/zkclient"
	"github.com/go-curator/curator/internal/zkconn"
	"github.com/go-curator/curator/recipes/internal/watchset"
)

// change is one write to the node, which is one transaction.
type change struct {
	call  *zkconn.Call
	multi *zkconn.MultiResponse // nil for a request that is not a multi
	makes bool                  // the node is created
}

// refused returns why the server has not applied the change, nil if it has.
func (c *change) refused() error {
	switch {
	case c == nil:
		return nil
	case c.call.Err != nil:
		return c.call.Err
	case c.multi != nil && c.multi.Failed >= 0:
		return c.multi.Results[c.multi.Failed].Err
	}
	return nil
}

// exchange sends a change, which may be nil, and a read of the node that sets the watch, in one
// write (K1). The session's order makes the read see the change. An error says that there was no
// answer to the change or to the read.
func (k *keeper) exchange(ctx context.Context, conn *zkconn.Conn, c *change) (sighting, error) {
	seen, err := k.readAfter(ctx, conn, c, watchset.Data)
	if errors.Is(err, framework.ErrNoAuth) { // without the data there is the Stat, which everybody may read
		seen, err = k.readAfter(ctx, conn, nil, watchset.Exists)
	}
	return seen, err
}

// readAfter sends a change, if there is one, and a read of some kind behind it. What a server without a
// quorum shows does not count, because it may be older than what this client has made: it is not asked,
// or its refusal of the change is the answer.
func (k *keeper) readAfter(ctx context.Context, conn *zkconn.Conn, c *change, kind watchset.Kind) (sighting, error) {
	watch, former := k.mail.newWatch(k.full)
	read := watchset.ReadCall(watchset.Want{Path: k.full, Kind: kind}, watch)
	calls := []*zkconn.Call{read}
	if c != nil {
		calls = []*zkconn.Call{c.call, read}
	}
	var err error
	if c == nil {
		err = conn.DoAtQuorum(ctx, calls...)
	} else if err = conn.Do(ctx, 0, calls...); err == nil && errors.Is(c.refused(), framework.ErrNotReadOnly) {
		err = c.refused()
	}
	if c != nil && c.makes {
		k.sessions.add(c.call.Session)
		k.doubt = k.doubt || c.call.Err == nil || framework.MaybeApplied(c.call.Err)
	}
	if former != nil {
		conn.Unwatch(former)
	}
	if err == nil {
		err = read.Err
	}
	if errors.Is(err, framework.ErrNoNode) {
		if kind == watchset.Data { // else the watch is set, on the missing node
			k.mail.noWatch()
		}
		return sighting{session: read.Session}, nil
	}
	if err != nil {
		k.mail.noWatch()
		return sighting{}, err
	}
	return newSighting(read), nil
}

func newSighting(read *zkconn.Call) sighting {
	seen := sighting{there: true, session: read.Session}
	var stat jute.Stat
	switch res := read.Res.(type) {
	case *jute.GetDataResponse:
		stat, seen.data, seen.readable = res.Stat, res.Data, true
	case *jute.StatResponse:
		stat = res.Stat
	}
	seen.czxid, seen.mzxid, seen.version, seen.owner = stat.Czxid, stat.Mzxid, stat.Version, stat.EphemeralOwner
	return seen
}

// creation returns the change that creates the node, in place of the one at a version if that is
// not nil (K2), and with its child if it has a time to live: made apart, a node whose child was
// never created would stay for ever.
func (k *keeper) creation(node *zkclient.CreateRequest, inPlaceOf *sighting) (*change, error) {
	ops := []zkconn.MultiOp{{Op: node.Op, Req: node.Req}}
	if inPlaceOf != nil {
		gone := &jute.DeleteRequest{Path: k.full, Version: inPlaceOf.version}
		ops = append([]zkconn.MultiOp{{Op: jute.OpDelete, Req: gone}}, ops...)
	}
	if k.ttl > 0 {
		child, err := k.touchRequest()
		if err != nil {
			return nil, err
		}
		ops = append(ops, zkconn.MultiOp{Op: child.Op, Req: child.Req})
	}
	if len(ops) == 1 {
		return &change{call: &zkconn.Call{Op: node.Op, Req: node.Req, Res: &jute.Create2Response{}}, makes: true}, nil
	}
	for i := range ops {
		if ops[i].Op == jute.OpCreate2 { // in a transaction the server answers create alone without fail
			ops[i].Op = jute.OpCreate
		}
	}
	res := &zkconn.MultiResponse{}
	return &change{call: &zkconn.Call{Op: jute.OpMulti, Req: &zkconn.MultiRequest{Ops: ops}, Res: res}, multi: res, makes: true}, nil
}

// touchRequest returns the request that creates the child of a node with a time to live.
func (k *keeper) touchRequest() (*zkclient.CreateRequest, error) {
	b := k.client.Create().WithMode(framework.PersistentWithTTL).WithTTL(k.ttl)
	if k.acl != nil {
		b = b.WithACL(k.acl...)
	}
	return k.request(b, k.touchPath())
}

// touchPath returns the client's path of the child of a node with a time to live.
func (k *keeper) touchPath() string { return k.actualPath() + "/" + k.touch }

// overwriting returns the change that sets the data of the node, whatever its version.
func (k *keeper) overwriting(node *zkclient.CreateRequest) *change {
	req := &jute.SetDataRequest{Path: k.full, Data: node.Data, Version: -1}
	return &change{call: &zkconn.Call{Op: jute.OpSetData, Req: req, Res: &jute.StatResponse{}}}
}
