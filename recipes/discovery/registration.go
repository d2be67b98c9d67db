package discovery

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/zkclient"
	"github.com/go-curator/curator/recipes/cache"
	"github.com/go-curator/curator/recipes/internal/lifecycle"
	"github.com/go-curator/curator/recipes/internal/turns"
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

// shared is what the registrations of a ServiceDiscovery have in common.
type shared[T any] struct {
	places *places[T]
	turns  *turns.Turns
	keeps  func(path string) bool // whether a node is that of a registration

	mu     sync.Mutex // also of all registrations
	live   bool       // from Start to Close
	closed bool
}

// registration is one instance of a ServiceDiscovery. turn is held by the one operation on it that
// runs. What is below it is changed by that operation alone, under the lock of the registrations.
type registration[T any] struct {
	all  *shared[T]
	turn chan struct{} // has room for one

	state   state
	want    wanted[T]
	pending bool                  // the node does not have the data yet
	left    bool                  // planned again: a try that failed may have left the node
	swept   <-chan struct{}       // closed when such a node, whose name is unknown, is removed; nil for none
	node    *nodes.PersistentNode // nil for none; it was not closed by a successful Close
	watch   *cache.CuratorCache   // of the node's data; nil without WithWatchInstances
}

func newRegistration[T any](all *shared[T]) *registration[T] {
	return &registration[T]{all: all, turn: make(chan struct{}, 1)}
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

// set changes a registration, unless everything is closed.
func (r *registration[T]) set(change func()) error {
	r.all.mu.Lock()
	defer r.all.mu.Unlock()
	if r.all.closed {
		return framework.ErrClosed
	}
	change()
	return nil
}

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

// create makes the node of an instance, which is not there, and keeps it.
func (r *registration[T]) create(ctx context.Context, want wanted[T]) error {
	node, err := r.nodeFor(ctx, want)
	if err != nil {
		return err
	}
	doubt := r.mayBeThere()
	if err := r.set(func() { r.state, r.want, r.node, r.pending = starting, want, node, false }); err != nil {
		return err
	}
	if err := node.Start(ctx); err != nil { // also when end closes the node
		return errors.Join(err, r.clearAway(ctx, doubt, err))
	}
	if err := r.set(func() { r.state, r.left = kept, false }); err != nil || !r.all.places.cfg.watch {
		return err
	}
	if err := r.startWatch(ctx); err != nil {
		cleanUp, cancel := lifecycle.CleanUp(ctx)
		defer cancel()
		return errors.Join(err, r.remove(cleanUp))
	}
	return nil
}

// nodeFor returns the keeper of an instance's node. A keeper whose Start has failed is used again
// if it fits: it stops the removal, in the background, of what it may have left.
func (r *registration[T]) nodeFor(ctx context.Context, want wanted[T]) (*nodes.PersistentNode, error) {
	if r.mayBeThere() && r.node != nil && r.fits(want) {
		return r.node, r.node.SetData(ctx, want.data) // before Start it does not wait
	}
	opts := []nodes.Option{nodes.WithTakeover(), nodes.WithTurns(r.all.turns)}
	if name := r.all.places.cfg.name; name != "" {
		opts = append(opts, nodes.WithName(name))
	}
	return nodes.NewPersistentNode(r.all.places.client, want.path, want.instance.Type.mode(), want.data, opts...)
}

// clearAway follows the failed Start of a keeper. It removes what may be left of it, unless
// somebody else may know the node. doubt says that something may have been left before.
func (r *registration[T]) clearAway(ctx context.Context, doubt bool, why error) error {
	next := absent
	if doubt {
		next = doubtful
	}
	if framework.MaybeApplied(why) {
		switch {
		case r.want.instance.Type == DynamicSequential:
			r.swept = r.all.places.sweep(r.want, r.all.keeps)
		case !r.want.anonymous:
			next = doubtful // an ephemeral node is being removed, but another Register may stop that
		case r.want.instance.Type != Dynamic:
			remove := r.all.places.client.Delete().Guaranteed()
			_ = remove.InBackground(context.WithoutCancel(ctx), r.want.path, func(context.Context, error) {})
		}
	}
	err := r.set(func() { r.state = next })
	if errors.Is(err, framework.ErrClosed) && errors.Is(why, framework.ErrClosed) {
		return nil
	}
	return err
}

// write writes the data of an instance whose node is kept.
func (r *registration[T]) write(ctx context.Context, want wanted[T]) error {
	err := r.node.SetData(ctx, want.data)
	pending := errors.Is(err, nodes.ErrPending)
	if err == nil || pending {
		if closed := r.set(func() { r.want, r.pending = want, pending }); err == nil {
			err = closed
		}
	}
	return err
}

// remove deletes the node of an instance. The node is not kept any more, even if the deletion
// fails.
func (r *registration[T]) remove(ctx context.Context) error {
	var watchErr error
	if r.watch != nil {
		watchErr = r.watch.Close(ctx)
	}
	err := r.node.Close(ctx)
	closed := r.set(func() {
		r.watch = nil
		switch {
		case err == nil:
			r.state, r.node = absent, nil
		case errors.Is(err, nodes.ErrDeletePending):
			r.state = leaving
		default:
			r.state, r.want.path, r.node = doubtful, r.node.ActualPath(), nil
		}
	})
	return errors.Join(err, watchErr, closed)
}

// delete deletes a node that may not exist.
func (r *registration[T]) delete(ctx context.Context) error {
	if err := r.deletePath(ctx); err != nil {
		return err
	}
	return r.set(func() { r.state, r.node, r.left = absent, nil, false })
}

// deletePath deletes the node, which may not exist, if necessary in the background.
func (r *registration[T]) deletePath(ctx context.Context) error {
	err := r.all.places.client.Delete().Guaranteed().ForPath(ctx, r.want.path)
	if errors.Is(err, framework.ErrNoNode) {
		err = nil
	}
	if err != nil && ctx.Err() != nil {
		err = fmt.Errorf("%w: %w", nodes.ErrDeletePending, err)
	}
	return err
}

// end follows the end of the ServiceDiscovery, after which nobody changes a registration: see set. It closes
// the keeper of an instance. Only a Permanent instance stays.
func (r *registration[T]) end(ctx context.Context) error {
	var err error
	if r.watch != nil {
		err = r.watch.Close(ctx)
	}
	switch {
	case r.node == nil:
	case r.state == kept && r.want.instance.Type == Permanent:
		err = errors.Join(err, r.node.Leave(ctx))
	default:
		err = errors.Join(err, r.node.Close(ctx))
	}
	return errors.Join(err, r.deleteLeft(ctx))
}

// deleteLeft deletes what a Start that has not succeeded may have left of an instance. An ephemeral
// node is being removed, or goes with its session.
func (r *registration[T]) deleteLeft(ctx context.Context) error {
	if !r.left || r.want.instance.Type != Static {
		return nil
	}
	ctx, cancel := lifecycle.Reachable(ctx, r.all.places.api)
	defer cancel()
	return r.deletePath(ctx)
}

// startWatch takes over what others write into the node of an instance from now on.
func (r *registration[T]) startWatch(ctx context.Context) error {
	path := r.node.ActualPath()
	c, err := cache.NewNodeCache(r.all.places.client, path)
	if err != nil {
		return err
	}
	c.Listenable().Add(func(ctx context.Context, event cache.Event) {
		if event.Type == cache.NodeCreated || event.Type == cache.NodeChanged {
			r.onWritten(ctx, path, event.New.Data)
		}
	})
	if err := c.Start(ctx); err != nil {
		return err
	}
	if err := r.set(func() { r.watch = c }); err != nil {
		return errors.Join(err, c.Close(ctx))
	}
	return nil
}

// onWritten checks whether others have written the data of a node. It is also called for our own
// writes, and later than they were made. So it waits until no operation on the instance runs,
// because the data that the node should have is not known before.
func (r *registration[T]) onWritten(ctx context.Context, path string, data []byte) {
	if err := r.lock(ctx); err != nil {
		return // the watch is being closed
	}
	defer r.unlock()
	if r.state != kept || bytes.Equal(data, r.want.data) && !r.pending {
		return
	}
	places := r.all.places
	var stat framework.Stat
	data, err := places.client.GetData().StoringStatIn(&stat).ForPath(ctx, path)
	switch {
	case err != nil:
		return // there is another event when the node is made again, or after a reconnect
	case stat.EphemeralOwner != 0 && stat.EphemeralOwner != places.client.SessionID():
		return // another process has taken the instance over: its node, not what this one wants
	case bytes.Equal(data, r.want.data):
		_ = r.set(func() { r.pending = false })
		return
	case r.pending: // it has what was there before
		return
	}
	instance, err := places.decode(data)
	former := &r.want.instance
	if err != nil || instance.Name != former.Name || instance.ID != former.ID || instance.Type != former.Type {
		places.leaveOut(path, errors.Join(err, errForeignData))
		return
	}
	want := r.want
	want.instance, want.data = instance, data
	if err := r.node.SetData(ctx, data); err == nil || errors.Is(err, nodes.ErrPending) {
		_ = r.set(func() { r.want = want })
	}
}
