package queue

import (
	"context"
	"errors"
	"sync"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/zkclient"
	"github.com/go-curator/curator/internal/zkconn"
	"github.com/go-curator/curator/recipes/internal/lifecycle"
	"github.com/go-curator/curator/recipes/internal/watchset"
)

// watched is a node to be watched, which need not exist, with all below it if recursive, or its children. on gets the
// events. A server before ZooKeeper 3.6 has no persistent watches. Then on gets NodeChildrenChanged of the node after
// every change of the node or of its children, and WatchReset after a reconnect.
type watched struct {
	api       *zkclient.Client
	path      string
	full      string // the server's path
	recursive bool   // as of zkconn.NewSubscription
	on        func(zkconn.WatchEvent)
}

// begin sets the watch by calls of try, which repeats a request about a path as long as its caller wants. stop
// gives the watch back.
func (w watched) begin(ctx context.Context, try func(ctx context.Context, op, path string, fn zkclient.Try) error) (stop func(), err error) {
	sub := zkconn.NewSubscription(w.full, w.recursive, w.on)
	err = try(ctx, "addWatch", w.path, func(ctx context.Context, conn *zkconn.Conn) error {
		return zkclient.NotApplied(conn.Subscribe(ctx, sub))
	})
	switch {
	case err == nil:
		return func() { w.unsubscribe(ctx, sub) }, nil
	case !errors.Is(err, framework.ErrUnimplemented):
		return nil, err
	}
	o := &oneShots{watched: w, set: watchset.New()}
	if err := try(ctx, "exists", w.path, o.arm); err != nil {
		o.end()
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	var follower sync.WaitGroup
	follower.Go(func() { o.follow(ctx) })
	return func() {
		cancel()
		follower.Wait()
		o.end()
	}, nil
}

// unsubscribe gives a watch back. It waits for the server's answer, for a second at most if ctx
// has ended.
func (w watched) unsubscribe(ctx context.Context, sub *zkconn.Subscription) {
	conn, err := w.api.Conn()
	if err != nil {
		return // the watch has gone with the client
	}
	ctx, cancel := lifecycle.CleanUp(ctx)
	defer cancel()
	ctx, stop := lifecycle.Reachable(ctx, w.api)
	defer stop()
	_ = conn.Unsubscribe(ctx, sub) // the watch goes with the connection at the latest
}

// oneShots has the watches in place of a persistent one: on the node, and on its children if it is there.
type oneShots struct {
	watched
	set *watchset.Set
}

// arm sets the watches that are not set.
func (o *oneShots) arm(ctx context.Context, conn *zkconn.Conn) error {
	reads, idle := o.set.ArmByReading([]watchset.Want{{Path: o.full, Kind: watchset.Exists}, {Path: o.full, Kind: watchset.Children}})
	for _, w := range idle {
		conn.Unwatch(&w.Watch)
	}
	calls := make([]*zkconn.Call, 0, len(reads))
	for _, r := range reads {
		calls = append(calls, r.Call)
	}
	err := conn.Do(ctx, 0, calls...)
	for _, r := range reads {
		missing := errors.Is(r.Call.Err, framework.ErrNoNode)
		o.set.Keep(r, r.Call.Err == nil || missing && r.Kind == watchset.Exists)
		if err == nil && !missing {
			err = r.Call.Err
		}
	}
	return zkclient.NotApplied(err)
}

// follow sets the watches again when they fire, and then reports a change: what the reader of the events reads
// after that is as new as the watches.
func (o *oneShots) follow(ctx context.Context) {
	conn, err := o.api.Conn()
	again := func(error) bool {
		_, closed := o.api.Conn()
		return closed == nil
	}
	for err == nil {
		select {
		case <-o.set.C():
		case <-ctx.Done():
			return
		}
		what := zkconn.NodeChildrenChanged
		if o.set.OnlyReset() {
			what = zkconn.WatchReset
		}
		err = zkclient.RetryForever(ctx, conn, retryPace(), again, func(ctx context.Context) error {
			err := o.arm(ctx, conn)
			if err != nil && !framework.Retryable(err) {
				o.tell(what) // the reader finds out itself
			}
			return err
		})
		o.tell(what)
	}
	if ctx.Err() == nil {
		o.tell(zkconn.WatchClosed)
	}
}

func (o *oneShots) tell(what zkconn.EventType) { o.on(zkconn.WatchEvent{Type: what, Path: o.full}) }

// end gives the watches back.
func (o *oneShots) end() {
	if conn, err := o.api.Conn(); err == nil { // else they have gone with the client
		o.set.Close(conn, nil)
	}
}
