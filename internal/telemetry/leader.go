package telemetry

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"github.com/go-curator/curator/tracing"
)

// Candidate is a latch or a selector as spans and metrics show it.
type Candidate struct {
	t          *Telemetry
	name       string
	attributes trace.SpanStartEventOption // of all its spans
}

// Candidate returns a candidate of one of the recipes of package tracing, with the user's name
// for the election, "" for none, and its path, which is for spans only.
func (t *Telemetry) Candidate(recipe, name, path string) Candidate {
	if t == nil {
		return Candidate{}
	}
	return Candidate{t, name, t.spanAttributes(tracing.AttrLeaderName, name, tracing.AttrLeaderPath, path, attribute.String(tracing.AttrLeaderRecipe, recipe))}
}

// Standing makes the metric of the status show 0, and the counter of the transitions exist.
func (c Candidate) Standing(ctx context.Context) { c.count(ctx, 0) }

// count changes the status, and counts the change.
func (c Candidate) count(ctx context.Context, change int64) {
	if c.t == nil {
		return
	}
	opts := c.t.options.of(labels{nameKey: tracing.AttrLeaderName, name: c.name}).add
	c.t.leader.status.Add(ctx, change, opts...)
	c.t.leader.transitions.Add(ctx, max(change, -change), opts...) // change is 0 or one term
}

// Term is the term of a leader. The zero Term is none.
type Term struct {
	candidate Candidate
	token     int64
	at        time.Time
	span      trace.SpanContext
}

// Elected makes the span of an election that was won at the given time, and counts it.
func (c Candidate) Elected(ctx context.Context, token int64, at time.Time) Term {
	c.count(ctx, 1)
	term := Term{candidate: c, token: token, at: at}
	if !c.t.tracing() {
		return term
	}
	_, span := c.t.tracer.Start(ctx, tracing.SpanLeaderElected, c.attributes, trace.WithTimestamp(at),
		trace.WithAttributes(attribute.Int64(tracing.AttrLeaderToken, token)))
	term.span = span.SpanContext()
	span.End()
	return term
}

// End makes the span of the end of a term, which links to that of its beginning, and counts it.
// loss says why the term was lost, "" if it was not.
func (t Term) End(ctx context.Context, at time.Time, loss string) {
	c := t.candidate
	c.count(ctx, -1)
	if !c.t.tracing() {
		return
	}
	opts := []trace.SpanStartOption{c.attributes, trace.WithTimestamp(at)}
	if t.span.IsValid() {
		opts = append(opts, trace.WithLinks(trace.Link{SpanContext: t.span}))
	}
	_, span := c.t.tracer.Start(ctx, tracing.SpanLeaderTermEnd, opts...)
	defer span.End()
	if !span.IsRecording() {
		return
	}
	span.SetAttributes(attribute.Int64(tracing.AttrLeaderToken, t.token), attribute.Float64(tracing.AttrLeaderTerm, at.Sub(t.at).Seconds()))
	if loss == "" {
		span.SetAttributes(attribute.String(tracing.AttrLeaderEnd, tracing.EndReleased))
		return
	}
	span.SetAttributes(attribute.String(tracing.AttrLeaderEnd, tracing.EndLost),
		attribute.String(tracing.AttrLossReason, loss))
	fail(span, typeLost, "leadership lost: "+loss)
}
