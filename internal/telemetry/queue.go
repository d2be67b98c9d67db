package telemetry

import (
	"context"
	"slices"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	semconv "go.opentelemetry.io/otel/semconv/v1.41.0"
	"go.opentelemetry.io/otel/trace"

	"github.com/go-curator/curator/tracing"
)

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

// zeroQueue adds 0 to the counter of a queue.
func (t *Telemetry) zeroQueue(ctx context.Context, q Queue) {
	t.zeroes.add(ctx, t.queueRedelivered, zeroKey{of: tracing.MetricQueueRedelivered, name: q.name}, func() {
		t.queueRedelivered.Add(ctx, 0, t.options.of(labels{queue: q.name}).add...)
	})
}

// Put begins the span of a put of several items; end ends it.
func (t *Telemetry) Put(ctx context.Context, q Queue, items int) (_ context.Context, end func(err error)) {
	if t == nil || !t.tracing() {
		return ctx, func(error) {}
	}
	ctx, span := t.tracer.Start(ctx, tracing.SpanQueuePut, q.attributes, trace.WithAttributes(attribute.Int(tracing.AttrQueueItems, items)))
	return ctx, func(err error) {
		t.fail(span, err)
		span.End()
	}
}

// fail gives a span the error that it ended with, if that is not nil.
func (t *Telemetry) fail(span trace.Span, err error) {
	if err == nil {
		return
	}
	kind := ErrorType(err)
	span.SetAttributes(semconv.ErrorTypeKey.String(kind))
	span.SetStatus(codes.Error, t.describe(err, kind))
}

// Processing is the work on a node of a queue. A nil Processing has neither span nor metric.
type Processing struct {
	t     *Telemetry
	queue Queue
	ctx   context.Context // of the span
	span  trace.Span      // nil for none
	start time.Time
}

// Process begins the work on a node, whose requests are made with the context that it returns.
func (t *Telemetry) Process(ctx context.Context, q Queue) (context.Context, *Processing) {
	if t == nil || !t.tracing() && !t.queueDuration.Enabled(ctx) && !t.queueRedelivered.Enabled(ctx) {
		return ctx, nil
	}
	t.zeroQueue(ctx, q)
	p := &Processing{t: t, queue: q, start: time.Now()}
	if t.tracing() {
		ctx, p.span = t.tracer.Start(ctx, tracing.SpanQueueProcess, q.attributes)
	}
	p.ctx = ctx
	return ctx, p
}

// redelivered has the outcomes after which a node is handed out again.
var redelivered = []string{tracing.OutcomePutBack, tracing.OutcomeGivenBack, tracing.OutcomeLost}

// End ends the work with an outcome of package tracing, and with the error of the user's function.
func (p *Processing) End(outcome string, err error) {
	if p == nil {
		return
	}
	t := p.t
	l := labels{queue: p.queue.name}
	if slices.Contains(redelivered, outcome) {
		t.queueRedelivered.Add(p.ctx, 1, t.options.of(l).add...)
	}
	l.queueOutcome = outcome
	t.queueDuration.Record(p.ctx, time.Since(p.start).Seconds(), t.options.of(l).record...)
	if p.span != nil {
		p.span.SetAttributes(attribute.String(tracing.AttrQueueOutcome, outcome))
		t.fail(p.span, err)
		p.span.End()
	}
}
