package discovery

import (
	"context"
	"fmt"
)

// Register registers an instance, or replaces the instance with its name and id, and returns it
// with default values filled in. It returns a nil error when the node of the instance exists;
// before Start it returns immediately.
//
// An existing node of another process is taken over, see the package documentation. A node of
// this ServiceDiscovery is written, as by Update, unless the type has another kind of node:
// then it is deleted, and the instance is missing for a moment.
//
// When Register fails, the instance is not registered. If framework.MaybeApplied(err) is true,
// a node may exist for some time; it is removed in the background or at the end of the session.
// There is one exception: a Static or Permanent instance with an ID from the caller stays,
// because it may have existed before. Unregister removes it, and another Register takes it
// over. When an instance is replaced by one with the same kind of node, errors are those of
// Update, and the former instance stays registered.
//
// Errors: framework.ErrInvalidOption for an instance without a Name, with ports or a Type out of
// range, without an Address where LocalAddress finds none, or one that the serializer cannot
// write; framework.ErrInvalidPath for a name or an id that cannot be the name of a node;
// framework.ErrNoAuth, framework.ErrTooLarge; framework.ErrConnectionLoss when the client's
// retry policy gives up; framework.ErrClosed; ctx's when it ends first.
//
// Java: registerService, ServiceDiscoveryBuilder.thisInstance.
func (d *ServiceDiscovery[T]) Register(ctx context.Context, instance ServiceInstance[T]) (ServiceInstance[T], error) {
	var none ServiceInstance[T]
	if err := d.usable(ctx); err != nil {
		return none, err
	}
	chosen := instance.ID == ""
	if err := d.places.fill(&instance); err != nil {
		return none, d.explain(err)
	}
	want, err := d.places.wanted(instance)
	if err == nil {
		want.anonymous = chosen
		err = d.registrations.register(ctx, want)
	}
	if err != nil {
		return none, d.explain(fmt.Errorf("register %s: %w", instance.endpointText(), err))
	}
	return instance, nil
}

// Update replaces a registered instance without a moment at which it is missing. An empty
// Address and a zero time of registration keep their former values. When the error matches
// nodes.ErrPending, the instance is replaced later, unless it is replaced again. After any
// other error nothing has changed.
//
// What others have written into the node is overwritten: if an operator has disabled the instance,
// an Update by its owner with Disabled false enables it again. An owner can take what it does not
// want to change from QueryForInstance.
//
// Errors in addition to those of Register: ErrNotRegistered; framework.ErrInvalidOption for an
// instance without an ID, or of another Type, which only Register replaces. ctx bounds the wait
// for the server; then the error also matches ctx's error.
//
// Java: updateService.
func (d *ServiceDiscovery[T]) Update(ctx context.Context, instance ServiceInstance[T]) error {
	if err := d.usable(ctx); err != nil {
		return err
	}
	if err := d.registrations.update(ctx, instance); err != nil {
		return d.explain(fmt.Errorf("update %s: %w", instance.endpointText(), err))
	}
	return nil
}

// Unregister removes the instance that this ServiceDiscovery has registered with this name and
// id; for a DynamicSequential instance the id is without the number. It returns nil when the
// node is deleted, and for an instance that is not registered. A node that another process has
// taken over stays.
//
// The instance is not registered again, whatever the result. When ctx ends first, the error
// matches nodes.ErrDeletePending, and the deletion continues in the background, until it
// succeeds or the client is closed; Unregister may be called again to wait for it. If ctx ends
// while Unregister waits for another operation on the same instance, nothing has changed, and
// the error matches only ctx's error. Other errors: framework.ErrNotEmpty and
// framework.ErrNoAuth: the node stays, and Unregister may be called again; framework.ErrClosed.
//
// Java: unregisterService.
func (d *ServiceDiscovery[T]) Unregister(ctx context.Context, name, id string) error {
	if err := d.usable(ctx); err != nil {
		return err
	}
	if err := d.registrations.unregister(ctx, d.places.key(name, id)); err != nil {
		return d.explain(fmt.Errorf("unregister %s of %s: %w", id, name, err))
	}
	return nil
}
