package discovery

import (
	"context"
	"errors"
	"fmt"

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
	cfg, err := newConfig(opts)
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
		return fmt.Errorf("discovery: %w", framework.ErrNotStarted)
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
