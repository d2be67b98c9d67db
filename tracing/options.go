package tracing

import (
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
)

// Option sets something; it is given to framework.WithTracing.
type Option interface{ apply(*Settings) }

type option func(*Settings)

func (o option) apply(s *Settings) { o(s) }

// Settings are what options set. They are for package framework.
type Settings struct {
	TracerProvider trace.TracerProvider          // nil is the global one
	MeterProvider  metric.MeterProvider          // nil is the global one
	Propagator     propagation.TextMapPropagator // nil is the global one
	FormatPath     func(path string) string      // nil leaves paths as they are
	Driver         TracerDriver                  // nil for none

	NoOperationSpans, NoHolderLinks bool
}

// NewSettings returns what opts set. A nil option sets nothing.
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

// WithPropagator replaces the global propagator, which writes the trace of a lock's holder
// into its node and reads that of others; nil leaves it. As long as the global one is not
// set it is propagation.TraceContext. Baggage is never written.
func WithPropagator(p propagation.TextMapPropagator) Option {
	return option(func(s *Settings) { s.Propagator = p })
}

// WithPathFormatter rewrites the path attributes of spans; returning "" leaves them out.
// The default is the path as it is. A nil format leaves the default.
func WithPathFormatter(format func(path string) string) Option {
	return option(func(s *Settings) { s.FormatPath = format })
}

// WithoutOperationSpans leaves the span of each ZooKeeper operation out; lock spans and
// metrics stay. Below a span of this process that was not sampled there is none anyway.
func WithoutOperationSpans() Option {
	return option(func(s *Settings) { s.NoOperationSpans = true })
}

// WithoutHolderLinks keeps label, host, process id and trace out of lock nodes' data, where
// everyone who may read the node sees them: the data is then that of Java's locks. Waiters'
// spans have no link to the holder, and locks.Inspect tells no more than an address.
func WithoutHolderLinks() Option {
	return option(func(s *Settings) { s.NoHolderLinks = true })
}

// WithDriver feeds a driver of the old Curator shape too; nil is none.
//
// Java: CuratorZookeeperClient.setTracerDriver.
func WithDriver(d TracerDriver) Option {
	return option(func(s *Settings) { s.Driver = d })
}
