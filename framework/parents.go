package framework

import (
	"context"

	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/zkconn"
)

// createParents creates the missing ancestors of the node.
func (cr *createOp) createParents(ctx context.Context, conn *zkconn.Conn) error {
	_, err := cr.createMissingParents(ctx, conn)
	return err
}

// createMissingParents creates the missing ancestors of the node: those of the namespace always, as
// containers, and those below it if the create asks for that. It reports whether any was missing. It
// looks first, because the create of a node that exists would be a needless write.
func (cr *createOp) createMissingParents(ctx context.Context, conn *zkconn.Conn) (made bool, err error) {
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

// parentCreate creates one ancestor, without data.
func (cr *createOp) parentCreate(dir string, ofNamespace bool) (*zkconn.Call, error) {
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
