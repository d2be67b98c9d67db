package discovery

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/recipes/internal/lifecycle"
	"github.com/go-curator/curator/recipes/internal/turns"
	"github.com/go-curator/curator/recipes/nodes"
)

const (
	// atOnce is how many instances are registered, registered again or unregistered at a time.
	atOnce = 16
	// crowd is how many instances are registered again without waiting.
	crowd = 100
	// spacing is what each of more instances adds to the random time.
	spacing = 200 * time.Microsecond
)

// registrations are the instances of a ServiceDiscovery.
type registrations[T any] struct {
	places *places[T]
	turns  *turns.Turns

	mu      sync.Mutex
	entries map[key]*registration[T]
	live    bool // from Start to Close
	closed  bool
}

func newRegistrations[T any](p *places[T]) *registrations[T] {
	all := &registrations[T]{places: p, entries: map[key]*registration[T]{}}
	all.turns = turns.New(atOnce, all.spread)
	return all
}

// spread is the time over which instances are registered again.
func (all *registrations[T]) spread() time.Duration {
	all.mu.Lock()
	defer all.mu.Unlock()
	if len(all.entries) <= crowd {
		return 0
	}
	return time.Duration(len(all.entries)) * spacing
}

// take waits for the turn of an instance, and returns nil if it is not known and not to be
// created. give ends the turn.
func (all *registrations[T]) take(ctx context.Context, k key, create bool) (*registration[T], error) {
	for {
		r, err := all.find(k, create)
		if r == nil || err != nil {
			return nil, err
		}
		if err := r.lock(ctx); err != nil {
			return nil, err
		}
		again, err := all.find(k, false)
		if again == r && err == nil {
			return r, nil
		}
		r.unlock() // it was forgotten meanwhile
		if err != nil {
			return nil, err
		}
	}
}

func (all *registrations[T]) find(k key, create bool) (*registration[T], error) {
	all.mu.Lock()
	defer all.mu.Unlock()
	if all.closed {
		return nil, framework.ErrClosed
	}
	r := all.entries[k]
	if r == nil && create {
		r = newRegistration[T]()
		all.entries[k] = r
	}
	return r, nil
}

// give ends the turn of an instance, and forgets it if nothing is left of it.
func (all *registrations[T]) give(k key, r *registration[T]) {
	all.mu.Lock()
	if r.state == absent {
		delete(all.entries, k)
	}
	all.mu.Unlock()
	r.unlock()
}

// set changes a registration, unless everything is closed.
func (all *registrations[T]) set(change func()) error {
	all.mu.Lock()
	defer all.mu.Unlock()
	if all.closed {
		return framework.ErrClosed
	}
	change()
	return nil
}

func (all *registrations[T]) isLive() bool {
	all.mu.Lock()
	defer all.mu.Unlock()
	return all.live
}

func (all *registrations[T]) register(ctx context.Context, want wanted[T]) error {
	r, err := all.take(ctx, want.key(), true)
	if err != nil {
		return err
	}
	defer all.give(want.key(), r)
	former := r.want.instance.Type
	switch {
	case !all.isLive():
		return all.set(func() { r.state, r.want = planned, want })
	case r.state == kept && former.mode() == want.instance.Type.mode():
		return all.write(ctx, r, want)
	case r.state == kept, r.state == leaving:
		if err := all.remove(ctx, r); err != nil {
			return err
		}
	}
	return all.create(ctx, r, want)
}

func (all *registrations[T]) update(ctx context.Context, instance ServiceInstance[T]) error {
	if instance.ID == "" {
		return fmt.Errorf("%w: the instance has no ID", framework.ErrInvalidOption)
	}
	k := key{instance.Name, instance.ID}
	r, err := all.take(ctx, k, false)
	if err != nil {
		return err
	}
	if r == nil {
		return ErrNotRegistered
	}
	defer all.give(k, r)
	if r.state != kept && r.state != planned {
		return ErrNotRegistered
	}
	former := &r.want.instance
	if former.Type != instance.Type {
		return fmt.Errorf("%w: the instance's Type is %v and was %v", framework.ErrInvalidOption, instance.Type, former.Type)
	}
	if instance.Registered.IsZero() {
		instance.Registered = former.Registered
	}
	instance.Registered = milliseconds(instance.Registered)
	if instance.Address == "" {
		instance.Address = former.Address
	}
	want, err := all.places.wanted(instance)
	if err != nil {
		return err
	}
	want.anonymous = r.want.anonymous
	if r.state == planned {
		return all.set(func() { r.want = want })
	}
	return all.write(ctx, r, want)
}

// write writes the data of an instance whose node is kept.
func (all *registrations[T]) write(ctx context.Context, r *registration[T], want wanted[T]) error {
	err := r.node.SetData(ctx, want.data)
	pending := errors.Is(err, nodes.ErrPending)
	if err == nil || pending {
		if closed := all.set(func() { r.want, r.pending = want, pending }); err == nil {
			err = closed
		}
	}
	return err
}

func (all *registrations[T]) unregister(ctx context.Context, k key) error {
	r, err := all.take(ctx, k, false)
	if r == nil || err != nil {
		return err
	}
	defer all.give(k, r)
	switch r.state {
	case kept, leaving:
		return all.remove(ctx, r)
	case doubtful:
		return all.delete(ctx, r)
	}
	return all.set(func() { r.state = absent })
}

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
