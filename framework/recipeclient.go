package framework

import (
	"context"
	"fmt"
	"slices"

	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/recipeapi"
	"github.com/go-curator/curator/internal/zkclient"
	"github.com/go-curator/curator/internal/zkconn"
)

func init() { // recipeapi cannot import this package
	recipeapi.Of = func(client any) recipeapi.Client {
		c, _ := client.(*Client)
		return recipeClient{c.inside(), c}
	}
}

// recipeClient is a client as the recipes see it: its inside, with builders in place of its NodeSpecs.
type recipeClient struct {
	*zkclient.Client
	c *Client
}

var _ recipeapi.Client = recipeClient{}

func (r recipeClient) Identity() any { return r.Client.Identity() }

func (r recipeClient) Data(full string, data []byte) ([]byte, error) {
	return r.Client.Data(full, data, zkclient.AsConfigured)
}

func (r recipeClient) CreateAndList(ctx context.Context, builder any, path string, sequential bool) (recipeapi.Created, *recipeapi.PendingDelete, error) {
	return r.create(ctx, builder, path, sequential, true)
}

func (r recipeClient) Create(ctx context.Context, builder any, path string) (recipeapi.Created, *recipeapi.PendingDelete, error) {
	return r.create(ctx, builder, path, true, false)
}

func (r recipeClient) create(ctx context.Context, builder any, path string, sequential, list bool) (recipeapi.Created, *recipeapi.PendingDelete, error) {
	b, spec, err := r.contender(builder, path)
	if err != nil {
		return recipeapi.Created{}, nil, err
	}
	if !sequential {
		spec.Mode = zkclient.Ephemeral
	}
	created, left, err := r.Client.Create(ctx, spec, list)
	if err == nil {
		storeStat(b.p.stat, created.Stat)
	}
	return created, left, err
}

func (r recipeClient) CreateGroup(ctx context.Context, builder any, path string, n int) ([]recipeapi.Created, []*recipeapi.PendingDelete, error) {
	_, spec, err := r.contender(builder, path)
	if err != nil {
		return nil, nil, err
	}
	return r.Client.CreateGroup(ctx, spec, n)
}

// contender returns the spec of a contender's node.
func (r recipeClient) contender(builder any, path string) (b CreateBuilder, spec zkclient.NodeSpec, err error) {
	b, _ = builder.(CreateBuilder)
	switch {
	case b.c != r.c:
		return b, spec, fmt.Errorf("%w: the builder of a contender's node is another client's", ErrInvalidBuilder)
	case !b.p.protection || b.p.mode != EphemeralSequential:
		return b, spec, fmt.Errorf("%w: a contender's node needs protection, and is ephemeral and sequential", ErrInvalidBuilder)
	}
	if err := b.p.check(); err != nil {
		return b, spec, &OpError{Op: "create", Path: path, Err: err}
	}
	return b, b.p.spec(path), nil
}

// prepare returns the request of a builder.
func (r recipeClient) prepare(builder any, path string) (*zkclient.CreateRequest, error) {
	b, _ := builder.(CreateBuilder)
	if b.c != r.c {
		return nil, fmt.Errorf("%w: the builder of a recipe's node is another client's", ErrInvalidBuilder)
	}
	err := b.p.check()
	var request *zkclient.CreateRequest
	if err == nil {
		request, err = r.Prepare(b.p.spec(path))
	}
	if err != nil {
		return nil, &OpError{Op: "create", Path: path, Err: err}
	}
	return request, nil
}

func (r recipeClient) CreateCall(builder any, path string) (full string, call *zkconn.Call, err error) {
	request, err := r.prepare(builder, path)
	if err != nil {
		return "", nil, err
	}
	return request.Path, request.Call(), nil
}

func (r recipeClient) NodeRequest(builder any, path string) (recipeapi.NodeRequest, error) {
	b, _ := builder.(CreateBuilder)
	if mode, _ := b.p.mode.wire(); b.p.protection || mode.IsSequential() || b.p.orSet || b.p.orSetVersionGiven || b.p.idempotent {
		err := fmt.Errorf("%w: the name of the node is not final, or the node may exist", ErrInvalidBuilder)
		return recipeapi.NodeRequest{}, &OpError{Op: "create", Path: path, Err: err}
	}
	request, err := r.prepare(builder, path)
	if err != nil {
		return recipeapi.NodeRequest{}, err
	}
	return recipeapi.NodeRequest{Path: request.Path, Data: request.Data, Op: request.Op, Req: request.Req, Parents: request.MakeParents}, nil
}

func (r recipeClient) Release(ctx context.Context, full string, session int64, with recipeapi.Release) *recipeapi.PendingDelete {
	return r.Client.Release(ctx, full, session, releaseRequests(full, with), with.NameShared)
}

// releaseRequests returns the requests that delete a node, the best one first: with the holder record
// and the marker, without the marker, and the node alone.
func releaseRequests(full string, with recipeapi.Release) (requests [][]zkconn.MultiOp) {
	var record []zkconn.MultiOp
	node := zkclient.DeleteOp(full, zkclient.AnyVersion)
	if with.HolderRecord != "" {
		record = append(record, zkclient.DeleteOp(with.HolderRecord, with.RecordVersion))
	}
	if with.Marker != "" {
		create := zkconn.MultiOp{Op: jute.OpCreate, Req: &jute.CreateRequest{Path: with.Marker, ACL: openACL}}
		requests = append(requests, append(slices.Clone(record), create, zkclient.DeleteOp(with.Marker, zkclient.AnyVersion), node))
	}
	if record != nil {
		requests = append(requests, append(record, node))
	}
	return append(requests, []zkconn.MultiOp{node})
}

func (r recipeClient) Request(op any) (zkconn.MultiOp, error) {
	o, _ := op.(Op)
	return o.multi, checkOps(r.c, []Op{o})
}

func (r recipeClient) RefusedOp(op, path string, err error) any {
	return Op{client: r.c, name: op, path: path, err: err}
}

func (r recipeClient) OnSession(ctx context.Context, session int64) context.Context {
	return zkclient.OnSession(ctx, session)
}
