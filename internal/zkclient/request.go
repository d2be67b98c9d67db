package zkclient

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/zkconn"
)

// Spec returns the node that a framework.CreateBuilder of this client describes.
func (c *Client) Spec(builder any, path string) (NodeSpec, error) {
	spec, err := c.cfg.Spec(c, builder)
	if err != nil {
		return spec, c.fail("create", path, err)
	}
	spec.Path = path
	return spec, nil
}

// CreateRequest is a node in the protocol's terms.
type CreateRequest struct {
	Path string // the server's
	Data []byte // as it is stored
	Op   jute.Op
	Req  jute.Record

	acl  ACL
	c    *Client
	spec NodeSpec
}

// Prepare returns the request that creates a node: judged by the schemas, and compressed. It is sent as it is
// by those who send it together with others. Its answer is decoded into a *jute.Create2Response.
func (c *Client) Prepare(spec NodeSpec) (*CreateRequest, error) {
	r := &CreateRequest{c: c, spec: spec}
	full, err := c.Fix(spec.Path, spec.Mode.IsSequential())
	if err == nil {
		r.Path = full
		err = r.fill()
	}
	if err != nil {
		return nil, c.fail("create", spec.Path, err)
	}
	r.Op, r.Req = r.at(r.Path)
	return r, nil
}

// CreateOp is Prepare for a part of a transaction, at the server's path.
func (c *Client) CreateOp(full string, spec NodeSpec) (zkconn.MultiOp, error) {
	r := CreateRequest{Path: full, c: c, spec: spec}
	if err := r.fill(); err != nil {
		return zkconn.MultiOp{}, err
	}
	r.Op, r.Req = r.at(r.Path)
	return r.MultiOp(), nil
}

// fill sets the ACL and the data, by the path and the spec.
func (r *CreateRequest) fill() (err error) {
	c, spec := r.c, &r.spec
	data := spec.Data
	if spec.DefaultData {
		data = c.cfg.DefaultData
	}
	if r.acl = spec.ACL; r.acl == nil {
		if r.acl, err = c.defaultACL(r.Path); err != nil {
			return err
		}
	}
	if schemas := c.cfg.Schemas; schemas != nil {
		err := schemas.ValidateCreate(c.ClientPath(r.Path), spec.Mode.IsEphemeral(), spec.Mode.IsSequential(), data, SchemaACL(r.acl))
		if err != nil {
			return err
		}
	}
	r.Data, err = c.stored(r.Path, data, spec.Compressed)
	return err
}

// defaultACL returns the ACL of a node that is given none.
func (c *Client) defaultACL(full string) (ACL, error) {
	if c.acl != nil {
		return c.acl, nil
	}
	return c.cfg.ACL(c.unrooted(full))
}

// at returns the request for a node at a path.
func (r *CreateRequest) at(full string) (jute.Op, jute.Record) {
	if r.spec.Mode.IsTimed() {
		return jute.OpCreateTTL, &jute.CreateTTLRequest{
			Path: full, Data: r.Data, ACL: r.acl, Flags: int32(r.spec.Mode), TTL: r.spec.TTL.Milliseconds(),
		}
	}
	op := jute.OpCreate2
	if r.spec.Mode == Container {
		op = jute.OpCreateContainer
	}
	return op, &jute.CreateRequest{Path: full, Data: r.Data, ACL: r.acl, Flags: int32(r.spec.Mode)}
}

// Call returns the request as a call.
func (r *CreateRequest) Call() *zkconn.Call {
	return &zkconn.Call{Op: r.Op, Req: r.Req, Res: &jute.Create2Response{}}
}

// MultiOp returns the request as a part of a transaction.
func (r *CreateRequest) MultiOp() zkconn.MultiOp {
	op := r.Op
	if op == jute.OpCreate2 {
		op = jute.OpCreate // as Java: in a multi the server does not answer with the Stat
	}
	return zkconn.MultiOp{Op: op, Req: r.Req}
}

// MakeParents makes the ancestors that are missing, as the spec asks for them. It returns ErrNoNode if one
// stays missing, because the spec does not ask for parents.
func (r *CreateRequest) MakeParents(ctx context.Context, conn *zkconn.Conn) error {
	asked := r.spec.Parents != NoParents
	if !asked && r.c.prefix == "" {
		return zkconn.ErrNoNode
	}
	made, err := r.c.makeParents(ctx, conn, r.Path, &r.spec)
	switch {
	case errors.Is(err, errReaped): // the next create finds out
		return nil
	case err != nil:
		return NotApplied(err)
	case !made && !asked: // one below the namespace is missing
		return zkconn.ErrNoNode
	}
	return nil
}

// readable tells whether everybody may read the node.
func (r *CreateRequest) readable() bool {
	return slices.ContainsFunc(r.acl, func(a jute.ACL) bool {
		return a.ID == (jute.ID{Scheme: "world", ID: "anyone"}) && a.Perms&jute.PermRead != 0
	})
}

// stored returns data as it is to be stored, never nil, because programs in Java do not expect nodes
// with null data.
func (c *Client) stored(full string, data []byte, compressed Compressed) ([]byte, error) {
	if data == nil {
		data = []byte{}
	}
	if compressed == Never || compressed == AsConfigured && !c.cfg.CompressAll {
		return data, nil
	}
	packed, err := c.cfg.Compression.Compress(c.ClientPath(full), data)
	if err != nil {
		return nil, fmt.Errorf("compress the data: %w", err)
	}
	if packed == nil {
		packed = []byte{}
	}
	return packed, nil
}

// Decompress passes a node's data through the compression provider. path is the client's.
func (c *Client) Decompress(path string, data []byte) ([]byte, error) {
	return c.cfg.Compression.Decompress(path, data)
}

// Data returns the data of a node as it was before it was stored.
func (c *Client) Data(full string, data []byte, compressed Compressed) ([]byte, error) {
	if compressed == Never || compressed == AsConfigured && !c.cfg.CompressAll {
		return data, nil
	}
	return c.Decompress(c.ClientPath(full), data)
}
