package queue

import (
	"context"
	"errors"

	"github.com/go-curator/curator/internal/wait"
	"github.com/go-curator/curator/internal/zkclient"
	"github.com/go-curator/curator/internal/zkconn"
	"github.com/go-curator/curator/recipes/internal/lifecycle"
)

// watchChanges watches a node, which need not exist, and its children. The channel has room for
// one signal, which is given after every change, and after every reconnect. stop gives the watch
// back.
func watchChanges(ctx context.Context, api *zkclient.Client, path, full string) (changed <-chan struct{}, stop func(), err error) {
	signal := wait.NewSignal()
	sub := zkconn.NewSubscription(full, false, func(zkconn.WatchEvent) { signal.Set() })
	if err := subscribe(ctx, api, path, sub); err != nil {
		return nil, nil, err
	}
	return signal, func() { unsubscribe(ctx, api, sub) }, nil
}

func subscribe(ctx context.Context, api *zkclient.Client, path string, sub *zkconn.Subscription) error {
	return api.Retry(ctx, "addWatch", path, func(ctx context.Context, conn *zkconn.Conn) error {
		return notApplied(conn.Subscribe(ctx, sub))
	})
}

// unsubscribe gives a watch back. It waits for the server's answer, for a second at most if ctx
// has ended.
func unsubscribe(ctx context.Context, api *zkclient.Client, sub *zkconn.Subscription) {
	conn, err := api.Conn()
	if err != nil {
		return // the watch has gone with the client
	}
	ctx, cancel := lifecycle.CleanUp(ctx)
	defer cancel()
	ctx, stop := lifecycle.Reachable(ctx, api)
	defer stop()
	_ = conn.Unsubscribe(ctx, sub) // the watch goes with the connection at the latest
}

// notApplied marks the error of a read, which has applied nothing.
func notApplied(err error) error {
	if unanswered, ok := errors.AsType[*zkconn.TransportError](err); ok {
		return &zkconn.TransportError{Err: unanswered.Err, Detail: unanswered.Detail}
	}
	return err
}
