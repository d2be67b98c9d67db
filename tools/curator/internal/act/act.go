// Package act has an operator's actions on locks and nodes: to take a lock away, to ask for it,
// to delete a node, to set its data. Each function gets the czxid or the version of the node,
// and refuses another node. The functions are safe for concurrent use, and return an error when
// ctx ends; the action may then have been done.
package act

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/recipes/locks"
)

// ErrAnother is returned when the node that was meant is gone, or another one has its path.
var ErrAnother = errors.New("the node is not the same any more")

// find returns the Stat of the node at path that was created by the transaction czxid.
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

// Break takes a lock away, by deleting the node of its holder, whose token is czxid. The holder is
// not stopped: it finds out when it hears of the deletion. ErrAnother if the holder has released
// the lock.
func Break(ctx context.Context, client *framework.Client, node string, czxid int64) error {
	stat, err := find(ctx, client, node, czxid)
	if err != nil {
		return err
	}
	return gone(client.Delete().WithVersion(stat.Version).ForPath(ctx, node), node)
}

// Revoke asks the holder with the token czxid for its lock, as Curator's Revoker does. A holder
// that was not made revocable takes no notice. The request replaces what the node says of its
// owner. ErrAnother if the holder has released the lock.
func Revoke(ctx context.Context, client *framework.Client, node string, czxid int64) error {
	if _, err := find(ctx, client, node, czxid); err != nil {
		return err
	}
	return gone(locks.AttemptRevoke(ctx, client, node), node)
}

// Delete deletes a node that has no children. Errors: ErrAnother if another transaction than czxid
// has created it, framework.ErrBadVersion if it is at another version, framework.ErrNotEmpty.
func Delete(ctx context.Context, client *framework.Client, path string, czxid int64, version int32) error {
	if _, err := find(ctx, client, path, czxid); err != nil {
		return err
	}
	return gone(client.Delete().WithVersion(version).ForPath(ctx, path), path)
}

// Set replaces the data of a node. Errors: ErrAnother if another transaction than czxid has created
// it, framework.ErrBadVersion if it is at another version, framework.ErrTooLarge.
func Set(ctx context.Context, client *framework.Client, path string, czxid int64, version int32, data []byte) error {
	if _, err := find(ctx, client, path, czxid); err != nil {
		return err
	}
	_, err := client.SetData().WithVersion(version).ForPath(ctx, path, data)
	return gone(err, path)
}

// gone makes ErrAnother of the error for a node that has gone meanwhile.
func gone(err error, path string) error {
	if errors.Is(err, framework.ErrNoNode) {
		return fmt.Errorf("%s: %w", path, ErrAnother)
	}
	return err
}
