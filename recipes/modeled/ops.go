package modeled

import (
	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/zkclient"
)

// CreateOp returns an operation that creates the node, for a transaction or for a lock's
// Lease.Guard. It does not create parents, and the node must not exist. The commit returns an
// error for an invalid path, spec or model. The spec must not be Protected.
//
// Java: createOp.
func (m ModeledFramework[T]) CreateOp(model T) framework.Op {
	path, data, err := m.encode(model)
	if err == nil && m.spec.Protected {
		err = errProtectedOp
	}
	if err != nil {
		return m.refused("create", err)
	}
	b := m.client.TransactionOp().Create().WithMode(m.spec.Mode).WithData(data)
	if m.spec.TTL != 0 {
		b = b.WithTTL(m.spec.TTL)
	}
	if len(m.spec.ACL) > 0 {
		b = b.WithACL(m.spec.ACL...)
	}
	switch {
	case m.spec.Compressed:
		b = b.Compressed()
	case m.spec.Uncompressed:
		b = b.Uncompressed()
	}
	return b.ForPath(path)
}

// UpdateOp is CreateOp for Update: the node must exist, at the version of WithVersion.
//
// Java: updateOp.
func (m ModeledFramework[T]) UpdateOp(model T) framework.Op {
	path, data, err := m.encode(model)
	if err != nil {
		return m.refused("setData", err)
	}
	b := m.client.TransactionOp().SetData().WithVersion(m.wanted())
	switch {
	case m.spec.Compressed:
		b = b.Compressed()
	case m.spec.Uncompressed:
		b = b.Uncompressed()
	}
	return b.ForPath(path, data)
}

// DeleteOp is CreateOp for Delete. It deletes one node, which must exist, whatever the spec says of
// deletes.
//
// Java: deleteOp.
func (m ModeledFramework[T]) DeleteOp() framework.Op {
	path, err := m.path()
	if err != nil {
		return m.refused("delete", err)
	}
	return m.client.TransactionOp().Delete().WithVersion(m.wanted()).ForPath(path)
}

// CheckOp tests that the node exists, at the version of WithVersion.
//
// Java: checkExistsOp.
func (m ModeledFramework[T]) CheckOp() framework.Op {
	path, err := m.path()
	if err != nil {
		return m.refused("check", err)
	}
	return m.client.TransactionOp().Check().WithVersion(m.wanted()).ForPath(path)
}

// refused returns an operation that the commit refuses with err.
func (m ModeledFramework[T]) refused(op string, err error) framework.Op {
	refused := m.client.TransactionOp().Check().ForPath("/")
	inside := zkclient.OpOf(&refused)
	inside.Name, inside.Path, inside.Err = op, m.spec.Path.String(), err
	return refused
}
