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
	shared[T]
	entries map[key]*registration[T]
}

func newRegistrations[T any](p *places[T]) *registrations[T] {
	all := &registrations[T]{entries: map[key]*registration[T]{}}
	all.places, all.turns, all.keeps = p, turns.New(atOnce, all.spread), all.hasNode
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
		r = newRegistration(&all.shared)
		all.entries[k] = r
	}
	return r, nil
}

// give ends the turn of an instance, and forgets it if nothing is left of it.
func (all *registrations[T]) give(k key, r *registration[T]) {
	all.mu.Lock()
	if r.state == absent && all.entries[k] == r { // r may be forgotten already, and k registered again
		delete(all.entries, k)
	}
	all.mu.Unlock()
	r.unlock()
}

// hasNode reports whether a node is one that is registered.
func (all *registrations[T]) hasNode(path string) bool {
	all.mu.Lock()
	defer all.mu.Unlock()
	for _, r := range all.entries {
		if r.node != nil && r.node.ActualPath() == path {
			return true
		}
	}
	return false
}

func (all *registrations[T]) isLive() bool {
	all.mu.Lock()
	defer all.mu.Unlock()
	return all.live
}

// register registers an instance, or replaces it.
func (all *registrations[T]) register(ctx context.Context, want wanted[T]) error {
	r, err := all.take(ctx, want.key, true)
	if err != nil {
		return err
	}
	defer all.give(want.key, r)
	former := r.want.instance.Type
	switch {
	case !all.isLive():
		// Another try follows one that fails, and must find what that has left.
		want.anonymous = want.anonymous && !all.places.cfg.background
		return r.set(func() {
			if !r.fits(want) {
				r.node = nil // of a Start that has failed
			}
			r.state, r.want = planned, want
		})
	case r.state == kept && former.mode() == want.instance.Type.mode():
		return r.write(ctx, want)
	case r.state == kept, r.state == leaving:
		if err := r.remove(ctx); err != nil {
			return err
		}
	}
	return r.create(ctx, want)
}

func (all *registrations[T]) update(ctx context.Context, instance ServiceInstance[T]) error {
	if instance.ID == "" {
		return fmt.Errorf("%w: the instance has no ID", framework.ErrInvalidOption)
	}
	k := all.places.key(instance.Name, instance.ID)
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
		return r.set(func() { r.want = want })
	}
	return r.write(ctx, want)
}

func (all *registrations[T]) unregister(ctx context.Context, k key) error {
	r, err := all.take(ctx, k, false)
	if r == nil || err != nil {
		return err
	}
	defer all.give(k, r)
	switch r.state {
	case kept, leaving:
		return r.remove(ctx)
	case doubtful:
		return r.delete(ctx)
	case planned:
		if r.left { // it is not registered again, whatever becomes of that
			return errors.Join(r.set(func() { r.state = doubtful }), r.delete(ctx))
		}
	}
	return r.set(func() { r.state = absent })
}

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
		err = r.create(ctx, want)
	}
	if err != nil {
		// It stays planned for another try.
		_ = r.set(func() { r.left, r.state, r.want = r.left || r.state == doubtful, planned, want })
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
			err := r.remove(ctx)
			return errors.Join(err, r.set(func() { r.state = planned }))
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
	var work errgroup.Group
	work.SetLimit(atOnce)
	for _, r := range known {
		work.Go(func() error { return r.end(ctx) })
	}
	return work.Wait()
}
