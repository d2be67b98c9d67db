package telemetry

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"github.com/go-curator/curator/tracing"
)

// AtomicUpdate is a change of an atomic value. The zero AtomicUpdate is one that nobody observes.
type AtomicUpdate struct {
	t    *Telemetry
	name string
	ctx  context.Context
	span trace.Span // nil for none
}

// AtomicUpdate begins a change of the value at a path, with the user's name for it, "" for none.
// Its requests are made with the context that it returns.
func (t *Telemetry) AtomicUpdate(ctx context.Context, name, path string) (context.Context, AtomicUpdate) {
	if t == nil || !t.tracing() && !t.atomicTries.Enabled(ctx) {
		return ctx, AtomicUpdate{}
	}
	u := AtomicUpdate{t: t, name: name}
	if t.tracing() {
		ctx, u.span = t.tracer.Start(ctx, tracing.SpanAtomicUpdate, t.spanAttributes(tracing.AttrAtomicName, name, tracing.AttrAtomicPath, path))
	}
	u.ctx = ctx
	return ctx, u
}

// End ends the change, after optimistic tries without the lock and promoted ones with it.
func (u AtomicUpdate) End(optimistic, promoted int, err error) {
	if u.t == nil {
		return
	}
	if u.t.atomicTries.Enabled(u.ctx) {
		u.t.atomicTries.Record(u.ctx, int64(optimistic+promoted), u.t.options.of(labels{atomicName: u.name}).record...)
	}
	if u.span == nil {
		return
	}
	if u.span.IsRecording() {
		u.span.SetAttributes(attribute.Int(tracing.AttrAtomicTries, optimistic))
		if promoted > 0 {
			u.span.SetAttributes(attribute.Int(tracing.AttrAtomicPromotedTries, promoted))
		}
		u.t.fail(u.span, err)
	}
	u.span.End()
}
