package discovery

import (
	"context"
	"errors"

	"github.com/go-curator/curator/internal/zkclient"
	"github.com/go-curator/curator/recipes/cache"
	"github.com/go-curator/curator/recipes/nodes"
)

// state is what is known of the node of an instance.
type state int

const (
	absent   state = iota // it is not there: nothing is remembered
	planned               // Start is to make it
	starting              // it is being made
	kept                  // it is there, and made again when it goes
	leaving               // it is being deleted, in the background
	doubtful              // it may be there: it could not be made, or not be deleted
)

// registration is one instance of a ServiceDiscovery. turn is held by the one operation on it that
// runs. What is below it is changed by that operation alone, under the lock of the registrations.
type registration[T any] struct {
	turn chan struct{} // has room for one

	state   state
	want    wanted[T]
	pending bool                  // the node does not have the data yet
	left    bool                  // planned again: a try that failed may have left the node
	swept   <-chan struct{}       // closed when such a node, whose name is unknown, is removed; nil for none
	node    *nodes.PersistentNode // nil for none; it was not closed by a successful Close
	watch   *cache.CuratorCache   // of the node's data; nil without WithWatchInstances
}

func newRegistration[T any]() *registration[T] {
	return &registration[T]{turn: make(chan struct{}, 1)}
}

// lock waits for the turn.
func (r *registration[T]) lock(ctx context.Context) error {
	select {
	case r.turn <- struct{}{}:
		return nil
	default:
	}
	select {
	case r.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return zkclient.ContextError(ctx)
	}
}

func (r *registration[T]) unlock() { <-r.turn }

// mayBeThere reports whether a node may be there that is not kept.
func (r *registration[T]) mayBeThere() bool { return r.state == doubtful || r.left }

// fits reports whether the node of what is registered now can become that of want.
func (r *registration[T]) fits(want wanted[T]) bool {
	return r.want.path == want.path && r.want.instance.Type.mode() == want.instance.Type.mode()
}

// awaitSweep waits until the node is removed that an earlier try may have left without a known name:
// what removes it could take the next one for it.
func (r *registration[T]) awaitSweep(ctx context.Context) error {
	if r.swept == nil {
		return nil
	}
	select {
	case <-r.swept:
		r.swept = nil
		return nil
	case <-ctx.Done():
		return zkclient.ContextError(ctx)
	}
}

// end closes the keeper of an instance. Only a Permanent instance stays.
func (r *registration[T]) end(ctx context.Context) error {
	var err error
	if r.watch != nil {
		err = r.watch.Close(ctx)
	}
	switch {
	case r.node == nil:
		return err
	case r.state == kept && r.want.instance.Type == Permanent:
		return errors.Join(err, r.node.Leave(ctx))
	}
	return errors.Join(err, r.node.Close(ctx))
}
