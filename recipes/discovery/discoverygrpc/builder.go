package discoverygrpc

import (
	"context"
	"fmt"
	"sync"
	"time"

	"google.golang.org/grpc/grpclog"
	"google.golang.org/grpc/resolver"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/recipes/discovery"
)

// Scheme is the scheme of the targets.
const Scheme = "curator"

// Config says which instances gRPC gets, and how they become addresses. The zero value is the
// default. One goroutine for each ClientConn calls the functions. They must return soon, and must
// not change the payload of the instance. A panic in them is not recovered.
type Config[T any] struct {
	// Filter says which instances gRPC gets; nil means all. Disabled instances, and those without
	// an Address, are left out in any case. See discovery.ProviderConfig.
	Filter func(discovery.ServiceInstance[T]) bool
	// EmptyProtection has gRPC keep instances for this time after they have left the list, while
	// there are no others. See discovery.ProviderConfig. 0 is off; it may not be negative.
	EmptyProtection time.Duration
	// Address returns the address of an instance. A result without Addr leaves the instance
	// out. A nil function uses the instance's Address with its Port, or with its SSLPort if it
	// has one and the ClientConn has credentials that are not those of package insecure.
	Address func(discovery.ServiceInstance[T]) resolver.Address
	// Weight returns an instance's share of the calls, relative to those of the others. 0
	// counts as 1, as in gRPC's own policies. With a nil function all have the same weight. The
	// policy of ServiceConfig uses the weights, and so do gRPC's ring_hash, and pick_first if
	// it shuffles; round_robin does not.
	Weight func(discovery.ServiceInstance[T]) uint32
}

// Builder makes resolvers of targets such as "curator:///orders"; it is for grpc.WithResolvers.
// NewBuilder makes it; Build of the zero value fails with framework.ErrNotStarted.
//
// Java: none.
type Builder[T any] struct {
	open   func(name string) (instances[T], error)
	config Config[T]

	mu       sync.Mutex
	services map[string]*watched[T]
}

var _ resolver.Builder = (*Builder[int])(nil)

// NewBuilder returns a builder of resolvers that look services up in d. It does no I/O. When d
// is closed, resolvers report this to gRPC, and find no more instances. For a nil d, and for a
// negative EmptyProtection, it returns framework.ErrInvalidOption.
//
// Java: none.
func NewBuilder[T any](d *discovery.ServiceDiscovery[T], config Config[T]) (*Builder[T], error) {
	if d == nil {
		return nil, fmt.Errorf("%w: the service discovery is nil", framework.ErrInvalidOption)
	}
	if config.EmptyProtection < 0 {
		return nil, fmt.Errorf("%w: the EmptyProtection is %v", framework.ErrInvalidOption, config.EmptyProtection)
	}
	open := func(name string) (instances[T], error) {
		return d.Provider(name, discovery.ProviderConfig[T]{Filter: config.Filter, EmptyProtection: config.EmptyProtection})
	}
	return newBuilder(open, config), nil
}

func newBuilder[T any](open func(name string) (instances[T], error), config Config[T]) *Builder[T] {
	return &Builder[T]{open: open, config: config, services: map[string]*watched[T]{}}
}

// Scheme returns "curator".
func (b *Builder[T]) Scheme() string { return Scheme }

// Build starts a resolver for a ClientConn; gRPC calls it. It does not wait for the server. For
// a target without a service it returns framework.ErrInvalidOption, and for an invalid name the
// error of discovery.ServiceDiscovery.Provider.
func (b *Builder[T]) Build(target resolver.Target, cc resolver.ClientConn, opts resolver.BuildOptions) (resolver.Resolver, error) {
	if b.open == nil {
		return nil, fmt.Errorf("%w: the builder was not made by NewBuilder", framework.ErrNotStarted)
	}
	name, err := serviceName(target)
	if err != nil {
		return nil, err
	}
	service := b.join(name)
	list, err := service.open()
	if err != nil {
		b.leave(service)
		return nil, err // it names the service
	}
	// gRPC calls Build and Close without a context: the resolver lives from one to the other.
	ctx, cancel := context.WithCancel(context.Background())
	r := &serviceResolver[T]{
		service: service, list: list, cc: cc, endpointOf: b.config.endpoints(isSecure(opts)),
		cancel: cancel, done: make(chan struct{}),
	}
	go func() {
		defer close(r.done)
		r.run(ctx)
		if last := b.leave(service); last {
			if err := list.Close(ctx); err != nil { // it works although ctx has ended
				grpclog.Component(Scheme).Warningf("closing a list of instances: %v", err)
			}
		}
	}()
	return r, nil
}

// join returns what the resolvers of a service share. It is to be left.
func (b *Builder[T]) join(name string) *watched[T] {
	b.mu.Lock()
	defer b.mu.Unlock()
	w := b.services[name]
	if w == nil {
		w = newWatched(name, b.open)
		b.services[name] = w
	}
	w.users++
	return w
}

// leave tells whether it was the last user that left; nobody else joins it then.
func (b *Builder[T]) leave(w *watched[T]) (last bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if w.users--; w.users > 0 {
		return false
	}
	delete(b.services, w.name)
	return true
}

// serviceName returns the name in curator:///NAME.
func serviceName(target resolver.Target) (string, error) {
	u := target.URL
	switch name := target.Endpoint(); {
	case u.Host != "" || u.User != nil:
		return "", fmt.Errorf("%w: the target %q has an authority: write curator:///SERVICE, with three slashes", framework.ErrInvalidOption, u.String())
	case name == "":
		return "", fmt.Errorf("%w: the target %q names no service: write curator:///SERVICE", framework.ErrInvalidOption, u.String())
	case u.RawQuery != "" || u.Fragment != "":
		return "", fmt.Errorf("%w: the target %q has more than the name of a service", framework.ErrInvalidOption, u.String())
	default:
		return name, nil
	}
}
