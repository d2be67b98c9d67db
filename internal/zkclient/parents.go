package zkclient

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/zkconn"
)

// CreateParents creates the missing parents of a node, as a spec asks for them.
func (c *Client) CreateParents(ctx context.Context, conn *zkconn.Conn, full string, spec NodeSpec) error {
	if len(ancestors(full, c.cfg.Chroot)) == 0 {
		return nil
	}
	_, err := c.makeParents(ctx, conn, full, &spec)
	return err
}

// makeParents creates the missing ancestors of a node: those of the namespace always, as
// containers, and those below it if the create asks for that. It reports whether any was missing. It
// looks first, because the create of a node that exists would be a needless write.
func (c *Client) makeParents(ctx context.Context, conn *zkconn.Conn, full string, spec *NodeSpec) (made bool, err error) {
	namespace := c.Root()
	if c.prefix != "" && len(full) > len(namespace) && spec.Parents == NoParents {
		return c.EnsureNamespace(ctx, conn)
	}
	var nodes []missingNode
	for _, dir := range ancestors(full, c.cfg.Chroot) {
		nodes = append(nodes, missingNode{dir, func() (*zkconn.Call, error) {
			return c.parentCreate(dir, len(dir) <= len(namespace), spec)
		}})
	}
	if len(nodes) == 0 {
		return false, zkconn.ErrNoNode
	}
	return createMissing(ctx, conn, nodes)
}

// parentCreate creates one ancestor, without data.
func (c *Client) parentCreate(dir string, ofNamespace bool, spec *NodeSpec) (*zkconn.Call, error) {
	acl := spec.ACL
	var err error
	switch {
	case ofNamespace: // others use the namespace, too
		acl, err = c.cfg.ACL(c.unrooted(dir))
	case !spec.ACLOnParents:
		acl, err = c.defaultACL(dir)
	}
	if err != nil {
		return nil, err
	}
	call := createContainer(dir, acl)
	if !ofNamespace && !(spec.Parents == ContainerParents && c.cfg.Containers) {
		call.Op, call.Req = jute.OpCreate2, &jute.CreateRequest{Path: dir, Data: []byte{}, ACL: acl}
	}
	return call, nil
}

// errReaped: an ancestor was removed while the nodes below it were created, as may happen to an empty
// container at any time. It is worth another try.
var errReaped = fmt.Errorf("%w above the path", zkconn.ErrNoNode)

// missingNode is a node that may be missing, and how to create it.
type missingNode struct {
	full   string
	create func() (*zkconn.Call, error)
}

// createMissing creates those of nodes that are missing, and reports whether any was. The topmost
// is the first. Servers since 3.8.4 and 3.9.2 refuse an exists of a node that the client may not read,
// and only then: that answers the question as well.
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
		if errors.Is(look.Err, zkconn.ErrNoNode) {
			create, err := nodes[i].create()
			if err != nil {
				return false, err
			}
			if !conn.HasContainers() {
				asPersistent(create)
			}
			creates = append(creates, create)
		} else if look.Err != nil && !errors.Is(look.Err, zkconn.ErrNoAuth) { // one that may not be read is there
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
		case errors.Is(create.Err, zkconn.ErrNoNode):
			return true, errReaped
		case create.Err != nil && !errors.Is(create.Err, zkconn.ErrNodeExists):
			return false, create.Err
		}
	}
	return true, nil
}

// asPersistent makes the create of a container that of a persistent node.
func asPersistent(create *zkconn.Call) {
	if create.Op == jute.OpCreateContainer {
		create.Op = jute.OpCreate2
		create.Req.(*jute.CreateRequest).Flags = 0
	}
}

// createContainer creates a container without data.
func createContainer(full string, acl ACL) *zkconn.Call {
	return &zkconn.Call{
		Op:  jute.OpCreateContainer,
		Req: &jute.CreateRequest{Path: full, Data: []byte{}, ACL: acl, Flags: jute.FlagContainer},
		Res: &jute.Create2Response{},
	}
}

// EnsureNamespace creates the missing nodes of the client's namespace, and reports whether any was
// missing. Concurrent callers share the same requests, which end with the client and not with the
// context of one of the callers.
func (c *Client) EnsureNamespace(ctx context.Context, conn *zkconn.Conn) (made bool, err error) {
	namespace, nodes := c.Root(), c.namespaceNodes()
	done := c.namespaces.flights.DoChan(namespace, func() (any, error) {
		if !c.pending.Enter() {
			return false, zkconn.ErrClosed
		}
		defer c.pending.Leave()
		ctx, cancel := c.WithLife(context.WithoutCancel(ctx))
		defer cancel(nil)
		// What the first caller's span notes of its requests is not for these, which may outlast it.
		ctx = zkconn.WithExchangeInfo(ctx, new(zkconn.ExchangeInfo))
		made := false
		for range 5 { // as in creation.attempt
			some, err := createMissing(ctx, conn, nodes)
			made = made || some
			if !errors.Is(err, errReaped) {
				return made, err
			}
		}
		return made, errReaped
	})
	select {
	case r := <-done:
		if r.Err != nil {
			return false, NotApplied(r.Err)
		}
		c.namespaces.known.Store(namespace, true)
		return r.Val.(bool), nil
	case <-ctx.Done():
		return false, ended(ctx)
	}
}

// KnowsNamespace reports whether the namespace was seen to exist.
func (c *Client) KnowsNamespace() bool {
	_, known := c.namespaces.known.Load(c.Root())
	return known
}

// namespaceNodes returns the nodes of the namespace. It calls the client's ACL provider, a user's code,
// because other callers must not wait for that.
func (c *Client) namespaceNodes() []missingNode {
	var nodes []missingNode
	for _, dir := range ancestors(c.Root()+"/", c.cfg.Chroot) {
		acl, err := c.cfg.ACL(c.unrooted(dir))
		nodes = append(nodes, missingNode{dir, func() (*zkconn.Call, error) {
			return createContainer(dir, acl), err
		}})
	}
	return nodes
}
