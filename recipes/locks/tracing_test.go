package locks_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/recipes/locks"
	"github.com/go-curator/curator/tracing"
)

// attrs returns a span's attributes by name.
func attrs(span sdktrace.ReadOnlySpan) map[attribute.Key]attribute.Value {
	m := map[attribute.Key]attribute.Value{}
	for _, kv := range span.Attributes() {
		m[kv.Key] = kv.Value
	}
	return m
}

func TestSpans(t *testing.T) {
	suite.Each(t, func(t *testing.T, b *suite.Backend) {
		recorder := tracetest.NewSpanRecorder()
		provider := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(recorder))
		e := newEnv(t, b, framework.WithTracing(tracing.WithTracerProvider(provider),
			tracing.WithPathFormatter(func(string) string { return "/formatted" })))
		ctx, request := provider.Tracer("test").Start(t.Context(), "request")

		lease, err := e.mutex.Acquire(ctx)
		if err != nil {
			t.Fatal(err)
		}
		nested, err := e.mutex.Acquire(lease.Bind(ctx))
		if err != nil {
			t.Fatal(err)
		}
		if err := nested.Release(ctx); err != nil {
			t.Fatal(err)
		}
		_, err = e.lock(e.client).TryAcquire(ctx)
		wantErr(t, err, locks.ErrNotAcquired)
		waitCtx, cancel := context.WithTimeout(ctx, 20*time.Millisecond)
		_, err = e.mutex.Acquire(waitCtx)
		cancel()
		wantErr(t, err, context.DeadlineExceeded)
		if err := lease.Release(ctx); err != nil {
			t.Fatal(err)
		}
		lost, err := e.mutex.Acquire(ctx)
		if err != nil {
			t.Fatal(err)
		}
		e.network.Expire(t)
		e.lost(lost, locks.LossSuspended)
		wantErr(t, lost.Release(ctx), locks.ErrLockLost)

		suite.Eventually(t, "all spans", func() bool { return len(recorder.Ended()) == 9 })
		checkSpans(t, recorder.Ended(), request.SpanContext().SpanID(), lease.Token())
	})
}

// checkSpans checks the spans of TestSpans, in which the first lease had the token.
func checkSpans(t *testing.T, spans []sdktrace.ReadOnlySpan, parent trace.SpanID, token int64) {
	t.Helper()
	byName := map[string][]sdktrace.ReadOnlySpan{}
	for _, span := range spans {
		byName[span.Name()] = append(byName[span.Name()], span)
		if span.Parent().SpanID() != parent {
			t.Errorf("%s is no child of the request", span.Name())
		}
		if got := attrs(span); got[tracing.AttrLockKind].AsString() != "mutex" || got[tracing.AttrLockPath].AsString() != "/formatted" {
			t.Errorf("%s: %v", span.Name(), got)
		}
	}
	acquires, releases := byName[tracing.SpanLockAcquire], byName[tracing.SpanLockRelease]
	var outcomes []string
	for _, span := range acquires {
		outcomes = append(outcomes, attrs(span)[tracing.AttrLockOutcome].AsString())
		if span.Status().Code != codes.Unset {
			t.Errorf("an acquire has the status %v", span.Status())
		}
	}
	want := []string{tracing.OutcomeAcquired, tracing.OutcomeAcquired, tracing.OutcomeNotAcquired, tracing.OutcomeTimeout, tracing.OutcomeAcquired}
	if !slices.Equal(outcomes, want) {
		t.Fatalf("outcomes %q, want %q", outcomes, want)
	}
	first := attrs(acquires[0])
	if first[tracing.AttrLockToken].AsInt64() != token || first[tracing.AttrLockReentrant].AsBool() ||
		!attrs(acquires[1])[tracing.AttrLockReentrant].AsBool() || !attrs(acquires[2])[tracing.AttrLockTry].AsBool() {
		t.Errorf("attributes %v", first)
	}
	for i, of := range []int{1, 0, 4} { // the nested one, the first, the lost one
		if link := releases[i].Links()[0].SpanContext.SpanID(); link != acquires[of].SpanContext().SpanID() {
			t.Errorf("release %d links to %v", i, link)
		}
	}
	if attrs(releases[2])[tracing.AttrLockOutcome].AsString() != tracing.OutcomeLost {
		t.Errorf("release of what was lost: %v", attrs(releases[2]))
	}
	losses := byName[tracing.SpanLockLost]
	if len(losses) != 1 || attrs(losses[0])[tracing.AttrLossReason].AsString() != "suspended" ||
		losses[0].Links()[0].SpanContext.SpanID() != acquires[4].SpanContext().SpanID() {
		t.Errorf("losses %v", losses)
	}
}

// A client WithoutTracing has locks that work.
func TestNoSpans(t *testing.T) {
	suite.Each(t, func(t *testing.T, b *suite.Backend) {
		e := newEnv(t, b, framework.WithoutTracing())
		e.release(e.acquire(e.mutex))
	})
}
