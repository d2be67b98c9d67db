package telemetry

import (
	"context"
	"slices"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"

	"github.com/go-curator/curator/tracing"
)

// Work is something that a recipe does, with a span or without. The zero Work is one that nobody observes.
type Work struct {
	t    *Telemetry
	ctx  context.Context // of the span
	span trace.Span      // nil for none
}

// start begins a work, whose requests are made with the context that it returns. It asks for the options of the
// span only if there is one.
func (t *Telemetry) start(ctx context.Context, name string, opts func() []trace.SpanStartOption) (context.Context, Work) {
	w := Work{t: t, ctx: ctx}
	if t.tracing() {
		w.ctx, w.span = t.tracer.Start(ctx, name, opts()...)
	}
	return w.ctx, w
}

// End ends the work.
func (w Work) End(err error) { w.t.end(w.span, err) }

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
	if c == nil || !c.t.tracing() {
		return ctx, func(int, error) {}
	}
	ctx, span := c.t.tracer.Start(ctx, tracing.SpanCacheLoad, c.t.spanAttributes(tracing.AttrCacheName, c.name, tracing.AttrCachePath, c.path))
	return ctx, func(nodes int, err error) {
		if err == nil {
			span.SetAttributes(attribute.Int(tracing.AttrCacheNodes, nodes))
		}
		c.t.end(span, err)
	}
}

// Counts tells whether the cache has metrics.
func (c *Cache) Counts() bool { return c != nil && c.name != "" }

// Changed counts nodes that were created, changed or deleted.
func (c *Cache) Changed(n int) {
	if c.Counts() {
		c.t.cache.events.Add(background, int64(n), c.t.options.of(labels{nameKey: tracing.AttrCacheName, name: c.name}).add...)
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
	return observe(m, func(_ context.Context, o metric.Observer) error {
		nodes, stale := in.figures()
		for name := range nodes {
			attrs := metric.WithAttributes(labels{nameKey: tracing.AttrCacheName, name: name}.attributes()...)
			o.ObserveInt64(in.nodes, int64(nodes[name]), attrs)
			o.ObserveFloat64(in.stale, stale[name].Seconds(), attrs)
		}
		return nil
	}, in.nodes, in.stale)
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

// Queue is a queue as spans and metrics show it.
type Queue struct {
	name       string
	attributes trace.SpanStartEventOption // of all its spans
}

// Queue returns a queue of a kind, with the user's name for it, "" for none, and its path,
// which is for spans only.
func (t *Telemetry) Queue(kind, name, path string) Queue {
	if t == nil {
		return Queue{}
	}
	return Queue{name, t.spanAttributes(tracing.AttrQueueName, name, tracing.AttrQueuePath, path, attribute.String(tracing.AttrQueueKind, kind))}
}

func (q Queue) labels() labels { return labels{nameKey: tracing.AttrQueueName, name: q.name} }

// zeroQueue adds 0 to the counter of a queue.
func (t *Telemetry) zeroQueue(ctx context.Context, q Queue) {
	l := q.labels()
	t.zeroes.add(ctx, t.queue.redelivered, l, func() { t.queue.redelivered.Add(ctx, 0, t.options.of(l).add...) })
}

// Put begins a put of several items.
func (t *Telemetry) Put(ctx context.Context, q Queue, items int) (context.Context, Work) {
	return t.start(ctx, tracing.SpanQueuePut, func() []trace.SpanStartOption {
		return []trace.SpanStartOption{q.attributes, trace.WithAttributes(attribute.Int(tracing.AttrQueueItems, items))}
	})
}

// Processing is the work on a node of a queue. A nil Processing has neither span nor metric.
type Processing struct {
	Work
	queue Queue
	begin time.Time
}

// Process begins the work on a node, whose requests are made with the context that it returns.
func (t *Telemetry) Process(ctx context.Context, q Queue) (context.Context, *Processing) {
	if t == nil || !t.tracing() && !t.queue.duration.Enabled(ctx) && !t.queue.redelivered.Enabled(ctx) {
		return ctx, nil
	}
	t.zeroQueue(ctx, q)
	ctx, work := t.start(ctx, tracing.SpanQueueProcess, func() []trace.SpanStartOption { return []trace.SpanStartOption{q.attributes} })
	return ctx, &Processing{work, q, time.Now()}
}

// redelivered has the outcomes after which a node is handed out again.
var redelivered = []string{tracing.OutcomePutBack, tracing.OutcomeGivenBack, tracing.OutcomeLost}

// End ends the work with an outcome of package tracing, and with the error of the user's function.
func (p *Processing) End(outcome string, err error) {
	if p == nil {
		return
	}
	t := p.t
	l := p.queue.labels()
	if slices.Contains(redelivered, outcome) {
		t.queue.redelivered.Add(p.ctx, 1, t.options.of(l).add...)
	}
	t.queue.duration.Record(p.ctx, time.Since(p.begin).Seconds(), t.options.of(l.with(tracing.AttrQueueOutcome, outcome)).record...)
	if p.span != nil {
		p.span.SetAttributes(attribute.String(tracing.AttrQueueOutcome, outcome))
	}
	p.Work.End(err)
}

// BarrierWait begins a wait of a kind of package tracing at the barrier of a path.
func (t *Telemetry) BarrierWait(ctx context.Context, kind, path string) (context.Context, Work) {
	return t.start(ctx, tracing.SpanBarrierWait, func() []trace.SpanStartOption {
		return []trace.SpanStartOption{t.spanAttributes("", "", tracing.AttrBarrierPath, path, attribute.String(tracing.AttrBarrierKind, kind))}
	})
}

// AtomicUpdate is a change of an atomic value. The zero AtomicUpdate is one that nobody observes.
type AtomicUpdate struct {
	Work
	name string
}

// AtomicUpdate begins a change of the value at a path, with the user's name for it, "" for none.
// Its requests are made with the context that it returns.
func (t *Telemetry) AtomicUpdate(ctx context.Context, name, path string) (context.Context, AtomicUpdate) {
	if t == nil || !t.tracing() && !t.atomicTries.Enabled(ctx) {
		return ctx, AtomicUpdate{}
	}
	ctx, work := t.start(ctx, tracing.SpanAtomicUpdate, func() []trace.SpanStartOption {
		return []trace.SpanStartOption{t.spanAttributes(tracing.AttrAtomicName, name, tracing.AttrAtomicPath, path)}
	})
	return ctx, AtomicUpdate{work, name}
}

// End ends the change, after optimistic tries without the lock and promoted ones with it.
func (u AtomicUpdate) End(optimistic, promoted int, err error) {
	if u.t == nil {
		return
	}
	if u.t.atomicTries.Enabled(u.ctx) {
		u.t.atomicTries.Record(u.ctx, int64(optimistic+promoted), u.t.options.of(labels{nameKey: tracing.AttrAtomicName, name: u.name}).record...)
	}
	if u.span != nil && u.span.IsRecording() {
		u.span.SetAttributes(attribute.Int(tracing.AttrAtomicTries, optimistic))
		if promoted > 0 {
			u.span.SetAttributes(attribute.Int(tracing.AttrAtomicPromotedTries, promoted))
		}
	}
	u.Work.End(err)
}

// Recreated counts that a kept node with a name was created again.
func (t *Telemetry) Recreated(ctx context.Context, name string) {
	if t != nil {
		t.recreations.Add(ctx, 1, t.options.of(labels{nameKey: tracing.AttrNodeName, name: name}).add...)
	}
}
