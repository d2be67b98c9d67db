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

// wait waits until the node is missing; seen reports whether it was there.
func (b *DistributedBarrier) wait(ctx context.Context) (seen bool, err error) {
	watches := watchset.New()
	defer b.place.giveBack(watches)
	for {
		// A server that lags behind may show the barrier as it was before the call.
		there, err := b.look(ctx, watches, !seen)
		if err != nil || !there {
			return seen, err
		}
		seen = true
		select {
		case <-watches.C():
		case <-ctx.Done():
			return seen, ctx.Err()
		}
		for w := range watches.Backward() {
			if w.Fired() == zkconn.WatchClosed {
				return seen, framework.ErrClosed
			}
		}
	}
}

// look reports whether the node is there, and sets a watch.
func (b *DistributedBarrier) look(ctx context.Context, watches *watchset.Set, sync bool) (there bool, err error) {
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
		err := conn.Do(ctx, 0, calls...)
		for _, r := range reads {
			watches.Keep(r, err == nil && (call.Err == nil || errors.Is(call.Err, framework.ErrNoNode)))
		}
		if err != nil {
			return err
		}
		s, err := statOf(call)
		there = s != nil
		return err
	})
	return there, err
}
