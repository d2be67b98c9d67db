package telemetry

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/go-curator/curator/state"
	"github.com/go-curator/curator/tracing"
)

// counters returns the points of the counters, as "name{labels} value".
func counters(t *testing.T, reader sdkmetric.Reader) (points []string) {
	t.Helper()
	var all metricdata.ResourceMetrics
	if err := reader.Collect(t.Context(), &all); err != nil {
		t.Fatal(err)
	}
	for _, scope := range all.ScopeMetrics {
		for _, m := range scope.Metrics {
			sum, ok := m.Data.(metricdata.Sum[int64])
			if !ok || !sum.IsMonotonic {
				continue
			}
			for _, p := range sum.DataPoints {
				var attrs []string
				for _, kv := range p.Attributes.ToSlice() {
					attrs = append(attrs, kv.Value.AsString())
				}
				points = append(points, fmt.Sprintf("%s{%s} %d", m.Name, strings.Join(attrs, " "), p.Value))
			}
		}
	}
	slices.Sort(points)
	return points
}

// Before something is counted there is a sample with 0, without which Prometheus takes the first event for
// no increase.
func TestCountersBeginWithZero(t *testing.T) {
	var lossesOfOrders []string
	for _, reason := range lossReasons {
		lossesOfOrders = append(lossesOfOrders, "curator.lock.losses{mutex "+reason+" orders} 0")
	}
	slices.Sort(lossesOfOrders)
	for name, tt := range map[string]struct {
		before, event func(tel *Telemetry)
		want          []string // before the event
		counted       string
	}{
		"a lock that is acquired": {
			before: func(tel *Telemetry) { tel.Acquire(t.Context(), tel.Lock(tracing.KindMutex, "orders", "/a"), false) },
			event: func(tel *Telemetry) {
				tel.Closed(t.Context(), tel.Lock(tracing.KindMutex, "orders", "/b"), true, time.Second, "suspended")
			},
			want:    append([]string{"curator.lock.dropped{mutex orders} 0"}, lossesOfOrders...),
			counted: "curator.lock.losses{mutex suspended orders} 1",
		},
		"a lease that was not acquired": {
			before:  func(tel *Telemetry) { tel.Opened(t.Context(), tel.Lock(tracing.KindMutex, "orders", "/a")) },
			event:   func(tel *Telemetry) { tel.Dropped(tel.Lock(tracing.KindMutex, "orders", "/a")) },
			want:    append([]string{"curator.lock.dropped{mutex orders} 0"}, lossesOfOrders...),
			counted: "curator.lock.dropped{mutex orders} 1",
		},
		"an election": {
			before:  func(tel *Telemetry) { tel.Candidate(tracing.RecipeLatch, "orders", "/a").Standing(t.Context()) },
			event:   func(tel *Telemetry) { tel.Candidate(tracing.RecipeLatch, "orders", "/a").count(t.Context(), 1) },
			want:    []string{"curator.leader.transitions{orders} 0"},
			counted: "curator.leader.transitions{orders} 1",
		},
		"a session": {
			before: func(tel *Telemetry) { tel.Attempted("host:1", nil, time.Second) },
			event:  func(tel *Telemetry) { tel.Transition(state.Suspended, 1) },
			want: []string{
				"zookeeper.client.connection.attempts{host} 1",
				"zookeeper.client.session.expirations{local_deadline} 0", "zookeeper.client.session.expirations{server} 0",
				"zookeeper.client.session.transitions{connected} 0", "zookeeper.client.session.transitions{lost} 0",
				"zookeeper.client.session.transitions{read_only} 0", "zookeeper.client.session.transitions{reconnected} 0",
				"zookeeper.client.session.transitions{suspended} 0",
			},
			counted: "zookeeper.client.session.transitions{suspended} 1",
		},
		"a queue": {
			before: func(tel *Telemetry) { tel.Process(t.Context(), tel.Queue("queue", "mail", "/a")) },
			event: func(tel *Telemetry) {
				_, p := tel.Process(t.Context(), tel.Queue("queue", "mail", "/a"))
				p.End(tracing.OutcomePutBack, nil)
			},
			want:    []string{"curator.queue.redelivered{mail} 0"},
			counted: "curator.queue.redelivered{mail} 1",
		},
	} {
		t.Run(name, func(t *testing.T) {
			reader := sdkmetric.NewManualReader()
			tel := New(Config{Settings: tracing.NewSettings(tracing.WithMeterProvider(sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader))))})
			tt.before(tel)
			if got := counters(t, reader); !slices.Equal(got, tt.want) {
				t.Errorf("before: %q, want %q", got, tt.want)
			}
			tt.event(tel)
			if got := counters(t, reader); !slices.Contains(got, tt.counted) || len(got) != len(tt.want) {
				t.Errorf("after: %q, want %q in it", got, tt.counted)
			}
		})
	}
}
