package discovery

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/framework/codec"
	"github.com/go-curator/curator/internal/zkclient"
	"github.com/go-curator/curator/recipes/internal/lifecycle"
)

// ServiceDiscovery registers instances and looks them up. Look-ups need no Start. A nil
// ServiceDiscovery and the zero value have no instances, and cannot be started.
//
// Java: ServiceDiscovery.
type ServiceDiscovery[T any] struct {
	life          lifecycle.Lifecycle
	places        *places[T]
	registrations *registrations[T]
	parts         *parts
}

var _ framework.Component = (*ServiceDiscovery[any])(nil)

// NewServiceDiscovery returns the registry below basePath. It does no I/O. serializer is
// usually JSON. Errors: framework.ErrInvalidPath; framework.ErrInvalidOption, also for a nil
// serializer; framework.ErrNotStarted for a nil client.
//
// Java: ServiceDiscoveryBuilder.
func NewServiceDiscovery[T any](client *framework.Client, basePath string, serializer codec.Codec[ServiceInstance[T]], opts ...Option) (*ServiceDiscovery[T], error) {
	client, cfg, err := newConfig(client, opts)
	switch {
	case err != nil:
		return nil, err
	case client == nil:
		return nil, framework.ErrNotStarted
	case serializer == nil:
		return nil, errNilCodec("NewServiceDiscovery")
	}
	if _, err := zkclient.Of(client).ServerPath(basePath); err != nil {
		return nil, err
	}
	p := &places[T]{client: client, api: zkclient.Of(client), base: basePath, codec: serializer, cfg: cfg}
	d := &ServiceDiscovery[T]{places: p, registrations: newRegistrations(p), parts: newParts()}
	if cfg.background {
		d.life.InBackground(lifecycle.Background{Client: client, What: "service discovery " + basePath, Prepare: d.registrations.prepare})
	}
	return d, nil
}

// Start registers the instances of earlier Register calls, at most 16 at the same time, and
// keeps them registered: after ends of sessions and deletions by others. When it fails, it
// unregisters the instances that it has registered, and may be called again. Without a connection
// it fails when the client's retry policy gives up; with WithStartInBackground it does not wait.
// Errors in addition to those of framework.Component: those of Register.
//
// Java: start, which logs failures.
func (d *ServiceDiscovery[T]) Start(ctx context.Context) error {
	if d == nil || d.places == nil {
		return errNotStarted
	}
	return d.explain(d.life.Start(ctx, d.registrations.begin, nil))
}

// Close unregisters every instance except the Permanent ones, and closes the caches and
// providers of the ServiceDiscovery. It works with an ended ctx, and then waits for a second or
// slightly longer. An instance that is not unregistered by then is removed in the background,
// or at the end of its session: the error says so. Other errors: those of Unregister. Close is
// idempotent, and allowed before Start.
//
// Java: close.
func (d *ServiceDiscovery[T]) Close(ctx context.Context) error {
	switch {
	case d == nil || d.places == nil:
		return nil
	case ctx == nil:
		return d.explain(zkclient.ErrNilContext)
	}
	// At the same time, so that those that the servers do not answer take a second together.
	open := d.parts.end()
	var parts errgroup.Group
	parts.Go(func() error { return closeAll(ctx, open) })
	err := d.life.Close(ctx, d.registrations.end)
	return d.explain(errors.Join(parts.Wait(), err))
}

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
	if err := instance.fill(); err != nil {
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

// QueryForNames lists the services in the order of their names, also those without instances.
// It returns none if there is no registry yet. When ctx ends it returns its error.
//
// Java: queryForNames.
func (d *ServiceDiscovery[T]) QueryForNames(ctx context.Context) ([]string, error) {
	if err := d.usable(ctx); err != nil {
		return nil, err
	}
	names, err := d.places.children(ctx, d.places.base)
	return names, d.explain(err)
}

// QueryForInstances lists the instances of a service, including disabled ones, in the order of
// the names of their nodes, which are usually their ids. Instances that cannot be decoded, or
// may not be read, are left out and logged. An unknown service has none. It sends one list and
// one read for each instance, in writes of 256 requests, so the result is no snapshot. When ctx
// ends it returns its error.
//
// Java: queryForInstances, which fails for one instance that cannot be decoded.
func (d *ServiceDiscovery[T]) QueryForInstances(ctx context.Context, name string) ([]ServiceInstance[T], error) {
	if err := d.usable(ctx); err != nil {
		return nil, err
	}
	dir, err := d.places.service(name)
	if err != nil {
		return nil, d.explain(err)
	}
	names, err := d.places.children(ctx, dir)
	if err != nil {
		return nil, d.explain(err)
	}
	instances := make([]ServiceInstance[T], 0, len(names))
	for chunk := range slices.Chunk(names, readsAtOnce) {
		if instances, err = d.places.read(ctx, dir, chunk, instances); err != nil {
			return nil, d.explain(err)
		}
	}
	return instances, nil
}

// QueryForInstance returns one instance. id is the name of its node, which for a
// DynamicSequential instance has a number after the id. Errors: framework.ErrNoNode,
// codec.ErrDecode, framework.ErrInvalidPath. When ctx ends it returns its error.
//
// Java: queryForInstance, which returns null.
func (d *ServiceDiscovery[T]) QueryForInstance(ctx context.Context, name, id string) (ServiceInstance[T], error) {
	var none ServiceInstance[T]
	if err := d.usable(ctx); err != nil {
		return none, err
	}
	path, err := d.places.instance(name, id)
	if err != nil {
		return none, d.explain(err)
	}
	data, err := d.places.client.GetData().ForPath(ctx, path)
	if err != nil {
		return none, d.explain(err)
	}
	instance, err := d.places.decode(data)
	if err != nil {
		return none, d.explain(fmt.Errorf("instance %s: %w", path, err))
	}
	return instance, nil
}

// Cache returns an updated list of a service's instances. Start it, and close it when it is no
// longer needed. Cache does no I/O. Errors: framework.ErrInvalidPath; framework.ErrClosed after
// Close; framework.ErrNotStarted for a nil ServiceDiscovery.
//
// Java: serviceCacheBuilder.
func (d *ServiceDiscovery[T]) Cache(name string) (*ServiceCache[T], error) { return d.open(name, 0) }

// open returns a cache that remembers for a time what has left the list.
func (d *ServiceDiscovery[T]) open(name string, keep time.Duration) (*ServiceCache[T], error) {
	if d == nil || d.places == nil {
		return nil, errNotStarted
	}
	c, err := newServiceCache(d.places, d.parts, name, keep)
	if err == nil {
		err = d.parts.add(c)
	}
	if err != nil {
		return nil, d.explain(err)
	}
	return c, nil
}

// Provider returns a provider, which chooses among a service's instances. Start it, and close
// it when it is no longer needed. Keep one for each service, because each has its own
// ServiceCache. Provider does no I/O. Errors: those of Cache; framework.ErrInvalidOption for a
// negative value.
//
// Java: serviceProviderBuilder.
func (d *ServiceDiscovery[T]) Provider(name string, config ProviderConfig[T]) (*ServiceProvider[T], error) {
	if d == nil || d.places == nil {
		return nil, errNotStarted
	}
	if err := config.check(); err != nil {
		return nil, d.explain(fmt.Errorf("provider of %s: %w", name, err))
	}
	c, err := d.open(name, config.EmptyProtection)
	if err != nil {
		return nil, err
	}
	return newServiceProvider(c, config), nil
}

// errNotStarted is the error of a nil ServiceDiscovery and of the zero value.
var errNotStarted = fmt.Errorf("discovery: %w", framework.ErrNotStarted)

// usable returns what is wrong with a call.
func (d *ServiceDiscovery[T]) usable(ctx context.Context) error {
	switch {
	case d == nil || d.places == nil:
		return errNotStarted
	case ctx == nil:
		return d.explain(zkclient.ErrNilContext)
	}
	return nil
}

// explain says which registry an error is about.
func (d *ServiceDiscovery[T]) explain(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("discovery %s: %w", d.places.base, err)
}
