// Tracedemo shows the spans of two programs that acquire the same lock. It needs no collector:
//
//	go run ./tools/tracedemo                          # as text
//	go run ./tools/tracedemo -otlp trace.json         # as OTLP/JSON, for programs that import it
//	go run ./tools/tracedemo -svg lock-trace.svg      # as the picture in docs/observability.md
//
// Both have their own session at an embedded server, and their own tracer provider, like two
// processes. Only the data of the lock's nodes connects their traces.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/wait"
	"github.com/go-curator/curator/recipes/locks"
	"github.com/go-curator/curator/retry"
	"github.com/go-curator/curator/tools/curatortest"
	"github.com/go-curator/curator/tracing"
)

func main() {
	if err := run(context.Background(), os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "tracedemo:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, stdout io.Writer) error {
	flags := flag.NewFlagSet("tracedemo", flag.ContinueOnError)
	otlp := flags.String("otlp", "", "write the spans to this `file`, as OTLP/JSON")
	svg := flags.String("svg", "", "draw the spans into this `file`")
	if err := flags.Parse(args); err != nil {
		return err
	}
	spans, err := record(ctx)
	if err != nil {
		return err
	}
	if *otlp == "" && *svg == "" {
		_, err := io.WriteString(stdout, text(spans))
		return err
	}
	if *otlp != "" {
		data, err := otlpJSON(spans)
		if err == nil {
			err = os.WriteFile(*otlp, data, 0o644)
		}
		if err != nil {
			return err
		}
	}
	if *svg != "" {
		return os.WriteFile(*svg, []byte(draw(spans)), 0o644)
	}
	return nil
}

// work is how long each program holds the lock.
const work = 12 * time.Millisecond

// record runs both programs, and returns their spans. The program billing holds the lock when
// orders-api tries to acquire it.
func record(ctx context.Context) (spans []sdktrace.ReadOnlySpan, err error) {
	server, err := curatortest.New()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, server.Close()) }()
	exporter := tracetest.NewInMemoryExporter()
	billing, err := start(ctx, "billing", server.ConnectString(), exporter)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, billing.client.Close(ctx)) }()
	orders, err := start(ctx, "orders-api", server.ConnectString(), exporter)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, orders.client.Close(ctx)) }()

	held, done := make(chan struct{}), make(chan error, 1)
	go func() {
		done <- billing.request(ctx, "monthly run", func() { close(held) })
	}()
	select {
	case <-held:
	case err := <-done:
		return nil, errors.Join(errors.New("billing did not get the lock"), err)
	}
	err = errors.Join(orders.request(ctx, "POST /orders", func() {}), <-done)
	return exporter.GetSpans().Snapshots(), err
}

// program is one of the two programs.
type program struct {
	client *framework.Client
	mutex  *locks.InterProcessMutex
	tracer trace.Tracer
}

func start(ctx context.Context, name, connectString string, exporter sdktrace.SpanExporter) (*program, error) {
	provider := sdktrace.NewTracerProvider(sdktrace.WithSyncer(exporter),
		sdktrace.WithResource(resource.NewSchemaless(attribute.String("service.name", name))))
	client, err := framework.NewClient(connectString, retry.ExponentialBackoff(time.Second, 3),
		framework.WithOwnerLabel(name), framework.WithoutEnsembleTracker(),
		framework.WithTracing(tracing.WithTracerProvider(provider)))
	if err != nil {
		return nil, err
	}
	if err := client.Start(ctx); err != nil {
		return nil, err
	}
	mutex, err := locks.NewInterProcessMutex(client, "/locks/orders", locks.WithName("orders"))
	if err == nil {
		err = client.BlockUntilConnected(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, client.Close(ctx))
	}
	return &program{client, mutex, provider.Tracer("tracedemo")}, nil
}

// request makes a span in which it acquires the lock, works, and releases the lock.
func (p *program) request(ctx context.Context, name string, locked func()) error {
	ctx, span := p.tracer.Start(ctx, name)
	defer span.End()
	return locks.Do(ctx, p.mutex, func(ctx context.Context, _ *locks.Lease) error {
		locked()
		_, err := p.client.CheckExists().ForPath(ctx, "/orders")
		_ = wait.For(ctx, work) // if ctx ends first, the spans show it
		return err
	})
}
