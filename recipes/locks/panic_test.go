package locks_test

import (
	"slices"
	"strings"
	"testing"

	"go.opentelemetry.io/otel/codes"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/tracing"
)

// A panic of the user's, here of the retry policy, goes on, and the acquire has ended by then:
// its span, its count, and what it had made.
func TestPanicWhileAcquiring(t *testing.T) {
	kinds := []kind{mutexKind, readKind, twoKind, twoV2Kind, multiKinds[1]}
	eachKindVirtually(t, kinds, func(t *testing.T, f *fixture) {
		f.prepare()
		spans, metrics := suite.NewSpans(), suite.NewMetrics()
		client := f.b.PanickingClient(t, f.network,
			sessionPolicy, // the first lock of several outlives the connection
			framework.WithTracing(spans.Option(), metrics.Option()))
		hit := f.onCreate(suite.CutBefore, nil)
		suite.WantPanic(t, func() {
			_, err := f.kind.lock(f.env, client).Acquire(t.Context())
			t.Errorf("Acquire has returned: %v", err)
		})
		<-hit
		f.untilNone()
		wantEnded(t, spans, metrics)
	})
}

// wantEnded fails unless every acquire has ended, the outermost of them with an error.
func wantEnded(t *testing.T, spans *suite.Spans, metrics *suite.Metrics) {
	t.Helper()
	spans.Await(t, 1)
	acquires := spans.Named(tracing.SpanLockAcquire)
	if outermost := acquires[len(acquires)-1]; outermost.Status().Code != codes.Error {
		t.Errorf("the span of the acquire: %v", outermost.Status())
	}
	points := metrics.Points(t)
	failed := func(point string) bool {
		return strings.HasPrefix(point, tracing.MetricAcquireDuration+"{") && strings.Contains(point, "outcome=error error.type=_OTHER")
	}
	pending := func(point string) bool { return strings.HasPrefix(point, tracing.MetricPending+"{") }
	if !slices.ContainsFunc(points, failed) || slices.ContainsFunc(points, pending) {
		t.Errorf("metrics %q", points)
	}
}
