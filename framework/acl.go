package framework

import (
	"context"
	"fmt"
	"slices"

	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/zkconn"
)

// usable returns the server's path for an operation of a client that can be used.
func (c *Client) usable(path string) (full string, err error) {
	if c == nil || c.core == nil {
		return "", errNilClient
	}
	return c.fix(path, false)
}

// call runs an operation that is one request. One that is repeated is a read.
func (c *Client) call(ctx context.Context, op operation, code jute.Op, req, res jute.Record) error {
	return c.run(ctx, op, func(ctx context.Context, conn *zkconn.Conn) error {
		call := &zkconn.Call{Op: code, Req: req, Res: res}
		err := conn.Do(ctx, 0, call)
		if err == nil {
			err = call.Err
		}
		if op.repeat {
			err = notApplied(err)
		}
		return err
	})
}

func (p getACLParams) do(ctx context.Context, c *Client, path string) ([]ACL, error) {
	full, err := c.usable(path)
	if err != nil {
		return nil, &OpError{Op: "getACL", Path: path, Err: err}
	}
	var res jute.GetACLResponse
	op := operation{name: "getACL", path: path, repeat: true}
	if err := c.call(ctx, op, jute.OpGetACL, &jute.PathRequest{Path: full}, &res); err != nil {
		return nil, err
	}
	storeStat(p.stat, res.Stat)
	acl := make([]ACL, len(res.ACL))
	for i, a := range res.ACL {
		acl[i] = ACL{Perms: Perm(a.Perms), Scheme: a.ID.Scheme, ID: a.ID.ID}
	}
	return acl, nil
}

func (p setACLParams) do(ctx context.Context, c *Client, path string, acl []ACL) (Stat, error) {
	full, err := c.usable(path)
	switch {
	case err != nil:
	case len(acl) == 0:
		err = fmt.Errorf("%w: it is empty", ErrInvalidACL)
	case p.versionGiven && p.version < anyVersion:
		err = noVersion(p.version)
	default:
		err = c.SchemaSet().ValidateSetACL(path, schemaACL(wireACL(acl)))
	}
	if err != nil {
		return Stat{}, &OpError{Op: "setACL", Path: path, Err: err}
	}
	req := &jute.SetACLRequest{Path: full, ACL: wireACL(acl), Version: anyVersion}
	if p.versionGiven {
		req.Version = p.version
	}
	var res jute.StatResponse
	if err := c.call(ctx, operation{name: "setACL", path: path}, jute.OpSetACL, req, &res); err != nil {
		return Stat{}, err
	}
	return newStat(res.Stat), nil
}

func (p syncParams) do(ctx context.Context, c *Client, path string) error {
	full, err := c.usable(path)
	if err != nil {
		return &OpError{Op: "sync", Path: path, Err: err}
	}
	op := operation{name: "sync", path: path, repeat: true}
	return c.call(ctx, op, jute.OpSync, &jute.PathRequest{Path: full}, &jute.SyncResponse{})
}

// readable tells whether everybody may read a node with this ACL.
func readable(acl []jute.ACL) bool {
	return slices.ContainsFunc(acl, func(a jute.ACL) bool {
		return a.ID == (jute.ID{Scheme: "world", ID: "anyone"}) && a.Perms&int32(PermRead) != 0
	})
}
