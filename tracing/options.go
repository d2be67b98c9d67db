package tracing

import (
	"time"

	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
)

// Option is an option of framework.WithTracing.
type Option interface{ apply(*Settings) }

type option func(*Settings)

func (o option) apply(s *Settings) { o(s) }

// Settings has the values of options. It is for package framework.
type Settings struct {
	TracerProvider trace.TracerProvider          // nil is the global one
	MeterProvider  metric.MeterProvider          // nil is the global one
	Propagator     propagation.TextMapPropagator // nil is the global one
	FormatPath     func(path string) string      // nil leaves paths as they are
	Driver         TracerDriver                  // nil for none

	NoOperationSpans, NoHolderLinks bool
}

// NewSettings returns the values of opts. A nil option sets nothing.
func NewSettings(opts ...Option) Settings {
	var s Settings
	for _, o := range opts {
		if o != nil {
			o.apply(&s)
		}
	}
	return s
}

// WithTracerProvider replaces the global tracer provider; nil leaves it.
func WithTracerProvider(p trace.TracerProvider) Option {
	return option(func(s *Settings) { s.TracerProvider = p })
}

// WithMeterProvider replaces the global meter provider; nil leaves it.
func WithMeterProvider(p metric.MeterProvider) Option {
	return option(func(s *Settings) { s.MeterProvider = p })
}

// WithPropagator replaces the global propagator, which writes the trace of a lock's holder into
// its node and reads the traces of others; nil leaves it. If the global one is not set,
// propagation.TraceContext is used. Baggage is never written.
func WithPropagator(p propagation.TextMapPropagator) Option {
	return option(func(s *Settings) { s.Propagator = p })
}

// WithPathFormatter rewrites the path attributes of spans; returning "" leaves them out.
// The default is the path as it is. A nil format leaves the default.
func WithPathFormatter(format func(path string) string) Option {
	return option(func(s *Settings) { s.FormatPath = format })
}

// WithoutOperationSpans leaves out the span of each ZooKeeper operation; lock spans and metrics
// stay. Operations below an unsampled span of this process never have spans.
func WithoutOperationSpans() Option {
	return option(func(s *Settings) { s.NoOperationSpans = true })
}

// WithoutHolderLinks leaves label, host, process id and trace out of the data of lock nodes,
// where everyone who may read the node can see them. The data is then that of Java's locks.
// Waiters' spans have no link to the holder, and locks.Inspect returns only an address.
func WithoutHolderLinks() Option {
	return option(func(s *Settings) { s.NoHolderLinks = true })
}

// WithDriver adds a driver with the interface of Java Curator's; nil means no driver.
//
// Java: CuratorZookeeperClient.setTracerDriver.
func WithDriver(d TracerDriver) Option {
	return option(func(s *Settings) { s.Driver = d })
}

// TracerDriver receives durations and counts by name. It is called on the goroutine of the
// operation, and for events of the connection on a goroutine of the client. It must be safe for
// concurrent use, and return soon.
//
// Java: TracerDriver.
type TracerDriver interface {
	// AddTrace reports an operation, with Java's name.
	AddTrace(name string, elapsed time.Duration)
	// AddCount reports an event.
	AddCount(name string, increment int)
}

// AdvancedTracerDriver is a TracerDriver that receives records instead of durations and counts.
// WithDriver finds it by a type assertion on its argument.
//
// Java: AdvancedTracerDriver.
type AdvancedTracerDriver interface {
	TracerDriver
	// AddOperationTrace reports an operation.
	AddOperationTrace(t OperationTrace)
	// AddEventTrace reports an event.
	AddEventTrace(t EventTrace)
}

// OperationTrace describes one operation with all its tries.
//
// Java: OperationTrace.
type OperationTrace struct {
	Name          string // Java's, such as "CreateBuilderImpl-Foreground"
	Path          string // the server's, without the chroot
	ReturnCode    int32  // ZooKeeper's, 0 for success
	Elapsed       time.Duration
	RequestBytes  int
	ResponseBytes int
	SessionID     int64
}

// EventTrace describes one event: "retries-allowed", "retries-disallowed",
// "session-expired", "connection-string-changed", or a state of the connection by Java's
// name, "Disconnected" or "Expired".
//
// Java: EventTrace.
type EventTrace struct {
	Name      string
	SessionID int64
}
