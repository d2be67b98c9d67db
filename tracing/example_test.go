package tracing_test

import (
	"context"
	"fmt"
	"time"

	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/recipes/locks"
	"github.com/go-curator/curator/retry"
	"github.com/go-curator/curator/tools/curatortest"
	"github.com/go-curator/curator/tracing"
)

// A client and its locks report to providers of their own instead of the global ones.
func Example() {
	server, err := curatortest.New()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer server.Close()
	ctx := context.Background()
	spans := tracetest.NewSpanRecorder()
	tp, mp := trace.NewTracerProvider(trace.WithSpanProcessor(spans)), metric.NewMeterProvider()
	if err := work(ctx, server.ConnectString(), retry.ExponentialBackoff(time.Second, 3), tp, mp); err != nil {
		fmt.Println(err)
	}
	for _, span := range spans.Ended() {
		if span.Name() == tracing.SpanLockAcquire {
			fmt.Println(span.Name())
		}
	}
	// Output: curator.lock.acquire
}

func work(ctx context.Context, connectString string, policy retry.Policy, tp *trace.TracerProvider, mp *metric.MeterProvider) error {
	client, err := framework.NewClient(connectString, policy,
		framework.WithTracing(tracing.WithTracerProvider(tp), tracing.WithMeterProvider(mp)),
		framework.WithOwnerLabel("orders-api"))
	if err != nil {
		return err
	}
	if err := client.Start(ctx); err != nil {
		return err
	}
	defer client.Close(ctx)
	mutex, err := locks.NewInterProcessMutex(client, "/locks/orders", locks.WithName("orders"))
	if err != nil {
		return err
	}
	return locks.Do(ctx, mutex, func(context.Context, *locks.Lease) error { return nil })
}
