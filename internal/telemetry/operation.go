package telemetry

import (
	"context"
	"errors"
	"strconv"
	"time"

	"go.opentelemetry.io/otel/attribute"
	semconv "go.opentelemetry.io/otel/semconv/v1.41.0"
	"go.opentelemetry.io/otel/trace"

	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/zkconn"
	"github.com/go-curator/curator/tracing"
)

// Op is one operation of ZooKeeper's, with all its tries.
type Op struct {
	Name       string
	Path       string // below Prefix, or the server's with Full
	Prefix     string // of the namespace
	Full       bool
	Batch      int          // how many operations it is, if that is more than one
	Missing    bool         // ErrNoNode is an answer, not a failure
	Background bool         // nobody waits for it
	For        *Acquisition // the acquire that the span links to, in a trace of its own; nil for none
}

// Operation is an Op under way. The zero Operation has neither span nor metric. It is small because it
// is on the stack of many goroutines.
type Operation struct{ seen *operation }

type operation struct {
	t       *Telemetry
	op      Op
	ctx     context.Context
	start   time.Time
	span    trace.Span // nil for none
	server  string     // in use at the beginning
	answers *zkconn.ExchangeInfo
}

// Operation begins an operation over conn. Its requests are made with the context that it returns. It
// allocates nothing if there are neither spans nor metrics.
func (t *Telemetry) Operation(ctx context.Context, conn *zkconn.Conn, op Op) (context.Context, Operation) {
	if t == nil {
		return ctx, Operation{}
	}
	spans := t.tracing() && !t.NoOperationSpans && !dropped(ctx)
	if !spans && !t.driver.enabled() && !t.operationDuration.Enabled(ctx) {
		return ctx, Operation{}
	}
	return t.begin(ctx, conn, op, spans)
}

// dropped tells whether ctx has a span of this process that the sampler has dropped. Samplers normally
// drop the spans below it, too, so it is not asked for every operation.
func dropped(ctx context.Context) bool {
	span := trace.SpanFromContext(ctx)
	c := span.SpanContext()
	return c.IsValid() && !c.IsSampled() && !c.IsRemote() && !span.IsRecording()
}

func (t *Telemetry) begin(ctx context.Context, conn *zkconn.Conn, op Op, spans bool) (context.Context, Operation) {
	if op.Name == "getChildren" {
		op.Name = "getChildren2" // as the protocol calls what is sent
	}
	o := &operation{t: t, op: op, start: time.Now(), server: conn.Server()}
	if spans {
		var span trace.Span
		if ctx, span = t.startSpan(ctx, o); span.IsRecording() {
			o.span = span
		} else {
			span.End()
			if !t.driver.enabled() && !t.operationDuration.Enabled(ctx) {
				return ctx, Operation{}
			}
		}
	}
	if o.span != nil || t.driver.enabled() {
		o.answers = &zkconn.ExchangeInfo{}
		ctx = zkconn.WithExchangeInfo(ctx, o.answers)
	}
	o.ctx = ctx
	return ctx, Operation{o}
}

func (t *Telemetry) startSpan(ctx context.Context, o *operation) (context.Context, trace.Span) {
	name := o.op.Name
	attrs := make([]attribute.KeyValue, 0, 7)
	attrs = append(attrs, semconv.DBSystemNameKey.String(system), semconv.DBOperationName(name))
	if t.Chroot != "" {
		name += " " + t.Chroot
		attrs = append(attrs, semconv.DBNamespace(t.Chroot))
	}
	attrs = append(attrs, t.serverOf(o.server).attributes...)
	if path := t.path(o.path()); path != "" {
		attrs = append(attrs, attribute.String(tracing.AttrPath, path))
	}
	if o.op.Batch > 1 {
		attrs = append(attrs, semconv.DBOperationBatchSize(o.op.Batch))
	}
	opts := append(make([]trace.SpanStartOption, 0, 4), asClient, trace.WithAttributes(attrs...))
	if o.op.For != nil {
		opts = append(opts, trace.WithNewRoot(), trace.WithLinks(trace.Link{SpanContext: o.op.For.spanContext()}))
	}
	return t.tracer.Start(ctx, name, opts...)
}

// path returns the server's path without the chroot, "" for an operation without.
func (o *operation) path() string {
	switch {
	case o.op.Full:
		return o.t.unrooted(o.op.Path)
	case o.op.Path == "/" && o.op.Prefix != "":
		return o.op.Prefix
	case o.op.Path == "":
		return ""
	}
	return o.op.Prefix + o.op.Path
}

// Active tells whether the operation has a span or a metric.
func (o Operation) Active() bool { return o.seen != nil }

// Retry records that an operation is tried again after err. attempt counts from 1. ctx is that of the
// operation.
func (t *Telemetry) Retry(ctx context.Context, name string, attempt int, err error) {
	if t == nil {
		return
	}
	if name == "getChildren" {
		name = "getChildren2"
	}
	kind := ErrorType(err)
	t.retries.Add(ctx, 1, t.options.of(labels{operation: name, errorType: kind}).add...)
	t.driver.event("retries-allowed", 0)
	if span := trace.SpanFromContext(ctx); !t.NoOperationSpans && span.IsRecording() {
		span.AddEvent(tracing.EventRetry, trace.WithAttributes(
			attribute.Int(tracing.AttrRetryAttempt, attempt), semconv.ErrorTypeKey.String(kind)))
	}
}

// GaveUp records that the retry policy permits no further try.
func (t *Telemetry) GaveUp() {
	if t != nil {
		t.driver.event("retries-disallowed", 0)
	}
}

// End ends the operation after a number of tries.
func (o Operation) End(tries int, err error) {
	if o.seen != nil {
		o.seen.end(tries, err)
	}
}

func (o *operation) end(tries int, err error) {
	elapsed := time.Since(o.start)
	failed := err
	if o.op.Missing && errors.Is(err, zkconn.ErrNoNode) {
		failed = nil
	}
	kind := ErrorType(failed)
	server := o.server
	if o.answers != nil && o.answers.Server != "" {
		server = o.answers.Server
	}
	if o.t.operationDuration.Enabled(o.ctx) {
		host := o.t.serverOf(server).host
		o.t.operationDuration.Record(o.ctx, elapsed.Seconds(),
			o.t.options.of(labels{system: system, operation: o.op.Name, server: host, errorType: kind}).record...)
	}
	if o.t.driver.enabled() {
		o.t.driver.operation(tracing.OperationTrace{
			Name: javaName(o.op.Name, o.op.Background), Path: o.path(), ReturnCode: returnCode(err), Elapsed: elapsed,
			RequestBytes: o.answers.Sent, ResponseBytes: o.answers.Got, SessionID: o.answers.Session,
		})
	}
	if o.span != nil {
		o.endSpan(tries, server, err, failed)
	}
}

func (o *operation) endSpan(tries int, server string, err, failed error) {
	attrs := []attribute.KeyValue{attribute.Int(tracing.AttrRetryAttempt, tries)}
	if server != o.server {
		attrs = append(attrs, o.t.serverOf(server).attributes...)
	}
	if host, port := splitHostPort(o.answers.Peer); host != "" {
		attrs = append(attrs, semconv.NetworkPeerAddress(host))
		if port > 0 {
			attrs = append(attrs, semconv.NetworkPeerPort(port))
		}
	}
	if o.answers.Session != 0 {
		attrs = append(attrs, attribute.String(tracing.AttrSessionID, "0x"+strconv.FormatUint(uint64(o.answers.Session), 16)))
	}
	if o.answers.Zxid != 0 {
		attrs = append(attrs, attribute.Int64(tracing.AttrZxid, o.answers.Zxid))
	}
	if code := answerCode(err); code != 0 {
		attrs = append(attrs, semconv.DBResponseStatusCode(strconv.Itoa(int(code))))
	}
	o.span.SetAttributes(attrs...)
	o.t.end(o.span, failed)
}

var asClient = trace.WithSpanKind(trace.SpanKindClient)

// answerCode returns the code that a server answered, 0 for success and for no answer.
func answerCode(err error) int32 {
	var unanswered *zkconn.TransportError
	var answered *zkconn.Error
	if errors.As(err, &unanswered) || !errors.As(err, &answered) {
		return 0
	}
	return answered.Code()
}

// returnCode returns ZooKeeper's code for the outcome of an operation.
func returnCode(err error) int32 {
	var known *zkconn.Error
	switch {
	case err == nil:
		return 0
	case errors.As(err, &known) && known.Code() != 0:
		return known.Code()
	}
	return jute.CodeSystemError
}

// Watch begins the read that watches the node of a hold. The first one is part of the acquire. A later
// one, which sets the watch again, has a trace of its own.
func (a *Acquisition) Watch(ctx context.Context, conn *zkconn.Conn, full string, first bool) (context.Context, Operation) {
	if a == nil {
		return ctx, Operation{}
	}
	op := Op{Name: "getData", Path: full, Full: true, Missing: true, Background: true}
	if !first {
		op.For = a
	} else if a.span != nil {
		ctx = trace.ContextWithSpan(ctx, a.span)
	}
	return a.t.Operation(ctx, conn, op)
}
