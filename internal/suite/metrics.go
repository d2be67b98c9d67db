package suite

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/go-curator/curator/tracing"
)

// Metrics collects the metrics of clients.
type Metrics struct {
	reader   *metric.ManualReader
	provider *metric.MeterProvider
}

// NewMetrics returns a collector of everything.
func NewMetrics() *Metrics {
	m := &Metrics{reader: metric.NewManualReader()}
	m.provider = metric.NewMeterProvider(metric.WithReader(m.reader))
	return m
}

// Option has a client's metrics collected.
func (m *Metrics) Option() tracing.Option { return tracing.WithMeterProvider(m.provider) }

// Collect returns what there is.
func (m *Metrics) Collect(t testing.TB) []metricdata.Metrics {
	t.Helper()
	var all metricdata.ResourceMetrics
	if err := m.reader.Collect(context.Background(), &all); err != nil {
		t.Fatal(err)
	}
	var metrics []metricdata.Metrics
	for _, scope := range all.ScopeMetrics {
		metrics = append(metrics, scope.Metrics...)
	}
	return metrics
}

// Points returns the metrics' points as text, "name{key=value ...} 3": the sum, the last
// value or, for a histogram, the number of its values. Points of 0 are left out.
func (m *Metrics) Points(t testing.TB) []string {
	t.Helper()
	var points []string
	add := func(name string, attrs attribute.Set, value float64) {
		var texts []string
		for _, kv := range attrs.ToSlice() {
			texts = append(texts, string(kv.Key)+"="+kv.Value.String())
		}
		if value != 0 {
			points = append(points, fmt.Sprintf("%s{%s} %v", name, strings.Join(texts, " "), value))
		}
	}
	for _, m := range m.Collect(t) {
		switch data := m.Data.(type) {
		case metricdata.Sum[int64]:
			for _, p := range data.DataPoints {
				add(m.Name, p.Attributes, float64(p.Value))
			}
		case metricdata.Gauge[int64]:
			for _, p := range data.DataPoints {
				add(m.Name, p.Attributes, float64(p.Value))
			}
		case metricdata.Gauge[float64]:
			for _, p := range data.DataPoints {
				add(m.Name, p.Attributes, p.Value)
			}
		case metricdata.Histogram[int64]:
			for _, p := range data.DataPoints {
				add(m.Name, p.Attributes, float64(p.Count))
			}
		case metricdata.Histogram[float64]:
			for _, p := range data.DataPoints {
				add(m.Name, p.Attributes, float64(p.Count))
			}
		default:
			t.Fatalf("%s: %T", m.Name, data)
		}
	}
	slices.Sort(points)
	return points
}
