package telemetry

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	semconv "go.opentelemetry.io/otel/semconv/v1.41.0"
	"go.opentelemetry.io/otel/trace"

	"github.com/go-curator/curator/tracing"
)

// Opened counts a lock that is held from now on. It reports whether it was counted.
func (t *Telemetry) Opened(ctx context.Context, lock Lock) (counted bool) {
	if t == nil {
		return false
	}
	t.zeroLock(ctx, lock)
	if !t.held.Enabled(ctx) {
		return false
	}
	t.held.Add(ctx, 1, t.options.of(lock.labels()).add...)
	return true
}

// Closed counts the end of a hold. counted is the result of Opened, and loss the reason of a loss, ""
// for a release.
func (t *Telemetry) Closed(ctx context.Context, lock Lock, counted bool, held time.Duration, loss string) {
	if t == nil {
		return
	}
	l := lock.labels()
	if counted {
		t.held.Add(ctx, -1, t.options.of(l).add...)
	}
	if !t.holdDuration.Enabled(ctx) && !t.losses.Enabled(ctx) {
		return
	}
	if loss != "" {
		l.reason = loss
		t.losses.Add(ctx, 1, t.options.of(l).add...)
		l.reason = ""
	}
	l.end = tracing.EndReleased
	if loss != "" {
		l.end = tracing.EndLost
	}
	t.holdDuration.Record(ctx, held.Seconds(), t.options.of(l).record...)
}

// Dropped counts a lease that nobody can release anymore.
func (t *Telemetry) Dropped(lock Lock) {
	if t != nil {
		t.dropped.Add(background, 1, t.options.of(lock.labels()).add...)
	}
}

// Release is the release of a lease under way. The zero Release has no span.
type Release struct {
	t    *Telemetry
	span trace.Span // nil for none
}

// Release begins a release, which links to the acquire. Its requests are made with the context that it
// returns. A negative token is left out.
func (a *Acquisition) Release(ctx context.Context, token int64) (context.Context, Release) {
	if a == nil || ctx == nil || !a.t.tracing() {
		return ctx, Release{}
	}
	ctx, span := a.t.tracer.Start(ctx, tracing.SpanLockRelease, a.ending(token)...)
	return ctx, Release{a.t, span}
}

// ending returns the options of the spans that link to the acquire.
func (a *Acquisition) ending(token int64) []trace.SpanStartOption {
	opts := []trace.SpanStartOption{a.lock.attributes}
	if token >= 0 {
		opts = append(opts, trace.WithAttributes(attribute.Int64(tracing.AttrLockToken, token)))
	}
	if acquire := a.spanContext(); acquire.IsValid() {
		opts = append(opts, trace.WithLinks(trace.Link{SpanContext: acquire}))
	}
	return opts
}

// End ends the release.
func (r Release) End(outcome string, held time.Duration) {
	if r.span == nil {
		return
	}
	if r.span.IsRecording() {
		r.span.SetAttributes(
			attribute.Float64(tracing.AttrLockHeldTime, held.Seconds()),
			attribute.String(tracing.AttrLockOutcome, outcome))
		if outcome == tracing.OutcomeAlreadyGone {
			r.span.SetAttributes(semconv.ErrorTypeKey.String(typeLost))
			r.span.SetStatus(codes.Error, "the lock was gone")
		}
	}
	r.span.End()
}

// Lost makes the span of a loss. It has the same parent as the span of the acquire. ctx is the lease's.
func (a *Acquisition) Lost(ctx context.Context, token int64, held time.Duration, reason string) {
	if a == nil || !a.t.tracing() {
		return
	}
	_, span := a.t.tracer.Start(ctx, tracing.SpanLockLost, a.ending(token)...)
	if span.IsRecording() {
		span.SetAttributes(
			attribute.Float64(tracing.AttrLockHeldTime, held.Seconds()),
			attribute.String(tracing.AttrLossReason, reason),
			semconv.ErrorTypeKey.String(typeLost))
		span.SetStatus(codes.Error, "lock lost: "+reason)
	}
	span.End()
}

// Do begins the span around an acquire, the work under the lock, and the release; end ends it. busy
// says that err means that others held a lock that was not to be waited for.
func (t *Telemetry) Do(ctx context.Context, lock Lock) (_ context.Context, end func(err error, busy bool)) {
	if t == nil || ctx == nil || !t.tracing() {
		return ctx, func(error, bool) {}
	}
	ctx, span := t.tracer.Start(ctx, tracing.SpanLockDo, lock.attributes)
	return ctx, func(err error, busy bool) {
		if err != nil && !busy {
			kind := ErrorType(err)
			span.SetAttributes(semconv.ErrorTypeKey.String(kind))
			span.SetStatus(codes.Error, t.describe(err, kind))
		}
		span.End()
	}
}
