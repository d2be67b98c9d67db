package discovery

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/recipes/nodes"
)

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
		return all.set(func() {
			if !r.fits(want) {
				r.node = nil // of a Start that has failed
			}
			r.state, r.want = planned, want
		})
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
	case planned:
		if r.left { // it is not registered again, whatever becomes of that
			return errors.Join(all.set(func() { r.state = doubtful }), all.delete(ctx, r))
		}
	}
	return all.set(func() { r.state = absent })
}
