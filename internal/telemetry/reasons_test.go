package telemetry_test

import (
	"slices"
	"strings"
	"testing"

	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/go-curator/curator/internal/telemetry"
	"github.com/go-curator/curator/recipes/locks"
	"github.com/go-curator/curator/tracing"
)

// The losses of a lock begin with 0 for each reason that package locks has.
func TestZeroForEachReason(t *testing.T) {
	var want []string
	for reason := range locks.LossReason(100) {
		if text := reason.String(); !strings.HasPrefix(text, "LossReason(") {
			want = append(want, text)
		}
	}
	reader := sdkmetric.NewManualReader()
	tel := telemetry.New(telemetry.Config{Settings: tracing.NewSettings(tracing.WithMeterProvider(sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader))))})
	tel.Opened(t.Context(), tel.Lock(tracing.KindMutex, "", ""))
	var all metricdata.ResourceMetrics
	if err := reader.Collect(t.Context(), &all); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, m := range all.ScopeMetrics[0].Metrics {
		if sum, ok := m.Data.(metricdata.Sum[int64]); ok && m.Name == tracing.MetricLosses {
			for _, p := range sum.DataPoints {
				reason, _ := p.Attributes.Value(tracing.AttrLossReason)
				got = append(got, reason.AsString())
			}
		}
	}
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(got, want) || len(want) == 0 {
		t.Errorf("%q, want %q", got, want)
	}
}
