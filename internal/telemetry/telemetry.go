// Package telemetry makes the spans and metrics of the client and the recipes, with the options
// of package tracing. Without an SDK its hooks cost very little: the hook of an operation
// allocates nothing.
//
// A nil *Telemetry, and the values that it returns, do nothing.
package telemetry

import (
	"context"
	"errors"
	"net"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/propagation"
	semconv "go.opentelemetry.io/otel/semconv/v1.41.0"
	"go.opentelemetry.io/otel/trace"

	"github.com/go-curator/curator/internal/zkconn"
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
	t.instruments = newInstruments(meters.Meter(tracing.ScopeName,
		metric.WithInstrumentationVersion(version), metric.WithSchemaURL(semconv.SchemaURL)))
	if !cfg.NoHolderLinks {
		t.data = owner(cfg.Label).Append(slices.Clone(cfg.Data))
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
	return t != nil && (t.TracerProvider != nil || otel.GetTracerProvider() != noProvider)
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

// serverName is a server as spans and metrics show it.
type serverName struct {
	server, host string
	attributes   []attribute.KeyValue
}

// serverOf returns the name of a server. It keeps the last one, which is normally asked for again.
func (t *Telemetry) serverOf(server string) *serverName {
	if last := t.servers.Load(); last != nil && last.server == server {
		return last
	}
	host, port := splitHostPort(server)
	name := &serverName{server: server, host: host}
	if host != "" {
		name.attributes = append(name.attributes, semconv.ServerAddress(host))
	}
	if port != 0 {
		name.attributes = append(name.attributes, semconv.ServerPort(port))
	}
	t.servers.Store(name)
	return name
}

// splitHostPort returns the parts of host:port; the port is 0 if there is none.
func splitHostPort(address string) (host string, port int) {
	host, text, err := net.SplitHostPort(address)
	if err != nil {
		return address, 0
	}
	port, err = strconv.Atoi(text)
	if err != nil {
		return host, 0
	}
	return host, port
}

// The values of error.type: a closed set.
const (
	typeConnectionLoss = "connection_loss"
	typeSessionExpired = "session_expired"
	typeSessionMoved   = "session_moved"
	typeNoAuth         = "no_auth"
	typeAuthFailed     = "auth_failed"
	typeNotFound       = "not_found"
	typeExists         = "exists"
	typeBadVersion     = "bad_version"
	typeTooLarge       = "too_large"
	typeTimeout        = "timeout"
	typeCanceled       = "canceled"
	typeClosed         = "closed"
	typeLost           = "lost"
	typeOther          = "_OTHER"
)

// errorTypes has the types of errors. The reasons for which an operation is given up come first, because
// they are joined with the error of its last try.
var errorTypes = []struct {
	err  error
	name string
}{
	{zkconn.ErrClosed, typeClosed},
	{context.Canceled, typeCanceled},
	{context.DeadlineExceeded, typeTimeout},
	{zkconn.ErrConnectionLoss, typeConnectionLoss},
	{zkconn.ErrSessionExpired, typeSessionExpired},
	{zkconn.ErrSessionMoved, typeSessionMoved},
	{zkconn.ErrNoAuth, typeNoAuth},
	{zkconn.ErrAuthFailed, typeAuthFailed},
	{zkconn.ErrNoNode, typeNotFound},
	{zkconn.ErrNodeExists, typeExists},
	{zkconn.ErrBadVersion, typeBadVersion},
	{zkconn.ErrTooLarge, typeTooLarge},
}

// ErrorType returns the error.type of an error, "" for none.
func ErrorType(err error) string {
	if err == nil {
		return ""
	}
	for _, t := range errorTypes {
		if errors.Is(err, t.err) {
			return t.name
		}
	}
	return typeOther
}

// describe returns the text for a span's status. The text of an error may have paths, so with a path
// formatter it is only the error's type.
func (t *Telemetry) describe(err error, kind string) string {
	if t.FormatPath != nil {
		return kind
	}
	return err.Error()
}

// fail gives a span the error.type and the text of a failure.
func fail(span trace.Span, kind, text string) {
	span.SetAttributes(semconv.ErrorTypeKey.String(kind))
	span.SetStatus(codes.Error, text)
}

// end ends a span, if there is one, with the error of its work, nil for none.
func (t *Telemetry) end(span trace.Span, err error) {
	if span == nil {
		return
	}
	if err != nil && span.IsRecording() {
		kind := ErrorType(err)
		fail(span, kind, t.describe(err, kind))
	}
	span.End()
}
