package discovery

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/go-curator/curator/recipes/internal/lifecycle"
)

// begin registers what is planned.
func (all *registrations[T]) begin(ctx context.Context) error {
	all.mu.Lock()
	all.live = true
	planned := slices.Collect(maps.Keys(all.entries))
	all.mu.Unlock()
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
	if err := all.create(ctx, r, want); err != nil {
		// It stays planned for another Start.
		_ = all.set(func() { r.state, r.want = planned, want })
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
		work.Go(func() error { return r.end(ctx) })
	}
	return work.Wait()
}
