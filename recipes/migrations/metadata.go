package migrations

import (
	"context"
	"errors"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/framework/paths"
)

// hashName is the name of the nodes that have the hashes, without their numbers.
const hashName = "meta-"

// readsAtOnce is how many hashes are read at a time.
const readsAtOnce = 64

// metadata is the node of a set's applied migrations. Each of them is a child with its hash.
type metadata struct {
	client *framework.Client
	path   string
}

// hashNode is the node of an applied migration.
type hashNode struct {
	name string
	hash []byte
}

// read returns what has been applied, in its order. As in Java every child counts.
func (m metadata) read(ctx context.Context) ([]hashNode, error) {
	names, err := m.client.GetChildren().ForPath(ctx, m.path)
	if errors.Is(err, framework.ErrNoNode) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	slices.Sort(names)
	nodes := make([]hashNode, len(names))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(readsAtOnce)
	for i, name := range names {
		g.Go(func() error {
			hash, err := m.client.GetData().ForPath(ctx, paths.Make(m.path, name))
			nodes[i] = hashNode{name, hash}
			return err
		})
	}
	return nodes, g.Wait()
}

// create creates the node, which is a container, if it is missing.
func (m metadata) create(ctx context.Context) error {
	_, err := m.client.Create().CreatingParentContainersIfNeeded().WithMode(framework.Container).WithData(nil).Idempotent().ForPath(ctx, m.path)
	if errors.Is(err, framework.ErrNodeExists) { // with other data
		return nil
	}
	return err
}

// op creates the node of a migration.
func (m metadata) op(hash []byte) framework.Op {
	return m.client.TransactionOp().Create().WithMode(framework.PersistentSequential).WithData(hash).ForPath(paths.Make(m.path, hashName))
}
