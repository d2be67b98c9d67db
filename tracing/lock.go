package tracing

import (
	"context"
	"errors"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
)

// Lock is what a span says of a lock.
type Lock struct {
	Kind string // "mutex"
	Path string
}

// Outcomes of an acquire and of a release.
const (
	OutcomeAcquired    = "acquired"
	OutcomeNotAcquired = "not_acquired" // others hold the lock: no error
	OutcomeTimeout     = "timeout"
	OutcomeCanceled    = "canceled"
	OutcomeError       = "error"
	OutcomeReleased    = "released"
	OutcomeLost        = "lost"    // it was gone already
	OutcomeUnknown     = "unknown" // no answer yet
)

// Acquisition is the span of an acquire. A nil Acquisition is none.
type Acquisition struct {
	tracer *Tracer
	lock   Lock
	span   trace.Span
}

// Acquire begins the span of an acquire; ctx is to be used for its work.
func (t *Tracer) Acquire(ctx context.Context, lock Lock, try bool) (context.Context, *Acquisition) {
	if t == nil {
		return ctx, nil
	}
	ctx, span := t.tracer.Start(ctx, SpanLockAcquire)
	if span.IsRecording() {
		span.SetAttributes(append(t.attributes(lock), attribute.Bool(AttrLockTry, try))...)
	}
	return ctx, &Acquisition{t, lock, span}
}

func (t *Tracer) attributes(lock Lock) []attribute.KeyValue {
	attrs := []attribute.KeyValue{attribute.String(AttrLockKind, lock.Kind)}
	if path := t.path(lock.Path); path != "" {
		attrs = append(attrs, attribute.String(AttrLockPath, path))
	}
	return attrs
}

// Granted ends the span of an acquire that succeeded.
func (a *Acquisition) Granted(token int64, reentrant bool) {
	if a == nil {
		return
	}
	if a.span.IsRecording() {
		a.span.SetAttributes(
			attribute.String(AttrLockOutcome, OutcomeAcquired),
			attribute.Int64(AttrLockToken, token),
			attribute.Bool(AttrLockReentrant, reentrant))
	}
	a.span.End()
}

// Failed ends the span of an acquire that failed with err; busy says that others were
// seen to hold the lock. That, and the caller's own end of the wait, is no error.
func (a *Acquisition) Failed(err error, busy bool) {
	if a == nil {
		return
	}
	outcome := OutcomeError
	switch {
	case errors.Is(err, context.Canceled):
		outcome = OutcomeCanceled
	case errors.Is(err, context.DeadlineExceeded):
		outcome = OutcomeTimeout
	case busy:
		outcome = OutcomeNotAcquired
	}
	if a.span.IsRecording() {
		a.span.SetAttributes(attribute.String(AttrLockOutcome, outcome))
		if outcome == OutcomeError {
			a.span.SetStatus(codes.Error, err.Error())
		}
	}
	a.span.End()
}

// link is what the spans of a hold carry of their acquire.
func (a *Acquisition) link() trace.SpanStartOption {
	return trace.WithLinks(trace.Link{SpanContext: a.span.SpanContext()})
}

// Release begins the span of a release, which links to the acquire. end ends it with its
// outcome.
func (a *Acquisition) Release(ctx context.Context, token int64, held time.Duration) (end func(outcome string)) {
	if a == nil || ctx == nil {
		return func(string) {}
	}
	_, span := a.tracer.tracer.Start(ctx, SpanLockRelease, a.link())
	return func(outcome string) {
		if span.IsRecording() {
			span.SetAttributes(append(a.tracer.attributes(a.lock),
				attribute.Int64(AttrLockToken, token),
				attribute.Float64(AttrLockHeldTime, held.Seconds()),
				attribute.String(AttrLockOutcome, outcome))...)
			if outcome == OutcomeLost {
				span.SetStatus(codes.Error, "the lock was gone")
			}
		}
		span.End()
	}
}

// Lost makes the span of a loss, a child of whatever the acquire was a child of; ctx is
// the lease's.
func (a *Acquisition) Lost(ctx context.Context, token int64, held time.Duration, reason string) {
	if a == nil {
		return
	}
	_, span := a.tracer.tracer.Start(ctx, SpanLockLost, a.link())
	if span.IsRecording() {
		span.SetAttributes(append(a.tracer.attributes(a.lock),
			attribute.Int64(AttrLockToken, token),
			attribute.Float64(AttrLockHeldTime, held.Seconds()),
			attribute.String(AttrLossReason, reason))...)
		span.SetStatus(codes.Error, "lock lost: "+reason)
	}
	span.End()
}
