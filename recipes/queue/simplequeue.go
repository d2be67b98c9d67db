package queue

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/layout"
	"github.com/go-curator/curator/internal/zkclient"
	"github.com/go-curator/curator/recipes/internal/options"
)

// SimpleDistributedQueue is ZooKeeper's own queue recipe: bytes, taken by the first consumer that
// asks, at most once. It may be used by several goroutines. Methods of a nil SimpleDistributedQueue,
// and of the zero value, return framework.ErrNotStarted.
//
// Java: SimpleDistributedQueue, and DistributedQueue of ZooKeeper's recipes.
type SimpleDistributedQueue struct {
	client *framework.Client
	path   string // as the client names it
	full   string // as the server names it
}

// NewSimpleDistributedQueue returns the queue at path. It does no I/O. Errors:
// framework.ErrInvalidPath, framework.ErrInvalidOption, framework.ErrNotStarted for a nil client.
//
// Java: SimpleDistributedQueue.
func NewSimpleDistributedQueue(client *framework.Client, path string, opts ...SimpleOption) (*SimpleDistributedQueue, error) {
	client, err := options.Configure(client, new(struct{}), opts, SimpleOption.applySimple)
	if err != nil {
		return nil, err
	}
	full, err := ownPath(zkclient.Of(client), path)
	if err != nil {
		return nil, err
	}
	return &SimpleDistributedQueue{client, path, full}, nil
}

func (q *SimpleDistributedQueue) usable(ctx context.Context) error {
	switch {
	case q == nil || q.client == nil:
		return fmt.Errorf("queue: %w", framework.ErrNotStarted)
	case ctx == nil:
		return zkclient.ErrNilContext
	}
	return nil
}

func (q *SimpleDistributedQueue) failed(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("queue %s: %w", q.path, err)
}

// Offer puts data at the end. The queue's node, which is a container, is created if it is
// missing. When the reply is lost, or ctx ends, data may be in the queue: see
// framework.MaybeApplied. Offer does not try again then.
//
// Java: offer.
func (q *SimpleDistributedQueue) Offer(ctx context.Context, data []byte) error {
	if err := q.usable(ctx); err != nil {
		return err
	}
	node := q.client.Create().CreatingParentContainersIfNeeded().WithMode(framework.PersistentSequential).WithData(data)
	_, err := node.ForPath(ctx, q.path+"/"+layout.SimplePrefix)
	return q.failed(err)
}

// Peek returns the first item and leaves it. It returns ErrEmpty if there is none.
//
// Java: peek, element.
func (q *SimpleDistributedQueue) Peek(ctx context.Context) ([]byte, error) {
	return q.first(ctx, func(context.Context, string, framework.Stat) error { return nil })
}

// Poll takes the first item. If there is none it returns ErrEmpty without waiting.
//
// When ctx ends while the answer to the deletion of an item is on its way, Poll waits for it, at most
// 5 s and at most the session timeout longer than ctx. If it comes, Poll returns the item, or what became of
// it, although ctx has ended. If it does not come, or the connection is lost, the deletion is in doubt
// (framework.MaybeApplied): if it was applied, no call returns the item.
//
// Java: poll, remove.
func (q *SimpleDistributedQueue) Poll(ctx context.Context) ([]byte, error) {
	return q.first(ctx, func(ctx context.Context, path string, stat framework.Stat) error {
		return deleteAlone(ctx, q.client, path, stat.Version)
	})
}

// Take takes the first item, and waits for one until ctx ends. Then the error matches ctx's
// error, and ErrEmpty if the client saw an empty queue. An item that was being taken when ctx
// ended is returned, or in doubt, as Poll says, and Take returns as much later.
//
// Java: take, poll(timeout, unit).
func (q *SimpleDistributedQueue) Take(ctx context.Context) ([]byte, error) {
	if data, err := q.Poll(ctx); !errors.Is(err, ErrEmpty) {
		return data, err
	}
	api := zkclient.Of(q.client)
	changed, stop, err := watchChanges(ctx, api, q.path, q.full)
	if err != nil {
		return nil, q.failed(whileEmpty(ctx, err))
	}
	defer stop()
	for {
		data, err := q.Poll(ctx)
		switch {
		case errors.Is(err, ErrEmpty):
		case err != nil && ctx.Err() != nil && !framework.MaybeApplied(err):
			return nil, q.failed(whileEmpty(ctx, ctx.Err()))
		default:
			return data, err
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, q.failed(whileEmpty(ctx, ctx.Err()))
		}
	}
}

// whileEmpty returns the error of a wait in which the queue was seen to be empty.
func whileEmpty(ctx context.Context, err error) error {
	if ctx.Err() == nil {
		return err
	}
	return fmt.Errorf("%w: %w", ErrEmpty, err)
}

// first returns the data of the first item for which take succeeds. Items that others take first
// are passed over.
func (q *SimpleDistributedQueue) first(ctx context.Context, take func(ctx context.Context, path string, stat framework.Stat) error) ([]byte, error) {
	if err := q.usable(ctx); err != nil {
		return nil, err
	}
	for {
		names, err := q.names(ctx)
		if err != nil {
			return nil, q.failed(err)
		}
		if len(names) == 0 {
			return nil, q.failed(ErrEmpty)
		}
		for _, name := range names {
			path := q.path + "/" + name
			var stat framework.Stat
			data, err := q.client.GetData().StoringStatIn(&stat).ForPath(ctx, path)
			if err == nil {
				err = take(ctx, path, stat)
			}
			switch {
			case err == nil:
				return data, nil
			case !errors.Is(err, framework.ErrNoNode) && !errors.Is(err, framework.ErrBadVersion):
				return nil, q.failed(err)
			}
		}
	}
}

// names returns the names of the items, in order.
func (q *SimpleDistributedQueue) names(ctx context.Context) ([]string, error) {
	names, err := q.client.GetChildren().ForPath(ctx, q.path)
	if errors.Is(err, framework.ErrNoNode) {
		return nil, nil
	}
	names = slices.DeleteFunc(names, func(name string) bool { return !layout.SimpleItems.IsItem(name) })
	slices.Sort(names)
	return names, err
}
