package telemetry

import (
	"testing"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/go-curator/curator/internal/zkconn"
	"github.com/go-curator/curator/tracing"
)

// BenchmarkHooks measures all that is called for an uncontended acquire and its release:
// what they take longer than they would without tracing, beside a larger node.
func BenchmarkHooks(b *testing.B) {
	sdk := func(sampler sdktrace.Sampler) tracing.Option {
		return tracing.WithTracerProvider(sdktrace.NewTracerProvider(sdktrace.WithSampler(sampler)))
	}
	for _, c := range []struct {
		name string
		opts []tracing.Option
	}{
		{"no SDK", nil},
		{"dropped", []tracing.Option{sdk(sdktrace.NeverSample())}},
		{"dropped without operations", []tracing.Option{sdk(sdktrace.NeverSample()), tracing.WithoutOperationSpans()}},
		{"sampled", []tracing.Option{sdk(sdktrace.AlwaysSample())}},
	} {
		b.Run(c.name, func(b *testing.B) {
			tel, conn := New(Config{Settings: tracing.NewSettings(c.opts...), Label: "label"}), new(zkconn.Conn)
			lock := tel.Lock(tracing.KindMutex, "name", "/path")
			b.ReportAllocs()
			for b.Loop() {
				ctx, a := tel.Acquire(b.Context(), lock, false)
				tel.NodeData(a)
				_, op := tel.Operation(ctx, conn, Op{Name: "create", Path: "/path/lock-"})
				op.End(1, nil)
				a.Enqueued(0, 1, 1)
				counted := tel.Opened(ctx, lock)
				a.Granted(1, false)
				_, op = a.Watch(b.Context(), conn, "/path/lock-1", true)
				op.End(1, nil)
				ctx, release := a.Release(b.Context(), 1)
				_, op = tel.Operation(ctx, conn, Op{Name: "delete", Path: "/path/lock-1"})
				op.End(1, nil)
				release.End(tracing.OutcomeReleased, 1)
				tel.Closed(b.Context(), lock, counted, 1, "")
			}
		})
	}
}
