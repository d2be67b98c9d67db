// Package act has an operator's actions on locks and nodes: take a lock away, ask its holder to
// release it, delete a node, set its data. The caller passes the czxid of the node, and the action
// is refused if the path has another node. The functions are safe for concurrent use. They return
// an error when ctx ends; the action may then have been done.
package act

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/recipes/locks"
)

// ErrAnother is returned when the node was deleted, or its path now has another node.
var ErrAnother = errors.New("the node is not the same any more")

// find returns the Stat of the node at path. The error matches ErrAnother if the node does not have
// the czxid.
func find(ctx context.Context, client *framework.Client, path string, czxid int64) (framework.Stat, error) {
	var stat framework.Stat
	exists, err := client.CheckExists().StoringStatIn(&stat).ForPath(ctx, path)
	switch {
	case err != nil:
		return stat, err
	case !exists || stat.Czxid != czxid:
		return stat, fmt.Errorf("%s: %w", path, ErrAnother)
	}
	return stat, nil
}

// Break takes a lock away, by deleting the node of its holder; czxid is the holder's token. The
// holder is not stopped: it notices the loss when it receives the event of the deletion. The error
// matches ErrAnother if the holder has released the lock.
func Break(ctx context.Context, client *framework.Client, node string, czxid int64) error {
	stat, err := find(ctx, client, node, czxid)
	if err != nil {
		return err
	}
	return gone(client.Delete().WithVersion(stat.Version).ForPath(ctx, node), node)
}

// Revoke asks the holder with the token czxid to release the lock, as Curator's Revoker does. A
// holder that was not made revocable ignores the request. The request replaces the owner's name in
// the node. The error matches ErrAnother if the holder has released the lock.
func Revoke(ctx context.Context, client *framework.Client, node string, czxid int64) error {
	if _, err := find(ctx, client, node, czxid); err != nil {
		return err
	}
	return gone(locks.AttemptRevoke(ctx, client, node), node)
}

// Delete deletes a node without children. Errors: ErrAnother if the node does not have the czxid,
// framework.ErrBadVersion if it does not have the version, framework.ErrNotEmpty if it has children.
func Delete(ctx context.Context, client *framework.Client, path string, czxid int64, version int32) error {
	if _, err := find(ctx, client, path, czxid); err != nil {
		return err
	}
	return gone(client.Delete().WithVersion(version).ForPath(ctx, path), path)
}

// Set replaces the data of a node. Errors: ErrAnother if the node does not have the czxid,
// framework.ErrBadVersion if it does not have the version, framework.ErrTooLarge.
func Set(ctx context.Context, client *framework.Client, path string, czxid int64, version int32, data []byte) error {
	if _, err := find(ctx, client, path, czxid); err != nil {
		return err
	}
	_, err := client.SetData().WithVersion(version).ForPath(ctx, path, data)
	return gone(err, path)
}

// gone returns an ErrAnother if err says that the node does not exist, otherwise err.
func gone(err error, path string) error {
	if errors.Is(err, framework.ErrNoNode) {
		return fmt.Errorf("%s: %w", path, ErrAnother)
	}
	return err
}
