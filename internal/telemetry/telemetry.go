package telemetry

import (
	"context"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/propagation"
	semconv "go.opentelemetry.io/otel/semconv/v1.41.0"
	"go.opentelemetry.io/otel/trace"

	"github.com/go-curator/curator/tracing"
)

// version is the version of the instrumentation scope: that of the next release.
const version = "0.1.0-dev"

// Config says what to make.
type Config struct {
	tracing.Settings
	Data   []byte // of lock nodes, without what is added to it
	Label  string // of the owner, there
	Chroot string // "" for none
}

// Telemetry makes the spans and metrics of one client.
type Telemetry struct {
	Config
	tracer  trace.Tracer
	driver  driver
	data    []byte // Data with the fields of all lock nodes; nil to leave it as it is
	servers atomic.Pointer[serverName]
	// connected says that there was a connection. Without it a user's driver gets no Disconnected.
	connected atomic.Bool
	*instruments
	zeroes zeroes

	mu      sync.Mutex
	waiting map[*Acquisition]struct{} // whose spans get events of the connection
}

// New returns the Telemetry of a client.
func New(cfg Config) *Telemetry {
	t := &Telemetry{Config: cfg, driver: newDriver(cfg.Driver), waiting: map[*Acquisition]struct{}{}}
	provider := cfg.TracerProvider
	if provider == nil {
		provider = otel.GetTracerProvider()
	}
	t.tracer = provider.Tracer(tracing.ScopeName,
		trace.WithInstrumentationVersion(version), trace.WithSchemaURL(semconv.SchemaURL))
	meters := cfg.MeterProvider
	if meters == nil {
		meters = otel.GetMeterProvider()
	}
	t.instruments = newInstruments(meters)
	if !cfg.NoHolderLinks {
		t.data = append(slices.Clone(cfg.Data), ownerFields(cfg.Label)...)
	}
	return t
}

// background is the context of what happens in no trace.
var background = context.Background()

// noProvider is the global tracer provider before one is set, or nil if one was set before this package
// was initialized. Its spans do nothing, but cost an allocation.
var noProvider = findNoProvider()

func findNoProvider() trace.TracerProvider {
	provider := otel.GetTracerProvider()
	if !reflect.TypeOf(provider).Comparable() {
		return nil
	}
	// An SDK gives every span an id. This one is in a trace that is not sampled, so that no
	// exporter sees it.
	parent := trace.NewSpanContext(trace.SpanContextConfig{TraceID: trace.TraceID{1}, SpanID: trace.SpanID{1}, Remote: true})
	_, span := provider.Tracer(tracing.ScopeName).Start(trace.ContextWithRemoteSpanContext(background, parent), "probe")
	defer span.End()
	if id := span.SpanContext().SpanID(); id.IsValid() && id != parent.SpanID() {
		return nil
	}
	return provider
}

// tracing tells whether spans can be recorded.
func (t *Telemetry) tracing() bool {
	return t.TracerProvider != nil || otel.GetTracerProvider() != noProvider
}

// path returns a path for an attribute, "" for none.
func (t *Telemetry) path(path string) string {
	if t.FormatPath != nil && path != "" {
		return t.FormatPath(path)
	}
	return path
}

// spanAttributes returns the attributes of the spans of a recipe: attrs, and its name and path under
// their keys if they are not empty.
func (t *Telemetry) spanAttributes(nameKey, name, pathKey, path string, attrs ...attribute.KeyValue) trace.SpanStartEventOption {
	if name != "" {
		attrs = append(attrs, attribute.String(nameKey, name))
	}
	if path = t.path(path); path != "" {
		attrs = append(attrs, attribute.String(pathKey, path))
	}
	return trace.WithAttributes(attrs...)
}

// unrooted returns a path of the server's without the chroot.
func (t *Telemetry) unrooted(full string) string {
	if rest := strings.TrimPrefix(full, t.Chroot); rest != "" {
		return rest
	}
	return "/"
}

// propagator writes the holder's trace into lock nodes.
func (t *Telemetry) propagator() propagation.TextMapPropagator {
	if t.Propagator != nil {
		return t.Propagator
	}
	if global := otel.GetTextMapPropagator(); len(global.Fields()) > 0 {
		return global
	}
	return propagation.TraceContext{}
}
