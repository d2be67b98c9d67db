// Traced is an HTTP service whose handler takes a lock, and whose traces show the wait for it.
//
//	go run ./traced -connect 127.0.0.1:2181
//	curl -i -X POST http://127.0.0.1:8080/orders/17
//
// A request with a traceparent header continues the caller's trace. The library makes its spans
// with the client's provider, as children of the span in the context. This program prints them;
// a service would use an exporter of OTLP.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"net/http"
	"net/url"
	"os"
	"os/signal"
	"syscall"
	"time"

	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
	"golang.org/x/sync/errgroup"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/recipes/locks"
	"github.com/go-curator/curator/retry"
	"github.com/go-curator/curator/tracing"
)

func main() {
	connect := flag.String("connect", "127.0.0.1:2181", "the ZooKeeper servers, as `host:port,...`")
	listen := flag.String("listen", "127.0.0.1:8080", "the `address` of the service")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, *connect, *listen); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, connect, listen string) (err error) {
	provider := sdktrace.NewTracerProvider(sdktrace.WithBatcher(printer{}))
	defer func() { err = errors.Join(err, provider.Shutdown(context.WithoutCancel(ctx))) }()
	client, err := framework.NewClient(connect, retry.ExponentialBackoff(100*time.Millisecond, 5),
		framework.WithTracing(tracing.WithTracerProvider(provider)), framework.WithOwnerLabel("orders-api"))
	if err != nil {
		return err
	}
	if err := client.Start(ctx); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, client.Close(ctx)) }()

	server := &http.Server{Addr: listen, Handler: newHandler(client, provider), ReadHeaderTimeout: 5 * time.Second}
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error {
		if err := server.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
			return err
		}
		return nil
	})
	g.Go(func() error {
		<-ctx.Done()
		return server.Shutdown(context.WithoutCancel(ctx))
	})
	return g.Wait()
}

type service struct {
	client *framework.Client
	tracer trace.Tracer
}

func newHandler(client *framework.Client, provider trace.TracerProvider) http.Handler {
	s := service{client, provider.Tracer("example.com/orders")}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /orders/{id}", s.process)
	return mux
}

// process does the work of one request under the lock of its order.
func (s service) process(w http.ResponseWriter, r *http.Request) {
	ctx := propagation.TraceContext{}.Extract(r.Context(), propagation.HeaderCarrier(r.Header))
	ctx, span := s.tracer.Start(ctx, "POST /orders/{id}", trace.WithSpanKind(trace.SpanKindServer))
	defer span.End()

	// The name is one of a few: metrics have it as a label. The path has the order's id.
	mutex, err := locks.NewInterProcessMutex(s.client, "/locks/orders/"+url.PathEscape(r.PathValue("id")),
		locks.WithName("order"), locks.WithMaxWait(time.Second))
	if err == nil {
		err = locks.Do(ctx, mutex, s.charge)
	}
	switch {
	case err == nil:
		_, _ = fmt.Fprintln(w, "done") // a caller that has gone needs no answer
	case errors.Is(err, locks.ErrNotAcquired):
		w.Header().Set("Retry-After", "1")
		http.Error(w, "somebody else works on this order", http.StatusServiceUnavailable)
	default:
		span.SetStatus(codes.Error, err.Error())
		http.Error(w, "try again", http.StatusInternalServerError)
	}
}

// charge is the work. Its span is a child of that of the lock.
func (s service) charge(ctx context.Context, _ *locks.Lease) error {
	ctx, span := s.tracer.Start(ctx, "charge")
	defer span.End()
	select {
	case <-time.After(10 * time.Millisecond):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// printer prints spans.
type printer struct{}

func (printer) ExportSpans(_ context.Context, spans []sdktrace.ReadOnlySpan) error {
	for _, s := range spans {
		fmt.Printf("%s %s of %s: %s, %v\n", s.SpanContext().TraceID(), s.SpanContext().SpanID(), s.Parent().SpanID(),
			s.Name(), s.EndTime().Sub(s.StartTime()))
	}
	return nil
}

func (printer) Shutdown(context.Context) error { return nil }
