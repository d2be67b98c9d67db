package framework

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/zkclient"
	"github.com/go-curator/curator/internal/zkconn"
)

// reading is a read that may set a watch.
type reading struct {
	name, path string
	full       string // the server's path; that of path when empty
	config     bool   // full is configNode, in no namespace
	op         jute.Op
	kind       zkconn.WatchKind
	watcher    *Watcher
	watched    bool
	res        jute.Record
	missing    func(ctx context.Context, conn *zkconn.Conn) error // what to do if there is no node; may be nil
	removed    *registration                                      // of an attempt that has failed: the next ones set no watch
}

func (r *reading) do(ctx context.Context, c *Client) (err error) {
	in := c.inside()
	if in == nil {
		return &OpError{Op: r.name, Path: r.path, Err: zkclient.ErrNilClient}
	}
	switch {
	case r.watched && r.watcher != nil:
		err = fmt.Errorf("%w: UsingWatcher and Watched", ErrInvalidBuilder)
	case r.full == "":
		if r.full, err = in.ServerPath(r.path); err == nil {
			err = in.Schemas().ValidateRead(r.path, r.watched || r.watcher != nil)
		}
	}
	if err != nil {
		return &OpError{Op: r.name, Path: r.path, Err: err}
	}
	if r.watched {
		r.watcher = c.core.watched
	}
	op := zkclient.Operation{Name: r.name, Path: r.path, Repeat: true, Missing: r.op == jute.OpExists}
	return in.Run(ctx, op, func(ctx context.Context, conn *zkconn.Conn) error {
		return zkclient.ReadError(r.attempt(ctx, c, conn))
	})
}

// attempt is one try.
func (r *reading) attempt(ctx context.Context, c *Client, conn *zkconn.Conn) error {
	req := &jute.PathWatchRequest{Path: r.full}
	call := &zkconn.Call{Op: r.op, Req: req, Res: r.res}
	set := r.removed
	if r.watcher != nil && set == nil {
		set = r.watcher.watch(c.watchScope(), r.full, r.kind, r.config)
		req.Watch, call.Watch = true, set.watch
	}
	err := c.inside().Read(ctx, conn, r.name, call)
	ok := err == nil || r.op == jute.OpExists && errors.Is(err, ErrNoNode)
	if r.missing != nil && errors.Is(err, ErrNoNode) {
		if failed := r.missing(ctx, conn); failed != nil {
			ok, err = false, failed
		}
	}
	switch {
	case set == nil:
	case ok:
		set.settle(conn)
	default:
		if set.unset() {
			r.removed = set
		}
		set.giveBack(conn)
	}
	return err
}

func (p checkExistsParams) do(ctx context.Context, c *Client, path string) (bool, error) {
	var res jute.StatResponse
	r := reading{
		name: "exists", path: path, op: jute.OpExists, kind: zkconn.WatchData,
		watcher: p.watcher, watched: p.watched, res: &res,
	}
	if err := p.check(); err != nil {
		return false, &OpError{Op: r.name, Path: path, Err: err}
	}
	var parents error
	if p.parents || p.containers {
		r.missing = func(ctx context.Context, conn *zkconn.Conn) error {
			parents = p.createParents(ctx, c, conn, r.full)
			return parents
		}
	}
	err := r.do(ctx, c)
	if errors.Is(err, ErrNoNode) && parents == nil {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	storeStat(p.stat, res.Stat)
	return true, nil
}

func (p *checkExistsParams) check() error {
	switch {
	case p.parents && p.containers:
		return fmt.Errorf("%w: CreatingParentsIfNeeded and CreatingParentContainersIfNeeded", ErrInvalidBuilder)
	case p.aclGiven && !p.parents && !p.containers:
		return fmt.Errorf("%w: WithACL without a step that creates parents", ErrInvalidBuilder)
	case p.aclGiven && len(p.acl) == 0:
		return fmt.Errorf("%w: WithACL without an ACL", ErrInvalidBuilder)
	}
	return nil
}

// createParents creates the missing parents of a node that does not exist.
func (p *checkExistsParams) createParents(ctx context.Context, c *Client, conn *zkconn.Conn, full string) error {
	spec := zkclient.NodeSpec{Parents: parents(p.parents, p.containers), ACLOnParents: p.aclGiven}
	if p.aclGiven {
		spec.ACL = zkclient.NewACL(p.acl)
	}
	return c.inside().CreateParents(ctx, conn, full, spec)
}

func (p getDataParams) do(ctx context.Context, c *Client, path string) ([]byte, error) {
	var res jute.GetDataResponse
	r := reading{
		name: "getData", path: path, op: jute.OpGetData, kind: zkconn.WatchData,
		watcher: p.watcher, watched: p.watched, res: &res,
	}
	if c.inside() == nil {
		return nil, &OpError{Op: r.name, Path: path, Err: zkclient.ErrNilClient}
	}
	if p.compressed && p.uncompressed {
		return nil, &OpError{Op: r.name, Path: path, Err: fmt.Errorf("%w: Decompressed and Undecompressed", ErrInvalidBuilder)}
	}
	err := r.do(ctx, c)
	if err != nil {
		return nil, err
	}
	data, err := c.inside().Data(r.full, res.Data, compressed(p.compressed, p.uncompressed))
	if err != nil {
		return nil, &OpError{Op: r.name, Path: path, Attempts: 1, Err: fmt.Errorf("decompress the data: %w", err)}
	}
	storeStat(p.stat, res.Stat)
	return data, nil
}

func (p getChildrenParams) do(ctx context.Context, c *Client, path string) ([]string, error) {
	var res jute.GetChildren2Response
	r := reading{
		name: "getChildren", path: path, op: jute.OpGetChildren2, kind: zkconn.WatchChildren,
		watcher: p.watcher, watched: p.watched, res: &res,
	}
	if err := r.do(ctx, c); err != nil {
		return nil, err
	}
	storeStat(p.stat, res.Stat)
	return res.Children, nil
}

func (p getACLParams) do(ctx context.Context, c *Client, path string) ([]ACL, error) {
	full, err := c.inside().ServerPath(path)
	if err != nil {
		return nil, &OpError{Op: "getACL", Path: path, Err: err}
	}
	var res jute.GetACLResponse
	op := zkclient.Operation{Name: "getACL", Path: path, Repeat: true}
	if err := c.inside().Call(ctx, op, jute.OpGetACL, &jute.PathRequest{Path: full}, &res); err != nil {
		return nil, err
	}
	storeStat(p.stat, res.Stat)
	acl := make([]ACL, len(res.ACL))
	for i, a := range res.ACL {
		acl[i] = ACL{Perms: Perm(a.Perms), Scheme: a.ID.Scheme, ID: a.ID.ID}
	}
	return acl, nil
}

func (p syncParams) do(ctx context.Context, c *Client, path string) error {
	full, err := c.inside().ServerPath(path)
	if err != nil {
		return &OpError{Op: "sync", Path: path, Err: err}
	}
	op := zkclient.Operation{Name: "sync", Path: path, Repeat: true}
	return c.inside().Call(ctx, op, jute.OpSync, &jute.PathRequest{Path: full}, &jute.SyncResponse{})
}

func (p getConfigParams) do(ctx context.Context, c *Client) ([]byte, error) {
	var res jute.GetDataResponse
	r := reading{
		name: "getConfig", full: configNode, config: true, op: jute.OpGetData, kind: zkconn.WatchData,
		watcher: p.watcher, watched: p.watched, res: &res,
	}
	if err := r.do(ctx, c); err != nil {
		return nil, err
	}
	storeStat(p.stat, res.Stat)
	return res.Data, nil
}
