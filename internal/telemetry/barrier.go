package telemetry

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"github.com/go-curator/curator/tracing"
)

// BarrierWait is a wait at a barrier. The zero BarrierWait is one that nobody observes.
type BarrierWait struct {
	t    *Telemetry
	span trace.Span
}

// BarrierWait begins a wait of a kind of package tracing at the barrier of a path. The requests of the
// wait are made with the context that it returns.
func (t *Telemetry) BarrierWait(ctx context.Context, kind, path string) (context.Context, BarrierWait) {
	if t == nil || !t.tracing() {
		return ctx, BarrierWait{}
	}
	attrs := []attribute.KeyValue{attribute.String(tracing.AttrBarrierKind, kind)}
	if path = t.path(path); path != "" {
		attrs = append(attrs, attribute.String(tracing.AttrBarrierPath, path))
	}
	ctx, span := t.tracer.Start(ctx, tracing.SpanBarrierWait, trace.WithAttributes(attrs...))
	return ctx, BarrierWait{t, span}
}

// End ends the wait.
func (w BarrierWait) End(err error) {
	if w.span == nil {
		return
	}
	if w.span.IsRecording() {
		w.t.fail(w.span, err)
	}
	w.span.End()
}
