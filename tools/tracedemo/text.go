package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// row is a span in the order of the output: a span is below its parent.
type row struct {
	sdktrace.ReadOnlySpan
	depth   int
	service string
}

func rows(spans []sdktrace.ReadOnlySpan) (ordered []row) {
	children := map[trace.SpanID][]sdktrace.ReadOnlySpan{}
	for _, span := range spans {
		parent := span.Parent().SpanID()
		children[parent] = append(children[parent], span)
	}
	var add func(parent trace.SpanID, depth int)
	add = func(parent trace.SpanID, depth int) {
		slices.SortStableFunc(children[parent], func(a, b sdktrace.ReadOnlySpan) int { return a.StartTime().Compare(b.StartTime()) })
		for _, span := range children[parent] {
			service, _ := span.Resource().Set().Value("service.name")
			ordered = append(ordered, row{span, depth, service.AsString()})
			add(span.SpanContext().SpanID(), depth+1)
		}
	}
	add(trace.SpanID{}, 0)
	return ordered
}

// text returns spans as an indented list.
func text(spans []sdktrace.ReadOnlySpan) string {
	var b strings.Builder
	all := rows(spans)
	names := map[trace.SpanID]string{}
	for _, r := range all {
		names[r.SpanContext().SpanID()] = r.service + "'s " + r.Name()
	}
	for _, r := range all {
		fmt.Fprintf(&b, "%*s%s %v", 2*r.depth, "", r.Name(), r.EndTime().Sub(r.StartTime()).Round(time.Microsecond))
		if r.depth == 0 {
			fmt.Fprintf(&b, " (%s, trace %s)", r.service, r.SpanContext().TraceID())
		}
		b.WriteByte('\n')
		margin := 2*r.depth + 4
		for _, kv := range r.Attributes() {
			fmt.Fprintf(&b, "%*s%s=%s\n", margin, "", kv.Key, kv.Value.String())
		}
		for _, e := range r.Events() {
			fmt.Fprintf(&b, "%*s+%v %s\n", margin, "", e.Time.Sub(r.StartTime()).Round(time.Microsecond), e.Name)
		}
		for _, l := range r.Links() {
			fmt.Fprintf(&b, "%*s-> %s\n", margin, "", names[l.SpanContext.SpanID()])
		}
	}
	return b.String()
}
