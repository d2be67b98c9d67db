package tracing

import (
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/trace"
)

// ScopeName is the instrumentation scope of every span.
const ScopeName = "github.com/go-curator/curator"

// Names of spans.
const (
	SpanLockAcquire = "curator.lock.acquire"
	SpanLockRelease = "curator.lock.release"
	SpanLockLost    = "curator.lock.lost"
)

// Names of attributes.
const (
	AttrLockKind      = "curator.lock.kind"
	AttrLockPath      = "curator.lock.path"
	AttrLockTry       = "curator.lock.try"
	AttrLockOutcome   = "curator.lock.outcome"
	AttrLockToken     = "curator.lock.token"
	AttrLockReentrant = "curator.lock.reentrant"
	AttrLockHeldTime  = "curator.lock.held_time" // seconds
	AttrLossReason    = "curator.lock.loss.reason"
)

// Option sets something; it is given to framework.WithTracing.
type Option interface{ apply(*config) }

type config struct {
	provider trace.TracerProvider
	path     func(string) string
}

type option func(*config)

func (o option) apply(c *config) { o(c) }

// WithTracerProvider replaces the global tracer provider; nil leaves it.
func WithTracerProvider(p trace.TracerProvider) Option {
	return option(func(c *config) {
		if p != nil {
			c.provider = p
		}
	})
}

// WithPathFormatter rewrites the path attribute of spans; returning "" leaves it out. The
// default is the path as it is. A nil format leaves the default.
func WithPathFormatter(format func(path string) string) Option {
	return option(func(c *config) {
		if format != nil {
			c.path = format
		}
	})
}

// Tracer makes the spans. A nil Tracer makes none.
type Tracer struct {
	tracer trace.Tracer
	path   func(string) string
}

// New returns a Tracer, for package framework.
func New(opts ...Option) *Tracer {
	cfg := config{provider: otel.GetTracerProvider(), path: func(path string) string { return path }}
	for _, o := range opts {
		if o != nil {
			o.apply(&cfg)
		}
	}
	return &Tracer{tracer: cfg.provider.Tracer(ScopeName), path: cfg.path}
}
