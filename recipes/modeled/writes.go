package modeled

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/wait"
	"github.com/go-curator/curator/internal/zkclient"
)

// compressed has a builder compress as the spec says.
func compressed[B interface {
	Compressed() B
	Uncompressed() B
}, T any](b B, spec *ModelSpec[T]) B {
	switch {
	case spec.Compressed:
		return b.Compressed()
	case spec.Uncompressed:
		return b.Uncompressed()
	}
	return b
}

// created has a builder create a node as the spec says.
func created[B interface {
	Compressed() B
	Uncompressed() B
	WithTTL(ttl time.Duration) B
	WithACL(acl ...framework.ACL) B
}, T any](b B, spec *ModelSpec[T]) B {
	if spec.TTL != 0 {
		b = b.WithTTL(spec.TTL)
	}
	if len(spec.ACL) > 0 {
		b = b.WithACL(spec.ACL...)
	}
	return compressed(b, spec)
}

// Set creates the node, or sets its data if it exists, and returns it with its actual path. For
// a sequential or protected spec Set always creates a new node, and for one with CreateOnly it does
// not set data; see framework.MaybeApplied. For other specs Set may create or set the node twice
// after a lost reply.
//
// Java: set.
func (m ModeledFramework[T]) Set(ctx context.Context, model T) (ZNode[T], error) {
	path, data, err := m.encode(model)
	if err != nil {
		return ZNode[T]{}, err
	}
	node := ZNode[T]{Model: model}
	b := m.client.Create().WithMode(m.spec.Mode).WithData(data).StoringStatIn(&node.Stat)
	switch {
	case m.spec.PersistentParents:
		b = b.CreatingParentsIfNeeded()
	case !m.spec.WithoutParents:
		b = b.CreatingParentContainersIfNeeded()
	}
	b = created(b, &m.spec)
	if m.spec.Protected {
		b = b.WithProtection()
	}
	switch anew := m.spec.Protected || m.spec.sequential(); {
	case m.spec.CreateOnly:
	case m.wanted() != anyVersion:
		b = b.OrSetDataVersion(m.wanted())
	case !anew:
		b = b.OrSetData()
	}
	path, err = b.ForPath(ctx, path)
	if err != nil {
		return ZNode[T]{}, err
	}
	node.Path = known(path)
	return node, nil
}

// Update sets the data of an existing node. It returns framework.ErrNoNode if there is none. An
// update whose reply was lost is not repeated; see framework.MaybeApplied.
//
// Java: update.
func (m ModeledFramework[T]) Update(ctx context.Context, model T) (ZNode[T], error) {
	path, data, err := m.encode(model)
	if err != nil {
		return ZNode[T]{}, err
	}
	b := compressed(m.client.SetData().WithVersion(m.wanted()), &m.spec)
	stat, err := b.ForPath(ctx, path, data)
	if err != nil {
		return ZNode[T]{}, err
	}
	return ZNode[T]{Path: m.spec.Path, Stat: stat, Model: model}, nil
}

// The pauses of Modify.
const (
	firstPause = 2 * time.Millisecond
	maxPause   = time.Second
)

// Modify sets the node to the result of fn for its model. When another client was faster it
// tries again after a random pause, until ctx ends. fn may be called several times, by this
// goroutine. Its error ends Modify, and is returned. If the node is not at the version of
// WithVersion, Modify returns framework.ErrBadVersion without a second try. Other errors are
// those of Read and Update.
//
// Java: none.
func (m ModeledFramework[T]) Modify(ctx context.Context, fn func(T) (T, error)) (ZNode[T], error) {
	if fn == nil {
		return ZNode[T]{}, fmt.Errorf("%w: Modify: the function is nil", framework.ErrInvalidOption)
	}
	pace := wait.Pace{First: firstPause, Most: maxPause}
	for {
		node, err := m.Read(ctx)
		if err != nil {
			return ZNode[T]{}, err
		}
		if v := m.wanted(); v != anyVersion && v != node.Stat.Version {
			return ZNode[T]{}, fmt.Errorf("%w: %s is at version %d, not %d", framework.ErrBadVersion, m.spec.Path, node.Stat.Version, v)
		}
		model, err := fn(node.Model)
		if err != nil {
			return ZNode[T]{}, err
		}
		node, err = m.WithVersion(node.Stat.Version).Update(ctx, model)
		if m.wanted() != anyVersion || !errors.Is(err, framework.ErrBadVersion) {
			return node, err
		}
		if wait.For(ctx, pace.Next()) != nil {
			return ZNode[T]{}, fmt.Errorf("modify %s: %w: %w", m.spec.Path, zkclient.ContextError(ctx), err)
		}
	}
}

// Delete is a guaranteed delete of the node: see framework.DeleteBuilder.Guaranteed. It returns
// framework.ErrNoNode if there is none, and framework.ErrNotEmpty if it has children, unless the
// spec says otherwise.
//
// Java: delete.
func (m ModeledFramework[T]) Delete(ctx context.Context) error {
	path, err := m.path()
	if err != nil {
		return err
	}
	b := m.client.Delete().Guaranteed().WithVersion(m.wanted())
	if m.spec.DeletingChildrenIfNeeded {
		b = b.DeletingChildrenIfNeeded()
	}
	if m.spec.Quietly {
		b = b.Quietly()
	}
	return b.ForPath(ctx, path)
}

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
	return created(m.client.TransactionOp().Create().WithMode(m.spec.Mode).WithData(data), &m.spec).ForPath(path)
}

// UpdateOp is CreateOp for Update: the node must exist, at the version of WithVersion.
//
// Java: updateOp.
func (m ModeledFramework[T]) UpdateOp(model T) framework.Op {
	path, data, err := m.encode(model)
	if err != nil {
		return m.refused("setData", err)
	}
	return compressed(m.client.TransactionOp().SetData().WithVersion(m.wanted()), &m.spec).ForPath(path, data)
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
