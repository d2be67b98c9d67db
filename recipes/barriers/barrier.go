package barriers

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/zkclient"
	"github.com/go-curator/curator/internal/zkconn"
	"github.com/go-curator/curator/recipes/internal/options"
	"github.com/go-curator/curator/recipes/internal/watchset"
	"github.com/go-curator/curator/tracing"
)

// Errors of this package; compare with errors.Is.
var (
	// ErrNotPassed is returned, together with ctx's error, when the barrier was closed until
	// ctx ended. If no server has answered, only ctx's error is returned.
	ErrNotPassed = errors.New("barrier not passed")

	// ErrMemberLost is returned by Leave when the member's node was deleted between Enter and
	// Leave, with its session or by an operator. The others may have left without the member.
	ErrMemberLost = errors.New("member of the barrier was lost")

	// ErrEntered is returned when Enter was called twice, and when Leave was called without Enter.
	ErrEntered = errors.New("barrier entered already, or not at all")
)

// Option is an option of the barriers.
type Option interface{ apply(*struct{}) error }

type aclOption struct{ *options.ACL }

func (o aclOption) apply(*struct{}) error { return o.Check() }

// WithACL sets the ACL of every node that the barrier creates: its own, those of members, the node that opens a
// double barrier, and the parents that are missing. The nodes of a namespace get the client's ACL, because others
// use them, too. A node that exists keeps its ACL.
//
// The list must permit the users of the barrier, this client included, what they do: to read, to create and
// to delete.
// An empty list, an entry that no server accepts, and one that permits nothing are refused with
// framework.ErrInvalidACL. No server is asked for that: if one refuses the list, what creates a node fails with
// framework.ErrInvalidACL. Without the option nodes get the client's ACL: see framework.WithDefaultACL.
//
// Java: none; there the client's ACLProvider chooses.
func WithACL(acl ...framework.ACL) Option { return aclOption{options.NewACL(acl)} }

// DistributedBarrier is a node: while it exists the barrier is closed. A nil
// *DistributedBarrier, and the zero value, return framework.ErrNotStarted.
//
// Java: DistributedBarrier, with which it shares the barrier.
type DistributedBarrier struct{ place place }

// NewDistributedBarrier returns the barrier at path. It does no I/O. Errors:
// framework.ErrInvalidPath, framework.ErrInvalidOption, framework.ErrNotStarted for a nil client.
//
// Java: DistributedBarrier.
func NewDistributedBarrier(client *framework.Client, path string, opts ...Option) (*DistributedBarrier, error) {
	p, err := newPlace(client, path, opts)
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
// the server's: framework.ErrNoAuth if the client may not read the barrier's node, and the server
// wants that for CheckExists.
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
	var first *zkconn.Stat
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
func (b *DistributedBarrier) look(ctx context.Context, watches *watchset.Set, sync bool) (now *zkconn.Stat, err error) {
	p := &b.place
	err = p.api.Retry(ctx, "exists", p.path, func(ctx context.Context, conn *zkconn.Conn) error {
		reads, idle := watches.ArmByReading([]watchset.Want{{Path: p.full, Kind: watchset.Exists}})
		for _, w := range idle {
			conn.Unwatch(&w.Watch)
		}
		call := zkconn.Exists(p.full, nil) // if the watch is set still
		if len(reads) > 0 {
			call = reads[0].Call
		}
		calls := []*zkconn.Call{call}
		if sync {
			calls = []*zkconn.Call{zkconn.Sync(p.full), call}
		}
		err := conn.DoAtQuorum(ctx, calls...)
		for _, r := range reads {
			watches.Keep(r, failure(err, call) == nil)
		}
		now = call.Stat()
		return failure(err, calls...)
	})
	return now, err
}

// explain returns the error of a wait at the barrier of a path. seen says that the barrier was
// seen closed. The effect of the call is known, whatever it has sent.
func explain(ctx context.Context, path string, err error, seen bool) error {
	if err == nil {
		return nil
	}
	ended := errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
	if ctx.Err() == nil || !ended || errors.Is(err, framework.ErrClosed) {
		return zkclient.EffectKnown(fmt.Errorf("barrier %s: %w", path, err))
	}
	if !errors.Is(err, ctx.Err()) || !errors.Is(err, context.Cause(ctx)) {
		err = zkclient.ContextError(ctx) // and not that of the clean-up
	}
	if seen {
		err = fmt.Errorf("%w: %w", ErrNotPassed, err)
	}
	return zkclient.EffectKnown(fmt.Errorf("barrier %s: %w", path, err))
}
