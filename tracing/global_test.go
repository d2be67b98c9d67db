package tracing_test

import (
	"testing"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/go-curator/curator/recipes/locks"
	"github.com/go-curator/curator/tools/curatortest"
	"github.com/go-curator/curator/tracing"
)

// TestGlobalProvidersSetLater has a client that is older than the SDK. It is the only test
// of its process that sets what is global.
func TestGlobalProvidersSetLater(t *testing.T) {
	client := curatortest.Start(t).Client(t)
	mutex, err := locks.NewInterProcessMutex(client, "/lock")
	if err != nil {
		t.Fatal(err)
	}
	once := func() {
		t.Helper()
		lease, err := mutex.Acquire(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if err := lease.Release(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	once()
	recorder, reader := tracetest.NewSpanRecorder(), metric.NewManualReader()
	otel.SetTracerProvider(sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(recorder)))
	otel.SetMeterProvider(metric.NewMeterProvider(metric.WithReader(reader)))
	once()
	names := map[string]int{}
	for _, span := range recorder.Ended() {
		names[span.Name()]++
	}
	if names[tracing.SpanLockAcquire] != 1 || names["create"] != 1 || names["delete"] != 1 || names[tracing.SpanLockRelease] != 1 {
		t.Errorf("spans %v", names)
	}
	var all metricdata.ResourceMetrics
	if err := reader.Collect(t.Context(), &all); err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	for _, scope := range all.ScopeMetrics {
		for _, m := range scope.Metrics {
			found[m.Name] = true
		}
	}
	if !found[tracing.MetricAcquireDuration] || !found[tracing.MetricOperationDuration] || !found[tracing.MetricLeaseRemaining] {
		t.Errorf("metrics %v", found)
	}
}
