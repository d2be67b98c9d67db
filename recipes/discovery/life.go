package discovery

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/recipes/internal/lifecycle"
)

// prepare has Register register by itself from now on.
func (all *registrations[T]) prepare(context.Context) error {
	all.mu.Lock()
	defer all.mu.Unlock()
	all.live = true
	return nil
}

// known returns the keys of all instances.
func (all *registrations[T]) known() []key {
	all.mu.Lock()
	defer all.mu.Unlock()
	return slices.Collect(maps.Keys(all.entries))
}

// begin registers what is planned.
func (all *registrations[T]) begin(ctx context.Context) error {
	if all.places.cfg.background {
		return all.beginAgain(ctx)
	}
	_ = all.prepare(ctx)
	planned := all.known()
	work, workCtx := errgroup.WithContext(ctx)
	work.SetLimit(atOnce)
	for _, k := range planned {
		work.Go(func() error { return all.carryOut(workCtx, k) })
	}
	err := work.Wait()
	if err == nil {
		return nil
	}
	cleanUp, cancel := lifecycle.CleanUp(ctx)
	defer cancel()
	return errors.Join(err, all.revert(cleanUp))
}

// beginAgain is one try of a Start in the background: what it has registered stays. It returns one of
// the errors, if possible one that another try may not change.
func (all *registrations[T]) beginAgain(ctx context.Context) error {
	var work errgroup.Group
	work.SetLimit(atOnce)
	var mu sync.Mutex
	var failure error
	for _, k := range all.known() {
		work.Go(func() error {
			err := all.carryOut(ctx, k)
			mu.Lock()
			defer mu.Unlock()
			if err != nil && (failure == nil || framework.Retryable(failure)) {
				failure = err
			}
			return nil
		})
	}
	_ = work.Wait()
	return failure
}

// carryOut registers an instance that is planned.
func (all *registrations[T]) carryOut(ctx context.Context, k key) error {
	r, err := all.take(ctx, k, false)
	if r == nil || err != nil {
		return err
	}
	defer all.give(k, r)
	if r.state != planned {
		return nil
	}
	want := r.want
	err = r.awaitSweep(ctx)
	if err == nil {
		err = all.create(ctx, r, want)
	}
	if err != nil {
		// It stays planned for another try.
		_ = all.set(func() { r.left, r.state, r.want = r.left || r.state == doubtful, planned, want })
		return fmt.Errorf("register %s: %w", want.instance.endpointText(), err)
	}
	return nil
}

// revert unregisters what a failed begin has registered.
func (all *registrations[T]) revert(ctx context.Context) error {
	all.mu.Lock()
	all.live = false
	known := maps.Clone(all.entries)
	all.mu.Unlock()
	var work errgroup.Group
	work.SetLimit(atOnce)
	for k, r := range known {
		work.Go(func() error {
			if err := r.lock(ctx); err != nil {
				return err
			}
			defer all.give(k, r)
			if r.state != kept {
				return nil
			}
			err := all.remove(ctx, r)
			return errors.Join(err, all.set(func() { r.state = planned }))
		})
	}
	return work.Wait()
}

// end unregisters everything but what is Permanent.
func (all *registrations[T]) end(ctx context.Context) error {
	all.mu.Lock()
	all.closed, all.live = true, false
	known := slices.Collect(maps.Values(all.entries))
	all.mu.Unlock()
	// Nobody changes a registration any more: see set.
	var work errgroup.Group
	work.SetLimit(atOnce)
	for _, r := range known {
		work.Go(func() error { return errors.Join(r.end(ctx), all.deleteLeft(ctx, r)) })
	}
	return work.Wait()
}

// deleteLeft deletes what a Start that has not succeeded may have left of an instance. An ephemeral
// node is being removed, or goes with its session.
func (all *registrations[T]) deleteLeft(ctx context.Context, r *registration[T]) error {
	if !r.left || r.want.instance.Type != Static {
		return nil
	}
	ctx, cancel := lifecycle.Reachable(ctx, all.places.api)
	defer cancel()
	return all.deletePath(ctx, r.want.path)
}
