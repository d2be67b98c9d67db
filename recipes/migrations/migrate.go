package migrations

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/framework/paths"
	"github.com/go-curator/curator/internal/wait"
	"github.com/go-curator/curator/internal/zkclient"
	"github.com/go-curator/curator/recipes/locks"
)

// ErrMismatch is returned when the applied migrations are not the beginning of the set: one of
// them was changed, moved or removed since, or the node of a hash was changed. The text says
// which. Nothing is applied then.
//
// Java: MigrationException.
var ErrMismatch = errors.New("the applied migrations are not the beginning of the set")

// Migration has the operations of one step: creates, deletes, setDatas and checks, in order.
// They must be made by the client that Migrate gets, or by a view of it.
//
// Java: Migration.
type Migration []framework.Op

// Set has migrations in their order. Add new ones at the end. Migrate does not change it.
//
// Java: MigrationSet.
type Set struct {
	ID         string // the name of the set's nodes, without a slash; required
	Migrations []Migration
}

// Migrate applies the migrations of set that have not been applied, and returns their number.
// The lock is at lockPath and the metadata at metadataPath, each followed by the set's ID; both
// are created. opts are the lock's alone: locks.WithMaxWait limits the wait, and a locks.WithACL does not hold
// for the metadata, which has the client's ACL, see framework.WithDefaultACL.
//
// When the lock or the reply to the transaction is lost, Migrate finds out which migrations
// were applied and begins again, until ctx ends. If it could not find out,
// framework.MaybeApplied is true for the error. Another call of Migrate is always safe. After a
// lost reply the number may count migrations that another process has applied.
//
// Errors: ErrMismatch; locks.ErrNotAcquired; framework.ErrTooLarge before the transaction is sent;
// framework.ErrInvalidOption and framework.ErrInvalidPath for a bad argument; the server's answer to
// an operation, with the number of its migration; ctx's error.
//
// Java: MigrationManager.migrate.
func Migrate(ctx context.Context, client *framework.Client, lockPath, metadataPath string, set Set, opts ...locks.SemaphoreOption) (int, error) {
	if ctx == nil {
		return 0, zkclient.ErrNilContext
	}
	m, err := newManager(client, lockPath, metadataPath, set, opts)
	if err == nil {
		var n int
		if n, err = m.migrate(ctx); err == nil {
			return n, nil
		}
	}
	return 0, fmt.Errorf("migrations %q: %w", set.ID, err)
}

// manager is one call of Migrate.
type manager struct {
	client   *framework.Client
	lock     *locks.InterProcessSemaphoreMutex
	metadata metadata
	set      Set
	hashes   [][]byte // of the set's migrations
}

func newManager(client *framework.Client, lockPath, metadataPath string, set Set, opts []locks.SemaphoreOption) (*manager, error) {
	api := zkclient.Of(client)
	switch {
	case set.ID == "":
		return nil, fmt.Errorf("%w: the set has no ID", framework.ErrInvalidOption)
	case strings.Contains(set.ID, "/"):
		return nil, fmt.Errorf("%w: the set's ID contains a slash", framework.ErrInvalidOption)
	case lockPath == metadataPath:
		return nil, fmt.Errorf("%w: the lock path is the metadata path, %s", framework.ErrInvalidOption, lockPath)
	}
	for name, path := range map[string]string{"lock": lockPath, "metadata": metadataPath} {
		if _, err := api.ServerPath(path); err != nil {
			return nil, fmt.Errorf("%s path: %w", name, err)
		}
	}
	m := &manager{client: client, set: set, metadata: metadata{client, paths.Make(metadataPath, set.ID)}}
	if _, err := api.ServerPath(m.metadata.path); err != nil {
		return nil, fmt.Errorf("the set's ID: %w", err)
	}
	for i, migration := range set.Migrations {
		hash, err := hashOf(client, migration)
		if err != nil {
			return nil, fmt.Errorf("migration %d: %w", i+1, err)
		}
		m.hashes = append(m.hashes, hash)
	}
	var err error
	m.lock, err = locks.NewInterProcessSemaphoreMutex(client, paths.Make(lockPath, set.ID), opts...)
	return m, err
}

// The pauses after a loss.
const (
	firstPause = 50 * time.Millisecond
	maxPause   = 5 * time.Second
)

// errNotApplied says that the transaction whose reply was lost has changed nothing.
var errNotApplied = errors.New("the transaction was not applied")

// migrate repeats attempts that have failed because there was no connection.
func (m *manager) migrate(ctx context.Context) (int, error) {
	pace := wait.Pace{First: firstPause, Most: maxPause}
	for {
		n, err := m.attempt(ctx)
		if err == nil {
			return n, nil
		}
		if !errors.Is(err, errNotApplied) && !lockLost(err) {
			return 0, err
		}
		if wait.For(ctx, pace.Next()) != nil {
			return 0, fmt.Errorf("%w: %w", zkclient.ContextError(ctx), err)
		}
	}
}

// unapplied is why an attempt ended before its transaction. What it may have changed is the lock
// and the node of the metadata, and no migration.
func unapplied(err error) error { return zkclient.EffectKnown(err) }

// lockLost reports whether an attempt has failed because its lock was lost, and not because the
// user ended it.
func lockLost(err error) bool {
	if loss, ok := errors.AsType[*locks.LossError](err); ok {
		return loss.Reason != locks.LossMaxHold && loss.Reason != locks.LossRevoked
	}
	return errors.Is(err, framework.ErrSessionExpired) && !framework.MaybeApplied(err)
}

// attempt applies what has not been applied, under the lock, and returns how much that was.
func (m *manager) attempt(ctx context.Context) (int, error) {
	lease, err := m.lock.Acquire(ctx)
	if err != nil {
		return 0, unapplied(err)
	}
	// The transaction has proved that the lock was held, or has failed. So it does not matter here
	// whether the lock is lost by now, or its node is still being deleted in the background.
	defer func() { _ = lease.Release(ctx) }()
	applied, err := m.metadata.read(ctx)
	if err == nil {
		err = m.compare(applied)
	}
	if err == nil && len(applied) == 0 && len(m.hashes) > 0 {
		err = m.metadata.create(ctx)
	}
	if err != nil {
		return 0, unapplied(err)
	}
	if len(applied) == len(m.hashes) {
		return 0, nil
	}
	return len(m.hashes) - len(applied), m.apply(ctx, lease, len(applied))
}

// compare returns ErrMismatch unless what was applied is the beginning of the set.
func (m *manager) compare(applied []hashNode) error {
	for i, node := range applied {
		switch {
		case i >= len(m.hashes):
			return fmt.Errorf("%w: %d are applied, and the set has %d: there is no migration of node %s",
				ErrMismatch, len(applied), len(m.hashes), node.name)
		case string(node.hash) != string(m.hashes[i]):
			return fmt.Errorf("%w: migration %d is not the one of node %s, or was changed", ErrMismatch, i+1, node.name)
		}
	}
	return nil
}

// apply commits the migrations behind the first ones.
func (m *manager) apply(ctx context.Context, lease *locks.Lease, from int) error {
	var ops []framework.Op
	var of []int // the migration of each operation
	for i := from; i < len(m.hashes); i++ {
		ops = append(append(ops, m.set.Migrations[i]...), m.metadata.op(m.hashes[i]))
		for len(of) < len(ops) {
			of = append(of, i)
		}
	}
	results, err := lease.Guard(ctx, ops...)
	switch {
	case err == nil:
		return nil
	case framework.MaybeApplied(err):
		return m.resolve(ctx, err)
	}
	for i, result := range results {
		if result.Err != nil && !errors.Is(result.Err, framework.ErrRolledBack) {
			return fmt.Errorf("migration %d: %w", of[i]+1, err)
		}
	}
	return err
}

// resolve returns nil if the transaction whose reply was lost has been applied, and errNotApplied if
// it has not. The nodes of the hashes show that, because the transaction creates them. If resolve
// cannot read them, its error also wraps lost. After the Sync the transaction cannot be applied any
// more, because the servers handle the requests of a session in their order.
func (m *manager) resolve(ctx context.Context, lost error) error {
	err := m.client.Sync().ForPath(ctx, m.metadata.path)
	var applied []hashNode
	if err == nil {
		applied, err = m.metadata.read(ctx)
	}
	switch {
	case err != nil:
		return errors.Join(lost, err)
	case len(applied) < len(m.hashes):
		return errNotApplied
	}
	return m.compare(applied)
}

// hashName is the name of the nodes that have the hashes, without their numbers.
const hashName = "meta-"

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
	nodes := make([]hashNode, 0, len(names))
	full := make([]string, len(names))
	for i, name := range names {
		full[i] = paths.Make(m.path, name)
	}
	for _, read := range m.client.ReadMany(ctx, slices.Values(full)) {
		if read.Err != nil {
			return nil, read.Err
		}
		nodes = append(nodes, hashNode{names[len(nodes)], read.Data})
	}
	return nodes, nil
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
