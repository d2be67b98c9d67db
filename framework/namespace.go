package framework

import (
	"context"
	"errors"

	"github.com/go-curator/curator/internal/zkconn"
)

// ensureNamespace creates the missing nodes of the client's namespace, and reports whether any was
// missing. Concurrent callers share the same requests, which end with the client and not with the
// context of one of the callers.
func (c *Client) ensureNamespace(ctx context.Context, conn *zkconn.Conn) (made bool, err error) {
	core, namespace := c.core, c.core.chroot+c.prefix
	nodes := c.namespaceNodes()
	done := core.flights.DoChan(namespace, func() (any, error) {
		if !core.pending.Enter() {
			return false, ErrClosed
		}
		defer core.pending.Leave()
		ctx, cancel := core.withClientLife(context.WithoutCancel(ctx))
		defer cancel(nil)
		// What the first caller's span notes of its requests is not for these, which may outlast it.
		ctx = zkconn.WithExchangeInfo(ctx, new(zkconn.ExchangeInfo))
		made := false
		for range 5 { // as in createOp.attempt
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
			return false, notApplied(r.Err)
		}
		core.known.Store(namespace, true)
		return r.Val.(bool), nil
	case <-ctx.Done():
		return false, ended(ctx)
	}
}

// knowsNamespace reports whether the namespace was seen to exist.
func (c *Client) knowsNamespace() bool {
	_, known := c.core.known.Load(c.core.chroot + c.prefix)
	return known
}

// namespaceNodes returns the nodes of the namespace. It calls the client's ACL provider, a user's code,
// because other callers must not wait for that.
func (c *Client) namespaceNodes() []missingNode {
	var nodes []missingNode
	for _, dir := range ancestors(c.core.chroot+c.prefix+"/", c.core.chroot) {
		acl, err := c.defaultACL(dir)
		nodes = append(nodes, missingNode{dir, func() (*zkconn.Call, error) {
			return createContainer(dir, acl), err
		}})
	}
	return nodes
}

// ended is the error of a request that was not sent because ctx has ended.
func ended(ctx context.Context) error {
	err := &zkconn.TransportError{Err: ctx.Err()}
	if cause := context.Cause(ctx); !errors.Is(err.Err, cause) {
		err.Detail = cause
	}
	return err
}

// ensureNamespaces is ensureNamespace for several.
func ensureNamespaces(ctx context.Context, conn *zkconn.Conn, views []*Client) (made bool, err error) {
	for _, c := range views {
		some, err := c.ensureNamespace(ctx, conn)
		if err != nil {
			return false, err
		}
		made = made || some
	}
	return made, nil
}
