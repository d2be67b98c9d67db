package barriers

import (
	"context"
	"errors"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/zkconn"
	"github.com/go-curator/curator/recipes/internal/watchset"
	"github.com/go-curator/curator/tracing"
)

// DistributedBarrier is a node: while it exists the barrier is closed. A nil
// *DistributedBarrier, and the zero value, return framework.ErrNotStarted.
//
// Java: DistributedBarrier, with which it shares the barrier.
type DistributedBarrier struct{ place place }

// NewDistributedBarrier returns the barrier at path. It does no I/O. Errors:
// framework.ErrInvalidPath, framework.ErrNotStarted for a nil client.
//
// Java: DistributedBarrier.
func NewDistributedBarrier(client *framework.Client, path string) (*DistributedBarrier, error) {
	p, err := newPlace(client, path)
	if err != nil {
		return nil, err
	}
	return &DistributedBarrier{p}, nil
}

func (b *DistributedBarrier) check(ctx context.Context) error {
	if b == nil {
		return (*place)(nil).check(ctx)
	}
	return b.place.check(ctx)
}

// Set closes the barrier; it may be closed already. It stays closed when this process ends.
// When ctx ends first the barrier may still be closed: see framework.MaybeApplied. Errors:
// ctx's error, or the server's.
//
// Java: setBarrier.
func (b *DistributedBarrier) Set(ctx context.Context) error {
	if err := b.check(ctx); err != nil {
		return err
	}
	_, err := b.place.client.Create().CreatingParentContainersIfNeeded().Idempotent().Uncompressed().ForPath(ctx, b.place.path)
	if errors.Is(err, framework.ErrNodeExists) {
		return nil
	}
	return err
}

// Remove opens the barrier; it may be open already. When ctx ends first the barrier may still
// be opened: see framework.MaybeApplied. Errors: ctx's error, or the server's.
//
// Java: removeBarrier.
func (b *DistributedBarrier) Remove(ctx context.Context) error {
	if err := b.check(ctx); err != nil {
		return err
	}
	err := b.place.client.Delete().ForPath(ctx, b.place.path)
	if errors.Is(err, framework.ErrNoNode) {
		return nil
	}
	return err
}

// Wait returns nil when the barrier was open at some moment of the call. The wait survives the
// loss of the connection and the end of the session. Errors: ErrNotPassed, ctx's error,
// framework.ErrClosed, framework.ErrConnectionLoss when the client's retry policy gives up, or
// the server's.
//
// Java: waitOnBarrier.
func (b *DistributedBarrier) Wait(ctx context.Context) (err error) {
	if err := b.check(ctx); err != nil {
		return err
	}
	ctx, span := b.place.api.Telemetry().BarrierWait(ctx, tracing.BarrierOpen, b.place.path)
	defer func() { span.End(err) }()
	seen, err := b.wait(ctx)
	return explain(ctx, b.place.path, err, seen)
}

// wait waits until the node is missing, or is another one than at first: then it was missing in between.
// seen reports whether it was there.
func (b *DistributedBarrier) wait(ctx context.Context) (seen bool, err error) {
	watches := watchset.New()
	defer b.place.giveBack(watches)
	var first stat
	for {
		// A server that lags behind may show the barrier as it was before the call.
		now, err := b.look(ctx, watches, first == nil)
		if err != nil || now == nil || first != nil && now.Czxid != first.Czxid {
			return first != nil, err
		}
		first = now
		select {
		case <-watches.C():
		case <-ctx.Done():
			return true, ctx.Err()
		}
		for w := range watches.Backward() {
			if w.Fired() == zkconn.WatchClosed {
				return true, framework.ErrClosed
			}
		}
	}
}

// look returns the node, nil if there is none, and sets a watch. It asks a server with a quorum: another
// one does not learn of changes.
func (b *DistributedBarrier) look(ctx context.Context, watches *watchset.Set, sync bool) (now stat, err error) {
	p := &b.place
	err = p.api.Retry(ctx, "exists", p.path, func(ctx context.Context, conn *zkconn.Conn) error {
		reads, idle := watches.ArmByReading([]watchset.Want{{Path: p.full, Kind: watchset.Exists}})
		for _, w := range idle {
			conn.Unwatch(&w.Watch)
		}
		call := existsCall(p.full) // if the watch is set still
		if len(reads) > 0 {
			call = reads[0].Call
		}
		calls := []*zkconn.Call{call}
		if sync {
			calls = []*zkconn.Call{p.syncCall(), call}
		}
		err := conn.DoAtQuorum(ctx, calls...)
		for _, r := range reads {
			watches.Keep(r, err == nil && (call.Err == nil || errors.Is(call.Err, framework.ErrNoNode)))
		}
		if err != nil {
			return err
		}
		if calls[0].Err != nil && sync {
			return calls[0].Err
		}
		now, err = statOf(call)
		return err
	})
	return now, err
}
