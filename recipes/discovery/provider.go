package discovery

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/go-curator/curator/framework"
)

// ProviderConfig says how a provider chooses. The zero value is the default.
//
// Java: ServiceProviderBuilder, DownInstancePolicy.
type ProviderConfig[T any] struct {
	// Strategy chooses; nil is RoundRobin.
	Strategy Strategy[T]
	// Filter says which instances may be chosen; nil means all. Disabled instances are never
	// chosen. It must be a pure function of the instance, and is called by the goroutines that
	// call Instance, once for each instance after each change.
	Filter func(ServiceInstance[T]) bool
	// After ErrorThreshold errors within DownTime an instance is not chosen until the oldest of
	// them is older than DownTime. The defaults are 2 and 30 s. Neither may be negative.
	ErrorThreshold int
	DownTime       time.Duration
}

const (
	defaultErrorThreshold = 2
	defaultDownTime       = 30 * time.Second
)

// check fills in the defaults, and returns what is wrong.
func (c *ProviderConfig[T]) check() error {
	switch {
	case c.ErrorThreshold < 0:
		return fmt.Errorf("%w: the ErrorThreshold is %d", framework.ErrInvalidOption, c.ErrorThreshold)
	case c.DownTime < 0:
		return fmt.Errorf("%w: the DownTime is %v", framework.ErrInvalidOption, c.DownTime)
	}
	if c.Strategy == nil {
		c.Strategy = RoundRobin[T]()
	}
	if c.Filter == nil {
		c.Filter = func(ServiceInstance[T]) bool { return true }
	}
	if c.ErrorThreshold == 0 {
		c.ErrorThreshold = defaultErrorThreshold
	}
	if c.DownTime == 0 {
		c.DownTime = defaultDownTime
	}
	return nil
}

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

// choices are the instances that may be chosen. They are not changed.
type choices[T any] struct {
	of        *list[T]
	downs     int64     // how often down had changed
	until     time.Time // when an instance that is down comes back; zero for never
	instances []ServiceInstance[T]
}

// Provider returns a provider, which chooses among a service's instances. Start it, and close
// it when it is no longer needed. Keep one for each service, because each has its own
// ServiceCache. Provider does no I/O. Errors: those of Cache; framework.ErrInvalidOption for a
// negative value.
//
// Java: serviceProviderBuilder.
func (d *ServiceDiscovery[T]) Provider(name string, config ProviderConfig[T]) (*ServiceProvider[T], error) {
	if err := config.check(); err != nil {
		return nil, d.explain(fmt.Errorf("provider of %s: %w", name, err))
	}
	c, err := d.Cache(name)
	if err != nil {
		return nil, err
	}
	return &ServiceProvider[T]{cache: c, config: config, down: newDownList(config.ErrorThreshold, config.DownTime)}, nil
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
// Do not keep the result, because the instance may end at any time. Errors: ErrNoInstance;
// framework.ErrNotStarted before Start.
//
// Java: getInstance, which returns null.
func (p *ServiceProvider[T]) Instance() (ServiceInstance[T], error) {
	now, err := p.present()
	if err != nil {
		return ServiceInstance[T]{}, err
	}
	if len(now.instances) == 0 {
		return ServiceInstance[T]{}, fmt.Errorf("%w %s", ErrNoInstance, p.cache.name)
	}
	return p.config.Strategy.Pick(now.instances), nil
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

// NoteError reports an error of an instance to the provider; see ProviderConfig. Id, address
// and ports identify the instance: an instance with the same id at another address is a
// different one. Errors of instances of another service are ignored.
//
// Java: noteError.
func (p *ServiceProvider[T]) NoteError(instance ServiceInstance[T]) {
	if p == nil || p.cache == nil || instance.Name != p.cache.name {
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
		return nil, fmt.Errorf("service %s: %w", p.cache.name, framework.ErrNotStarted)
	}
	now := p.choose(of, downs)
	p.choices.Store(now) // what was overtaken is seen by the next call
	return now, nil
}

// choose selects the instances that may be chosen.
func (p *ServiceProvider[T]) choose(of *list[T], downs int64) *choices[T] {
	now := &choices[T]{of: of, downs: downs}
	time := time.Now()
	for _, instance := range of.instances {
		if instance.Disabled || !p.config.Filter(instance) {
			continue
		}
		back := p.down.until(instance.endpoint(), time)
		if back.IsZero() {
			now.instances = append(now.instances, instance)
		} else if now.until.IsZero() || back.Before(now.until) {
			now.until = back
		}
	}
	return now
}
