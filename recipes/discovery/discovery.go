package discovery

import (
	"context"
	"errors"
	"fmt"

	"golang.org/x/sync/errgroup"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/framework/codec"
	"github.com/go-curator/curator/internal/recipeapi"
	"github.com/go-curator/curator/recipes/internal/lifecycle"
)

// ServiceDiscovery registers instances and looks them up. Looking up needs no Start. A nil
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

// NewServiceDiscovery returns the registry below basePath. It does no I/O. serializer is, as a
// rule, JSON. Errors: framework.ErrInvalidPath; framework.ErrInvalidOption, also for a nil
// serializer; framework.ErrNotStarted for a nil client.
//
// Java: ServiceDiscoveryBuilder.
func NewServiceDiscovery[T any](client *framework.Client, basePath string, serializer codec.Codec[ServiceInstance[T]], opts ...Option) (*ServiceDiscovery[T], error) {
	cfg, err := newConfig(opts)
	switch {
	case err != nil:
		return nil, err
	case client == nil:
		return nil, framework.ErrNotStarted
	case serializer == nil:
		return nil, errNilCodec("NewServiceDiscovery")
	}
	if _, err := recipeapi.Of(client).ServerPath(basePath); err != nil {
		return nil, err
	}
	p := &places[T]{client: client, api: recipeapi.Of(client), base: basePath, codec: serializer, cfg: cfg}
	return &ServiceDiscovery[T]{places: p, registrations: newRegistrations(p), parts: newParts()}, nil
}

// Start registers what Register was given before, at most 16 instances at a time, and keeps it
// registered from then on: through the ends of sessions and deletions by others. When it fails,
// what it has registered is unregistered, and it may be called again. Errors besides those of
// framework.Component: those of Register.
//
// Java: start, which logs what fails.
func (d *ServiceDiscovery[T]) Start(ctx context.Context) error {
	if d == nil || d.places == nil {
		return fmt.Errorf("discovery: %w", framework.ErrNotStarted)
	}
	return d.explain(d.life.Start(ctx, d.registrations.begin, nil))
}

// Close unregisters every instance but the Permanent ones, and closes the caches and providers
// that the ServiceDiscovery has made. It works although ctx has ended, and then waits for a second
// or little more. An instance that is not unregistered by then goes in the background or, if it has one,
// with the session: the error says so. Errors besides: those of Unregister. Close is idempotent,
// and allowed before Start.
//
// Java: close.
func (d *ServiceDiscovery[T]) Close(ctx context.Context) error {
	switch {
	case d == nil || d.places == nil:
		return nil
	case ctx == nil:
		return d.explain(errNilContext)
	}
	// At the same time, so that those that the servers do not answer take a second together.
	open := d.parts.end()
	var parts errgroup.Group
	parts.Go(func() error { return closeAll(ctx, open) })
	err := d.life.Close(ctx, d.registrations.end)
	return d.explain(errors.Join(parts.Wait(), err))
}

// explain says which registry an error is about.
func (d *ServiceDiscovery[T]) explain(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("discovery %s: %w", d.places.base, err)
}
