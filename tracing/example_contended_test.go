package tracing_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"sync"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"
	"golang.org/x/sync/errgroup"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/recipes/locks"
	"github.com/go-curator/curator/retry"
	"github.com/go-curator/curator/tools/curatortest"
	"github.com/go-curator/curator/tracing"
)

// Two programs want the same lock. Each has its own session and its own tracer provider, like two processes. Only the
// data of the lock's nodes connects their traces: the acquire of orders-api links to that of billing, for which it
// waited. The output has the spans of the locks, with their events and links. With -v, go test shows all spans, with
// their times and attributes, on standard error.
func Example_contended() {
	server, err := curatortest.New()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer server.Close()
	exporter := &exporter{waits: make(chan struct{})}
	if err := contend(context.Background(), server.ConnectString(), exporter); err != nil {
		fmt.Println(err)
	}
	printSpans(os.Stderr, exporter.all.GetSpans().Snapshots(), true)
	printSpans(os.Stdout, exporter.all.GetSpans().Snapshots(), false)
	// Output:
	// monthly run of billing
	//   curator.lock.do
	//     curator.lock.acquire
	//       + enqueued
	//       + granted
	//     curator.lock.release
	//       -> curator.lock.acquire of billing
	// POST /orders of orders-api
	//   curator.lock.do
	//     curator.lock.acquire
	//       + enqueued
	//       + waiting
	//       + granted
	//       -> curator.lock.acquire of billing
	//     curator.lock.release
	//       -> curator.lock.acquire of orders-api
}

// contend has orders-api wait for a lock that billing holds.
func contend(ctx context.Context, connectString string, exporter *exporter) (err error) {
	billing, err := start(ctx, "billing", connectString, exporter)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, billing.client.Close(ctx)) }()
	orders, err := start(ctx, "orders-api", connectString, exporter)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, orders.client.Close(ctx)) }()

	held := make(chan struct{})
	g, working := errgroup.WithContext(ctx) // Close gets ctx, because working ends with the work
	g.Go(func() error {
		return billing.request(working, "monthly run", func(ctx context.Context) error {
			close(held)
			return await(ctx, exporter.waits)
		})
	})
	g.Go(func() error {
		if err := await(working, held); err != nil {
			return err
		}
		return orders.request(working, "POST /orders", func(ctx context.Context) error {
			_, err := orders.client.CheckExists().ForPath(ctx, "/orders")
			return err
		})
	})
	return g.Wait()
}

func await(ctx context.Context, c <-chan struct{}) error {
	select {
	case <-c:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
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
		framework.WithOwnerLabel(name), framework.WithTracing(tracing.WithTracerProvider(provider)))
	if err != nil {
		return nil, err
	}
	mutex, err := locks.NewInterProcessMutex(client, "/locks/orders", locks.WithName("orders"))
	if err != nil {
		return nil, err
	}
	if err := client.Start(ctx); err != nil {
		return nil, errors.Join(err, client.Close(ctx))
	}
	return &program{client, mutex, provider.Tracer("example")}, nil
}

// request does work under the lock, in a span of its own.
func (p *program) request(ctx context.Context, name string, work func(context.Context) error) error {
	ctx, span := p.tracer.Start(ctx, name)
	defer span.End()
	return locks.Do(ctx, p.mutex, func(ctx context.Context, _ *locks.Lease) error { return work(ctx) })
}

// exporter keeps the spans of both programs. A program would use an exporter of OTLP.
type exporter struct {
	all   tracetest.InMemoryExporter
	waits chan struct{} // closed when orders-api has read who is ahead
	once  sync.Once
}

func (e *exporter) ExportSpans(ctx context.Context, spans []sdktrace.ReadOnlySpan) error {
	for _, s := range spans {
		if s.Name() == "getData" && service(s) == "orders-api" {
			e.once.Do(func() { close(e.waits) })
		}
	}
	return e.all.ExportSpans(ctx, spans)
}

func (e *exporter) Shutdown(ctx context.Context) error { return e.all.Shutdown(ctx) }

func service(s sdktrace.ReadOnlySpan) string {
	name, _ := s.Resource().Set().Value("service.name")
	return name.AsString()
}

// printSpans writes spans below their parents, with events and links. Without details it leaves out ZooKeeper's
// operations, and what differs from run to run.
func printSpans(w io.Writer, spans []sdktrace.ReadOnlySpan, details bool) {
	slices.SortStableFunc(spans, func(a, b sdktrace.ReadOnlySpan) int { return a.StartTime().Compare(b.StartTime()) })
	names := map[trace.SpanID]string{}
	for _, s := range spans {
		names[s.SpanContext().SpanID()] = s.Name() + " of " + service(s)
	}
	var below func(parent trace.SpanID, margin string)
	below = func(parent trace.SpanID, margin string) {
		for _, s := range spans {
			if s.Parent().SpanID() != parent || s.SpanKind() == trace.SpanKindClient && !details {
				continue
			}
			name, inner := s.Name(), margin+"  "
			if margin == "" {
				name = names[s.SpanContext().SpanID()]
			}
			fmt.Fprintln(w, margin+name+after(s.StartTime(), s.EndTime(), details))
			for _, kv := range s.Attributes() {
				if details {
					fmt.Fprintf(w, "%s%s=%s\n", inner, kv.Key, kv.Value.String())
				}
			}
			for _, e := range s.Events() {
				fmt.Fprintln(w, inner+"+ "+e.Name+after(s.StartTime(), e.Time, details))
			}
			for _, l := range s.Links() {
				fmt.Fprintln(w, inner+"-> "+names[l.SpanContext.SpanID()])
			}
			below(s.SpanContext().SpanID(), inner)
		}
	}
	below(trace.SpanID{}, "")
}

// after returns the time from begin to end as text, or none.
func after(begin, end time.Time, details bool) string {
	if !details {
		return ""
	}
	return " " + end.Sub(begin).Round(time.Microsecond).String()
}
