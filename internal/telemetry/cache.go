package telemetry

import (
	"context"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric"
	semconv "go.opentelemetry.io/otel/semconv/v1.41.0"
	"go.opentelemetry.io/otel/trace"

	"github.com/go-curator/curator/tracing"
)

// Cache is a cache as spans and metrics show it. A nil Cache has neither.
type Cache struct {
	t     *Telemetry
	name  string
	path  string
	state CacheState
}

// Cache returns a cache with the user's name, without which it has no metrics, and its path, which
// is for spans only.
func (t *Telemetry) Cache(name, path string, state CacheState) *Cache {
	if t == nil {
		return nil
	}
	return &Cache{t, name, path, state}
}

// Load begins the span of a load, whose requests are made with the context that it returns.
func (c *Cache) Load(ctx context.Context) (_ context.Context, end func(nodes int, err error)) {
	if c == nil {
		return ctx, func(int, error) {}
	}
	var attrs []attribute.KeyValue
	if c.name != "" {
		attrs = append(attrs, attribute.String(tracing.AttrCacheName, c.name))
	}
	if path := c.t.path(c.path); path != "" {
		attrs = append(attrs, attribute.String(tracing.AttrCachePath, path))
	}
	ctx, span := c.t.tracer.Start(ctx, tracing.SpanCacheLoad, trace.WithAttributes(attrs...))
	return ctx, func(nodes int, err error) {
		if err == nil {
			span.SetAttributes(attribute.Int(tracing.AttrCacheNodes, nodes))
		} else {
			kind := ErrorType(err)
			span.SetAttributes(semconv.ErrorTypeKey.String(kind))
			span.SetStatus(codes.Error, c.t.describe(err, kind))
		}
		span.End()
	}
}

// Counts tells whether the cache has metrics.
func (c *Cache) Counts() bool { return c != nil && c.name != "" }

// Changed counts nodes that were created, changed or deleted.
func (c *Cache) Changed(n int) {
	if c.Counts() {
		c.t.cache.events.Add(background, int64(n), c.t.options.of(labels{cache: c.name}).add...)
	}
}

// Follow adds the cache to the metrics until stop is called.
func (c *Cache) Follow() (stop func()) {
	if !c.Counts() {
		return func() {}
	}
	in := c.t.cache
	in.observing.Lock()
	defer in.observing.Unlock()
	if in.add(c); in.stop == nil {
		in.stop = in.observe(c.t.meter)
	}
	return func() {
		in.observing.Lock()
		defer in.observing.Unlock()
		if in.remove(c) == 0 && in.stop != nil {
			in.stop()
			in.stop = nil
		}
	}
}

func (in *cacheInstruments) add(c *Cache) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.followed[c.state] = c.name
}

// remove returns how many caches are left.
func (in *cacheInstruments) remove(c *Cache) int {
	in.mu.Lock()
	defer in.mu.Unlock()
	delete(in.followed, c.state)
	return len(in.followed)
}

// observe registers the metrics of all caches that are followed. Caches of one name are added up.
func (in *cacheInstruments) observe(m metric.Meter) (stop func()) {
	registration, err := m.RegisterCallback(func(_ context.Context, o metric.Observer) error {
		nodes, stale := in.figures()
		for name := range nodes {
			attrs := metric.WithAttributes(labels{cache: name}.attributes()...)
			o.ObserveInt64(in.nodes, int64(nodes[name]), attrs)
			o.ObserveFloat64(in.stale, stale[name].Seconds(), attrs)
		}
		return nil
	}, in.nodes, in.stale)
	if err != nil {
		otel.Handle(err)
		return func() {}
	}
	return func() {
		if err := registration.Unregister(); err != nil {
			otel.Handle(err)
		}
	}
}

// figures returns by name how many nodes there are, and how long the stalest cache has been stale.
func (in *cacheInstruments) figures() (nodes map[string]int, stale map[string]time.Duration) {
	nodes, stale = map[string]int{}, map[string]time.Duration{}
	in.mu.Lock()
	defer in.mu.Unlock()
	for state, name := range in.followed {
		nodes[name] += state.Len()
		if since, ok := state.Stale(); ok {
			stale[name] = max(stale[name], time.Since(since))
		}
	}
	return nodes, stale
}
