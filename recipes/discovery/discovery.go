package discovery

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/framework/codec"
	"github.com/go-curator/curator/framework/paths"
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
// at most. An instance that is not unregistered by then goes in the background or, if it has one,
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
	err := d.parts.close(ctx)
	return d.explain(errors.Join(err, d.life.Close(ctx, d.registrations.end)))
}

// explain says which registry an error is about.
func (d *ServiceDiscovery[T]) explain(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("discovery %s: %w", d.places.base, err)
}

// places knows where the instances are and what their nodes have.
type places[T any] struct {
	client *framework.Client
	api    recipeapi.Client
	base   string
	codec  codec.Codec[ServiceInstance[T]]
	cfg    config
}

// service returns the path of the node whose children are the instances of a service.
func (p *places[T]) service(name string) (string, error) {
	path := ""
	switch {
	case name == "":
		return "", fmt.Errorf("%w: the name of the service is empty", framework.ErrInvalidPath)
	case p.cfg.path != nil:
		path = p.cfg.path(name)
	case strings.Contains(name, "/"):
		return "", fmt.Errorf("%w: the name of the service %q has a slash", framework.ErrInvalidPath, name)
	default:
		path = strings.TrimSuffix(p.base, "/") + "/" + name
	}
	if _, err := p.api.ServerPath(path); err != nil {
		return "", fmt.Errorf("the service %q: %w", name, err)
	}
	return path, nil
}

// instance returns the path of an instance's node.
func (p *places[T]) instance(name, id string) (string, error) {
	dir, err := p.service(name)
	if err != nil {
		return "", err
	}
	if id == "" || strings.Contains(id, "/") {
		return "", fmt.Errorf("%w: the id %q cannot be the name of a node", framework.ErrInvalidPath, id)
	}
	path := paths.Make(dir, id)
	if _, err := p.api.ServerPath(path); err != nil {
		return "", fmt.Errorf("the id %q: %w", id, err)
	}
	return path, nil
}

// decode returns the instance of a node.
func (p *places[T]) decode(data []byte) (ServiceInstance[T], error) {
	instance, err := p.codec.Decode(data)
	if err != nil {
		return ServiceInstance[T]{}, fmt.Errorf("%w: %w", codec.ErrDecode, err)
	}
	return instance, nil
}

// leaveOut logs that an instance is left out.
func (p *places[T]) leaveOut(path string, err error) {
	p.api.Log(func() {
		p.client.Logger().Warn("an instance of a service is left out because it cannot be read", "path", path, "error", err)
	})
}
