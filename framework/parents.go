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
	namespace := cr.c.core.chroot + cr.c.prefix
	if cr.c.prefix != "" && len(cr.full) > len(namespace) && !cr.p.parents && !cr.p.containers {
		return cr.c.ensureNamespace(ctx, conn)
	}
	var nodes []missingNode
	for _, dir := range ancestors(cr.full, cr.c.core.chroot) {
		nodes = append(nodes, missingNode{dir, func() (*zkconn.Call, error) {
			return cr.parentCreate(dir, len(dir) <= len(namespace))
		}})
	}
	if len(nodes) == 0 {
		return false, ErrNoNode
	}
	return createMissing(ctx, conn, nodes)
}

// missingNode is a node that may be missing, and how to create it.
type missingNode struct {
	full   string
	create func() (*zkconn.Call, error)
}

// createMissing creates those of nodes that are missing, and reports whether any was. The topmost
// is the first.
func createMissing(ctx context.Context, conn *zkconn.Conn, nodes []missingNode) (made bool, err error) {
	looks := make([]*zkconn.Call, len(nodes))
	for i, node := range nodes {
		looks[i] = &zkconn.Call{Op: jute.OpExists, Req: &jute.PathWatchRequest{Path: node.full}, Res: &jute.StatResponse{}}
	}
	if err := conn.Do(ctx, 0, looks...); err != nil {
		return false, err
	}
	var creates []*zkconn.Call
	for i, look := range looks {
		if errors.Is(look.Err, ErrNoNode) {
			create, err := nodes[i].create()
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
	acl := wireACL(cr.p.acl)
	if !cr.p.aclOnParents || ofNamespace { // others use the namespace, too
		var err error
		if acl, err = cr.c.defaultACL(dir); err != nil {
			return nil, err
		}
	}
	call := createContainer(dir, acl)
	if !ofNamespace && !(cr.p.containers && cr.c.core.cfg.containers) {
		call.Op, call.Req = jute.OpCreate2, &jute.CreateRequest{Path: dir, Data: []byte{}, ACL: acl}
	}
	return call, nil
}
