package discovery

import (
	"context"
	"iter"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"time"

	"github.com/go-curator/curator/framework"
)

// ServiceProvider chooses instances of a service. All methods may be called from several
// goroutines. A nil ServiceProvider has no instances and cannot be started.
//
// Java: ServiceProvider.
type ServiceProvider[T any] struct {
	cache   *ServiceCache[T]
	config  ProviderConfig[T]
	down    *downList
	choices atomic.Pointer[choices[T]]
}

var _ framework.Component = (*ServiceProvider[any])(nil)

// newServiceProvider returns a provider of what a cache has. The config was checked.
func newServiceProvider[T any](c *ServiceCache[T], config ProviderConfig[T]) *ServiceProvider[T] {
	return &ServiceProvider[T]{cache: c, config: config, down: newDownList(config.ErrorThreshold, config.DownTime)}
}

// Name returns the service's name.
//
// Java: none.
func (p *ServiceProvider[T]) Name() string { return p.inner().Name() }

// inner returns the cache, nil for a nil provider.
func (p *ServiceProvider[T]) inner() *ServiceCache[T] {
	if p == nil {
		return nil
	}
	return p.cache
}

// Start loads the instances; see ServiceCache.Start.
//
// Java: start.
func (p *ServiceProvider[T]) Start(ctx context.Context) error { return p.inner().Start(ctx) }

// Close is ServiceCache.Close.
//
// Java: close.
func (p *ServiceProvider[T]) Close(ctx context.Context) error { return p.inner().Close(ctx) }

// Stale is ServiceCache.Stale.
//
// Java: none.
func (p *ServiceProvider[T]) Stale() (since time.Time, stale bool) { return p.inner().Stale() }

// Instance returns an instance to use now. It does not wait for the server, and sends nothing.
// Do not keep the result, because the instance may end at any time. Errors: ErrNoInstance, also
// if all instances are down; framework.ErrNotStarted before Start. While a Start in the background
// has not loaded the list, the error matches both, and the error of the last try, if there was one.
//
// Java: getInstance, which returns null.
func (p *ServiceProvider[T]) Instance() (ServiceInstance[T], error) {
	now, err := p.present()
	if err != nil {
		return ServiceInstance[T]{}, err
	}
	if len(now.instances) == 0 {
		return ServiceInstance[T]{}, now.none(p.cache.name)
	}
	return p.config.Strategy.Pick(now.instances), nil
}

// Choose is Instance for callers that try one instance after the other: it returns one for which
// usable is true, and also one that is down, if there is no other. That is better than none: what
// made all instances fail may be over, and only a try can show that. The Strategy chooses; if what
// it has chosen is not usable, another one is chosen at random. usable is called by this
// goroutine, at most once for each instance and once more; nil is true for all. Errors are those
// of Instance.
//
// Java: none.
func (p *ServiceProvider[T]) Choose(usable func(ServiceInstance[T]) bool) (ServiceInstance[T], error) {
	now, err := p.present()
	if err != nil {
		return ServiceInstance[T]{}, err
	}
	if usable == nil {
		usable = func(ServiceInstance[T]) bool { return true }
	}
	first, second := now.instances, now.down
	if len(first) == 0 {
		first, second = second, nil
	}
	if len(first) > 0 {
		if instance := p.config.Strategy.Pick(first); usable(instance) {
			return instance, nil
		}
	}
	// The strategy does not know what is usable. A sticky one would choose the same again.
	for _, from := range [...][]ServiceInstance[T]{first, second} {
		for _, i := range rand.Perm(len(from)) {
			if usable(from[i]) {
				return from[i], nil
			}
		}
	}
	return ServiceInstance[T]{}, now.none(p.cache.name)
}

// Instances returns all instances that may be chosen now, in the order of the names of their
// nodes. The caller owns the slice; payloads are shared and must not be changed. Before Start
// there are none.
//
// Java: getAllInstances.
func (p *ServiceProvider[T]) Instances() []ServiceInstance[T] {
	now, err := p.present()
	if err != nil {
		return nil
	}
	return slices.Clone(now.instances)
}

// Updates iterates over the instances that may be chosen, as Instances returns them: first the
// present ones, then those after each change, until ctx ends or Close. A change is one of the list,
// of what is down, or the end of EmptyProtection. Before Start it waits for the load. After a slow
// loop body the latest instances come next, not every change; the same ones may come twice. The
// caller owns the slices; payloads are shared and must not be changed. Several loops may run at the
// same time.
//
// Java: none.
func (p *ServiceProvider[T]) Updates(ctx context.Context) iter.Seq[[]ServiceInstance[T]] {
	return func(yield func([]ServiceInstance[T]) bool) {
		if p == nil || p.cache == nil || p.cache.nodes == nil || ctx == nil {
			return
		}
		var last *choices[T]
		for !p.cache.ended(ctx) {
			of, downs := p.cache.list.Load(), p.down.changed()
			var until time.Time
			if now, err := p.present(); err == nil {
				if now != last {
					last = now
					if !yield(slices.Clone(now.instances)) {
						return
					}
					continue
				}
				until = now.until
			}
			p.cache.wait(ctx, of, downs, until)
		}
	}
}

// NoteError reports an error of an instance to the provider; see ProviderConfig. Id, address
// and ports identify the instance: an instance with the same id at another address is a
// different one. Errors of instances of another service are ignored.
//
// Java: noteError.
func (p *ServiceProvider[T]) NoteError(instance ServiceInstance[T]) {
	if p == nil || p.cache == nil || trimmed(instance.Name) != trimmed(p.cache.name) {
		return
	}
	p.down.note(instance.endpoint(), time.Now())
}

// present returns the instances that may be chosen now.
func (p *ServiceProvider[T]) present() (*choices[T], error) {
	if p == nil || p.cache == nil {
		return nil, framework.ErrNotStarted
	}
	of, downs := p.cache.list.Load(), p.down.changes()
	if now := p.choices.Load(); now != nil && now.of == of && now.downs == downs && (now.until.IsZero() || time.Now().Before(now.until)) {
		return now, nil
	}
	if !of.loaded {
		return nil, p.cache.notLoaded()
	}
	now := choose(&p.config, p.down, of, downs)
	p.choices.Store(now) // what was overtaken is seen by the next call
	return now, nil
}
