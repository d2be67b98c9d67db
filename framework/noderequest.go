package framework

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-curator/curator/internal/recipeapi"
	"github.com/go-curator/curator/internal/zkconn"
)

func (r recipeClient) NodeRequest(builder any, path string) (recipeapi.NodeRequest, error) {
	b, ok := builder.(CreateBuilder)
	fail := func(err error) (recipeapi.NodeRequest, error) {
		return recipeapi.NodeRequest{}, &OpError{Op: "create", Path: path, Err: err}
	}
	switch {
	case !ok || b.c != r.c:
		return fail(fmt.Errorf("%w: the builder is another client's", ErrInvalidBuilder))
	case b.p.protection || b.p.mode.sequential() || b.p.orSet || b.p.orSetVersionGiven || b.p.idempotent:
		return fail(fmt.Errorf("%w: the name of the node is not final, or the node may exist", ErrInvalidBuilder))
	}
	full, err := b.c.usable(path)
	if err == nil {
		err = b.p.check()
	}
	if err != nil {
		return fail(err)
	}
	cr := &createOp{c: b.c, p: &b.p, full: full}
	if cr.data, cr.acl, err = b.p.contents(b.c, full); err != nil {
		return fail(err)
	}
	op, req := b.p.request(full, cr.data, cr.acl)
	return recipeapi.NodeRequest{Path: full, Data: cr.data, Op: op, Req: req, Parents: cr.parentsForRequest}, nil
}

// parentsForRequest makes the missing ancestors for a create that a recipe sends.
func (cr *createOp) parentsForRequest(ctx context.Context, conn *zkconn.Conn) error {
	asked := cr.p.parents || cr.p.containers
	if !asked && cr.c.prefix == "" {
		return ErrNoNode
	}
	made, err := cr.createMissingParents(ctx, conn)
	switch {
	case errors.Is(err, errReaped): // the next create finds out
		return nil
	case err != nil:
		return notApplied(err)
	case !made && !asked: // one below the namespace is missing
		return ErrNoNode
	}
	return nil
}
