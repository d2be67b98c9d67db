package framework

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-curator/curator/internal/jute"
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
}

func (r *reading) do(ctx context.Context, c *Client) (err error) {
	if c == nil || c.core == nil {
		return &OpError{Op: r.name, Path: r.path, Err: errNilClient}
	}
	switch {
	case r.watched && r.watcher != nil:
		err = fmt.Errorf("%w: UsingWatcher and Watched", ErrInvalidBuilder)
	case r.full == "":
		if r.full, err = c.fix(r.path, false); err == nil {
			err = c.SchemaSet().ValidateRead(r.path, r.watched || r.watcher != nil)
		}
	}
	if err != nil {
		return &OpError{Op: r.name, Path: r.path, Err: err}
	}
	if r.watched {
		r.watcher = c.core.watched
	}
	return c.run(ctx, operation{name: r.name, path: r.path, repeat: true, missing: r.op == jute.OpExists}, func(ctx context.Context, conn *zkconn.Conn) error {
		err := r.attempt(ctx, c, conn)
		if bound, ok := errors.AsType[*OpError](err); ok && bound.final {
			return err // of doOnSession: the session is over
		}
		return notApplied(err)
	})
}

// attempt is one try.
func (r *reading) attempt(ctx context.Context, c *Client, conn *zkconn.Conn) error {
	call := &zkconn.Call{Op: r.op, Req: &jute.PathWatchRequest{Path: r.full, Watch: r.watcher != nil}, Res: r.res}
	var set *registration
	if r.watcher != nil {
		set = r.watcher.watch(c.watchScope(), r.full, r.kind, r.config)
		call.Watch = set.watch
	}
	err := doOnSession(ctx, conn, r.name, call)
	if err == nil {
		err = call.Err
	}
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
		set.unset()
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
	parents := createOp{c: c, full: full, p: &createParams{
		parents: p.parents, containers: p.containers, acl: p.acl, aclGiven: p.aclGiven, aclOnParents: p.aclGiven,
	}}
	if len(ancestors(full, c.core.chroot)) == 0 {
		return nil
	}
	return parents.createParents(ctx, conn)
}

func (p getDataParams) do(ctx context.Context, c *Client, path string) ([]byte, error) {
	var res jute.GetDataResponse
	r := reading{
		name: "getData", path: path, op: jute.OpGetData, kind: zkconn.WatchData,
		watcher: p.watcher, watched: p.watched, res: &res,
	}
	if c == nil || c.core == nil {
		return nil, &OpError{Op: r.name, Path: path, Err: errNilClient}
	}
	if p.compressed && p.uncompressed {
		return nil, &OpError{Op: r.name, Path: path, Err: fmt.Errorf("%w: Decompressed and Undecompressed", ErrInvalidBuilder)}
	}
	err := r.do(ctx, c)
	if err != nil {
		return nil, err
	}
	data := res.Data
	if p.compressed || c.core.cfg.compressAll && !p.uncompressed {
		if data, err = c.core.cfg.compression.Decompress(c.unfix(r.full), data); err != nil {
			return nil, &OpError{Op: r.name, Path: path, Attempts: 1, Err: fmt.Errorf("decompress the data: %w", err)}
		}
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
