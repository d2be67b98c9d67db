package modeled

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/cenkalti/backoff/v4"
	"golang.org/x/sync/errgroup"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/wait"
	"github.com/go-curator/curator/internal/zkclient"
)

// anyVersion is the version that every node is at.
const anyVersion = -1

// ModeledFramework reads and writes models at one path. It is a value, and may be used by several
// goroutines. The zero value fails every call.
//
// Java: ModeledFramework, VersionedModeledFramework.
type ModeledFramework[T any] struct {
	client  *framework.Client
	spec    ModelSpec[T]
	version int32 // of WithVersion, and one more, so that zero is any
}

// ZNode is a node with its model.
//
// Java: ZNode.
type ZNode[T any] struct {
	Path  ZPath
	Stat  framework.Stat
	Model T
}

// Wrap returns the framework of spec. It does no I/O. The operations return errors of its
// arguments: framework.ErrNotStarted for a nil client, framework.ErrInvalidOption for a spec
// without a codec, framework.ErrInvalidPath.
//
// Java: ModeledFramework.wrap, ModeledFramework.builder.
func Wrap[T any](client *framework.Client, spec ModelSpec[T]) ModeledFramework[T] {
	spec.ACL = slices.Clone(spec.ACL)
	return ModeledFramework[T]{client: client, spec: spec}
}

// Spec returns the spec, with the path of this framework.
//
// Java: modelSpec.
func (m ModeledFramework[T]) Spec() ModelSpec[T] {
	spec := m.spec
	spec.ACL = slices.Clone(spec.ACL)
	return spec
}

// WithPath returns the framework for another path.
//
// Java: withPath, parent.
func (m ModeledFramework[T]) WithPath(path ZPath) ModeledFramework[T] {
	m.spec.Path = path
	return m
}

// Child is WithPath for a child of this path; see ZPath.Child.
//
// Java: child.
func (m ModeledFramework[T]) Child(name any) ModeledFramework[T] {
	return m.WithPath(m.spec.Path.Child(name))
}

// Resolved is WithPath for the path with its first parameters replaced; see ZPath.Resolved.
//
// Java: resolved.
func (m ModeledFramework[T]) Resolved(parameters ...any) ModeledFramework[T] {
	return m.WithPath(m.spec.Path.Resolved(parameters...))
}

// WithVersion makes Set, Update, Modify, Delete and the operations fail with
// framework.ErrBadVersion unless the node is at this version, Stat.Version. -1 means any
// version. It does not affect reads and the create of a node by Set.
//
// Java: versioned, and the arguments version.
func (m ModeledFramework[T]) WithVersion(version int32) ModeledFramework[T] {
	m.version = version - anyVersion
	return m
}

// wanted returns the version of WithVersion.
func (m ModeledFramework[T]) wanted() int32 { return m.version + anyVersion }

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

// Read returns the node. Errors: framework.ErrNoNode; codec.ErrDecode, also for a node without
// data unless the codec has a model for it.
//
// Java: read, readAsZNode.
func (m ModeledFramework[T]) Read(ctx context.Context) (ZNode[T], error) {
	node, _, err := m.read(ctx)
	if err != nil {
		return ZNode[T]{}, err
	}
	return node, nil
}

// read is Read, and tells whether the node is a mere parent.
func (m ModeledFramework[T]) read(ctx context.Context) (node ZNode[T], parent bool, err error) {
	path, err := m.path()
	if err != nil {
		return node, false, err
	}
	data, err := m.client.GetData().StoringStatIn(&node.Stat).Undecompressed().ForPath(ctx, path)
	if err != nil {
		return node, false, err
	}
	node.Path = m.spec.Path
	node.Model, parent, err = m.decode(path, data)
	return node, parent, err
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
	b := m.client.SetData().WithVersion(m.wanted())
	switch {
	case m.spec.Compressed:
		b = b.Compressed()
	case m.spec.Uncompressed:
		b = b.Uncompressed()
	}
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
	pace := backoff.NewExponentialBackOff(backoff.WithInitialInterval(firstPause), backoff.WithMaxInterval(maxPause),
		backoff.WithRandomizationFactor(1), backoff.WithMaxElapsedTime(0))
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
		if wait.For(ctx, pace.NextBackOff()) != nil {
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

// Exists reports whether the node exists.
//
// Java: checkExists.
func (m ModeledFramework[T]) Exists(ctx context.Context) (bool, error) {
	path, err := m.path()
	if err != nil {
		return false, err
	}
	return m.client.CheckExists().ForPath(ctx, path)
}

// Children lists the paths of the children, by name. It returns none if the node does not
// exist.
//
// Java: children, ModeledOptions.ignoreMissingNodesForChildren.
func (m ModeledFramework[T]) Children(ctx context.Context) ([]ZPath, error) {
	path, err := m.path()
	if err != nil {
		return nil, err
	}
	names, err := m.client.GetChildren().ForPath(ctx, path)
	if errors.Is(err, framework.ErrNoNode) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	slices.Sort(names)
	paths := make([]ZPath, len(names))
	for i, name := range names {
		paths[i] = m.spec.Path.Child(name)
	}
	return paths, nil
}

// readsAtOnce is how many children are read at a time.
const readsAtOnce = 64

// ChildNodes reads the children, by name. It leaves out children that are deleted meanwhile,
// and children without data. If one cannot be decoded, it returns codec.ErrDecode with the
// path. The children are read one by one, so the result is no snapshot.
//
// Java: childrenAsZNodes.
func (m ModeledFramework[T]) ChildNodes(ctx context.Context) ([]ZNode[T], error) {
	paths, err := m.Children(ctx)
	if err != nil {
		return nil, err
	}
	nodes := make([]*ZNode[T], len(paths))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(readsAtOnce)
	for i, path := range paths {
		g.Go(func() error {
			node, parent, err := m.WithPath(path).read(ctx)
			switch {
			case parent, errors.Is(err, framework.ErrNoNode):
				return nil
			case err == nil:
				nodes[i] = &node
			}
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	var there []ZNode[T]
	for _, node := range nodes {
		if node != nil {
			there = append(there, *node)
		}
	}
	return there, nil
}
