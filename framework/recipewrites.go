package framework

import (
	"context"
	"fmt"

	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/zkconn"
)

// CreateCall returns the request of a builder. The answer is decoded into a
// *jute.Create2Response.
func (r recipeClient) CreateCall(builder any, path string) (full string, call *zkconn.Call, err error) {
	b, _ := builder.(CreateBuilder)
	if b.c != r.c {
		return "", nil, fmt.Errorf("%w: the builder of a recipe's node is another client's", ErrInvalidBuilder)
	}
	if err = b.p.check(); err == nil {
		full, err = b.c.fix(path, b.p.mode.sequential())
	}
	if err != nil {
		return "", nil, &OpError{Op: "create", Path: path, Err: err}
	}
	data, acl, err := b.p.contents(b.c, full)
	if err != nil {
		return "", nil, &OpError{Op: "create", Path: path, Err: err}
	}
	op, req := b.p.request(full, data, acl)
	return full, &zkconn.Call{Op: op, Req: req, Res: &jute.Create2Response{}}, nil
}

func (r recipeClient) SetData(ctx context.Context, path string, data []byte, version int32) (stat jute.Stat, err error) {
	full, err := r.c.usable(path)
	switch {
	case err != nil:
	case version == anyVersion:
		err = fmt.Errorf("%w: -1 stands for any version", ErrBadVersion)
	default:
		err = r.c.SchemaSet().ValidateSetData(r.c.unfix(full), data)
	}
	if err != nil {
		return jute.Stat{}, &OpError{Op: "setData", Path: path, Err: err}
	}
	s := &setDataOp{full: full, version: version}
	if s.data, err = r.c.compress(full, data, false, true); err != nil {
		return jute.Stat{}, &OpError{Op: "setData", Path: path, Err: err}
	}
	err = r.c.run(ctx, operation{name: "setData", path: path}, func(ctx context.Context, conn *zkconn.Conn) (err error) {
		stat, err = s.attempt(ctx, conn)
		return err
	})
	return stat, err
}
