package framework

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/recipeapi"
	"github.com/go-curator/curator/internal/zkconn"
)

type protectedNames struct{ all, matching []string }

// findProtected lists dir as it was at some time after the call, and returns the names
// that begin with prefix.
func findProtected(ctx context.Context, conn *zkconn.Conn, dir, prefix string) (protectedNames, int64, error) {
	var children jute.GetChildren2Response
	calls := []*zkconn.Call{
		{Op: jute.OpSync, Req: &jute.PathRequest{Path: dir}, Res: &jute.SyncResponse{}},
		{Op: jute.OpGetChildren2, Req: &jute.PathWatchRequest{Path: dir}, Res: &children},
	}
	if err := conn.Do(ctx, 0, calls...); err != nil {
		return protectedNames{}, 0, err
	}
	for _, call := range calls {
		if call.Err != nil && !errors.Is(call.Err, ErrNoNode) {
			return protectedNames{}, 0, call.Err
		}
	}
	names := protectedNames{all: children.Children}
	for _, name := range children.Children {
		if strings.HasPrefix(name, prefix) {
			names.matching = append(names.matching, name)
		}
	}
	return names, calls[1].Session, nil
}

// removeProtected deletes the nodes in dir whose names begin with prefix.
func removeProtected(ctx context.Context, conn *zkconn.Conn, dir, prefix string) error {
	names, session, err := findProtected(ctx, conn, dir, prefix)
	for _, name := range names.matching {
		if err := deleteNode(ctx, conn, session, join(dir, name), anyVersion); err != nil && !errors.Is(err, ErrNoNode) {
			return err
		}
	}
	return err
}

// removeLostCreates removes the nodes in dir whose names begin with prefix, in the background. It
// returns nil when the client is closed. cause is the context of the create.
func (c *core) removeLostCreates(cause context.Context, dir, prefix string) *recipeapi.PendingDelete {
	op := c.background(cause, c.conn.Load(), join(dir, prefix), 1) // may panic in a user's tracer
	if !c.beginRemoval() {
		op.end(0, ErrClosed)
		return nil
	}
	r := &recipeapi.PendingDelete{Done: make(chan struct{})}
	go func() {
		defer c.endRemoval()
		defer close(r.Done)
		err := op.untilKnown(func(ctx context.Context, conn *zkconn.Conn) error {
			return removeProtected(ctx, conn, dir, prefix)
		})
		if err != nil {
			c.giveUp(fmt.Sprintf("remove what a lost create may have made at %s/%s", dir, prefix), err)
		}
	}()
	return r
}
