package migration_test

import (
	"context"
	"errors"
	"log/slog"
	"testing"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/suite"
)

func TestMain(m *testing.M) {
	slog.SetDefault(slog.New(slog.DiscardHandler))
	suite.Main(m)
}

// What the Go of the document takes from the program around it.
var (
	connectString string
	data          = []byte("data")
	version       int32
	spans         = tracetest.NewSpanRecorder()
	provider      = sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(spans))

	// run is what the test wants to be done in the middle of the Go.
	run = func(context.Context, *framework.Client) error { return nil }
)

// called tells which of the functions below were called.
var called = make(chan string, 16)

func work(ctx context.Context, token int64) error {
	if token <= 0 {
		return errors.New("no token")
	}
	called <- "work"
	return ctx.Err()
}

func change(ctx context.Context) error  { called <- "change"; return ctx.Err() }
func publish(ctx context.Context) error { called <- "publish"; return ctx.Err() }
func export(ctx context.Context) error  { called <- "export"; return ctx.Err() }
func call(ctx context.Context) error    { called <- "call"; return ctx.Err() }
func conflict() error                   { called <- "conflict"; return nil }
func busy() error                       { called <- "busy"; return nil }
func pause()                            { called <- "pause" }
func resume()                           { called <- "resume" }
func abandon()                          { called <- "abandon" }
func use(data []byte)                   { called <- "use " + string(data) }

func reload(_ context.Context, path string) { called <- "reload " + path }
