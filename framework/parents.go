package framework

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/zkconn"
)

// makeParents creates the missing ancestors of the node.
func (cr *creation) makeParents(ctx context.Context, conn *zkconn.Conn) error {
	_, err := cr.makeMissing(ctx, conn)
	return err
}

// errReaped: an ancestor has gone while those below it were made, as an empty container may at
// any time; it is worth another look.
var errReaped = fmt.Errorf("%w above the path", ErrNoNode)

// makeMissing creates the missing ancestors of the node: those of the namespace as
// containers, always, those below it as the create asks for. It looks first, since a
// create of what exists is a write for nothing, and reports whether any was missing.
func (cr *creation) makeMissing(ctx context.Context, conn *zkconn.Conn) (made bool, err error) {
	core := cr.c.core
	all := ancestors(cr.full, core.chroot)
	namespace := core.chroot + cr.c.prefix
	if cr.c.prefix != "" && len(cr.full) > len(namespace) && !cr.p.parents && !cr.p.containers {
		all = ancestors(namespace+"/", core.chroot)
	}
	looks := make([]*zkconn.Call, len(all))
	for i, dir := range all {
		looks[i] = &zkconn.Call{Op: jute.OpExists, Req: &jute.PathWatchRequest{Path: dir}, Res: &jute.StatResponse{}}
	}
	if len(looks) == 0 {
		return false, ErrNoNode
	}
	if err := conn.Do(ctx, 0, looks...); err != nil {
		return false, err
	}
	var creates []*zkconn.Call
	for i, look := range looks {
		if errors.Is(look.Err, ErrNoNode) {
			create, err := cr.parentCreate(all[i], len(all[i]) <= len(namespace))
			if err != nil {
				return false, err
			}
			creates = append(creates, create)
		} else if look.Err != nil {
			return false, look.Err
		}
	}
	if len(creates) == 0 {
		return false, nil
	}
	if err := conn.Do(ctx, 0, creates...); err != nil {
		return false, err
	}
	for _, create := range creates {
		switch {
		case errors.Is(create.Err, ErrNoNode):
			return true, errReaped
		case create.Err != nil && !errors.Is(create.Err, ErrNodeExists):
			return false, create.Err
		}
	}
	return true, nil
}

// parentCreate creates one ancestor, without data.
func (cr *creation) parentCreate(dir string, ofNamespace bool) (*zkconn.Call, error) {
	core := cr.c.core
	call := &zkconn.Call{Op: jute.OpCreate2, Res: &jute.Create2Response{}}
	req := &jute.CreateRequest{Path: dir, Data: []byte{}}
	if ofNamespace || cr.p.containers && core.cfg.containers {
		call.Op, req.Flags = jute.OpCreateContainer, jute.FlagContainer
	}
	var err error
	if cr.p.aclOnParents && !ofNamespace { // others use the namespace, too
		req.ACL = wireACL(cr.p.acl)
	} else if req.ACL, err = cr.c.defaultACL(dir); err != nil {
		return nil, err
	}
	call.Req = req
	return call, nil
}
