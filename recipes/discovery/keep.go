package discovery

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/recipes/internal/lifecycle"
	"github.com/go-curator/curator/recipes/nodes"
)

// create makes the node of an instance, which is not there, and keeps it.
func (all *registrations[T]) create(ctx context.Context, r *registration[T], want wanted[T]) error {
	node, err := all.nodeFor(ctx, r, want)
	if err != nil {
		return err
	}
	doubt := r.mayBeThere()
	if err := all.set(func() { r.state, r.want, r.node, r.pending = starting, want, node, false }); err != nil {
		return err
	}
	if err := node.Start(ctx); err != nil { // also when end closes the node
		return errors.Join(err, all.clearAway(ctx, r, doubt, err))
	}
	if err := all.set(func() { r.state, r.left = kept, false }); err != nil || !all.places.cfg.watch {
		return err
	}
	if err := all.watch(ctx, r); err != nil {
		cleanUp, cancel := lifecycle.CleanUp(ctx)
		defer cancel()
		return errors.Join(err, all.remove(cleanUp, r))
	}
	return nil
}

// nodeFor returns the keeper of an instance's node. A keeper whose Start has failed is used again
// if it fits: it stops the removal, in the background, of what it may have left.
func (all *registrations[T]) nodeFor(ctx context.Context, r *registration[T], want wanted[T]) (*nodes.PersistentNode, error) {
	if r.mayBeThere() && r.node != nil && r.fits(want) {
		return r.node, r.node.SetData(ctx, want.data) // before Start it does not wait
	}
	opts := []nodes.Option{nodes.WithTakeover(), nodes.WithTurns(all.turns)}
	if name := all.places.cfg.name; name != "" {
		opts = append(opts, nodes.WithName(name))
	}
	return nodes.NewPersistentNode(all.places.client, want.path, want.instance.Type.mode(), want.data, opts...)
}

// clearAway follows the failed Start of a keeper. It removes what may be left of it, unless
// somebody else may know the node. doubt says that something may have been left before.
func (all *registrations[T]) clearAway(ctx context.Context, r *registration[T], doubt bool, why error) error {
	next := absent
	if doubt {
		next = doubtful
	}
	if framework.MaybeApplied(why) {
		switch {
		case r.want.instance.Type == DynamicSequential:
			r.swept = all.sweep(r.want)
		case !r.want.anonymous:
			next = doubtful // an ephemeral node is being removed, but another Register may stop that
		case r.want.instance.Type != Dynamic:
			remove := all.places.client.Delete().Guaranteed()
			_ = remove.InBackground(context.WithoutCancel(ctx), r.want.path, func(context.Context, error) {})
		}
	}
	err := all.set(func() { r.state = next })
	if errors.Is(err, framework.ErrClosed) && errors.Is(why, framework.ErrClosed) {
		return nil
	}
	return err
}

// remove deletes the node of an instance. The node is not kept any more, even if the deletion
// fails.
func (all *registrations[T]) remove(ctx context.Context, r *registration[T]) error {
	var watchErr error
	if r.watch != nil {
		watchErr = r.watch.Close(ctx)
	}
	err := r.node.Close(ctx)
	closed := all.set(func() {
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
func (all *registrations[T]) delete(ctx context.Context, r *registration[T]) error {
	if err := all.deletePath(ctx, r.want.path); err != nil {
		return err
	}
	return all.set(func() { r.state, r.node, r.left = absent, nil, false })
}

// deletePath deletes a node that may not exist, if necessary in the background.
func (all *registrations[T]) deletePath(ctx context.Context, path string) error {
	err := all.places.client.Delete().Guaranteed().ForPath(ctx, path)
	if errors.Is(err, framework.ErrNoNode) {
		err = nil
	}
	if err != nil && ctx.Err() != nil {
		err = fmt.Errorf("%w: %w", nodes.ErrDeletePending, err)
	}
	return err
}
