package queue

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/zkclient"
)

// put stores items in one node, whose name begins with prefix.
func (q *core) put(ctx context.Context, prefix string, items [][]byte) (err error) {
	ctx, work := q.api.Telemetry().Put(ctx, q.spans, len(items))
	failed := errPanic
	defer func() { work.End(failed) }()
	if q.cfg.maxItems > 0 {
		err = q.awaitRoom(ctx)
	}
	if err == nil {
		err = q.create(ctx, prefix, encodeItems(items))
	}
	failed = err
	if err != nil {
		return q.failed(err)
	}
	return nil
}

// errPanic is recorded in spans and metrics if a function of the user panics.
var errPanic = errors.New("panic")

// createTries bounds how often a missing parent is created. Somebody deletes it if once is not
// enough.
const createTries = 5

// create creates the node of an item, and the queue's node if that is missing.
func (q *core) create(ctx context.Context, prefix string, data []byte) (err error) {
	node := q.client.Create().WithMode(framework.PersistentSequential).WithData(data)
	for range createTries {
		if _, err = node.ForPath(ctx, q.path+"/"+prefix); !errors.Is(err, framework.ErrNoNode) {
			return err
		}
		if err := ensure(ctx, q.client, q.path); err != nil {
			return err
		}
	}
	return err
}

// awaitRoom waits until the queue has less than the maximum of nodes.
func (q *core) awaitRoom(ctx context.Context) error {
	full, err := q.isFull(ctx)
	if err != nil || !full {
		return err
	}
	changed, stop, err := watchChanges(ctx, q.api, q.path, q.full)
	if err != nil {
		return q.whileFull(ctx, err)
	}
	defer stop()
	for {
		full, err := q.isFull(ctx)
		if err != nil {
			return q.whileFull(ctx, err)
		}
		if !full {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return q.whileFull(ctx, zkclient.ContextError(ctx))
		}
	}
}

// whileFull returns the error of a wait in which the queue was seen to be full.
func (q *core) whileFull(ctx context.Context, err error) error {
	if ctx.Err() == nil {
		return err
	}
	if !errors.Is(err, ctx.Err()) {
		err = errors.Join(ctx.Err(), err)
	}
	return fmt.Errorf("%w: %w", ErrFull, err)
}

// isFull reports whether the queue has the maximum of nodes.
func (q *core) isFull(ctx context.Context) (bool, error) {
	var stat framework.Stat
	_, err := q.client.CheckExists().StoringStatIn(&stat).ForPath(ctx, q.path)
	return err == nil && int(stat.NumChildren) >= q.cfg.maxItems, err
}
