package modeled

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/framework/codec"
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

// path returns the path, or what is wrong with the framework.
func (m ModeledFramework[T]) path() (string, error) {
	if err := m.spec.check(); err != nil {
		return "", err
	}
	path, err := m.spec.Path.Path()
	if err != nil {
		return "", err
	}
	_, err = zkclient.Of(m.client).ServerPath(path)
	return path, err
}

// encode returns the path, and the data of a model before it is compressed.
func (m ModeledFramework[T]) encode(model T) (path string, data []byte, err error) {
	if path, err = m.path(); err != nil {
		return "", nil, err
	}
	if data, err = m.spec.Codec.Encode(model); err != nil {
		return "", nil, fmt.Errorf("encode the model of %s: %w", path, err)
	}
	return path, data, nil
}

// decode returns the model of what is stored at a path, and whether the node is a mere parent, one
// without data. Data is decompressed if the spec or the client compresses it.
func (m ModeledFramework[T]) decode(path string, stored []byte) (model T, parent bool, err error) {
	data, err := m.plain(path, stored)
	parent = err == nil && len(data) == 0
	if err == nil {
		model, err = m.spec.Codec.Decode(data)
	}
	if err != nil {
		var none T
		return none, parent, fmt.Errorf("%w: %s: %w", codec.ErrDecode, path, err)
	}
	return model, parent, nil
}

// plain returns data as the codec has it.
func (m ModeledFramework[T]) plain(path string, stored []byte) ([]byte, error) {
	if len(stored) == 0 {
		return nil, nil
	}
	api := zkclient.Of(m.client)
	switch {
	case m.spec.Compressed:
		return api.Decompress(path, stored)
	case m.spec.Uncompressed:
		return stored, nil
	}
	full, err := api.ServerPath(path)
	if err != nil {
		return nil, err
	}
	return api.Data(full, stored, zkclient.AsConfigured)
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
