package main

import (
	"encoding/json"
	"strconv"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

type object = map[string]any

// otlpJSON returns spans as the body of a request to an OTLP/HTTP collector.
func otlpJSON(spans []sdktrace.ReadOnlySpan) ([]byte, error) {
	var resources []object
	for _, span := range spans {
		resources = append(resources, object{
			"resource": object{"attributes": keyValues(span.Resource().Attributes())},
			"scopeSpans": []object{{
				"scope":     object{"name": span.InstrumentationScope().Name, "version": span.InstrumentationScope().Version},
				"schemaUrl": span.InstrumentationScope().SchemaURL,
				"spans":     []object{otlpSpan(span)},
			}},
		})
	}
	return json.MarshalIndent(object{"resourceSpans": resources}, "", " ")
}

func otlpSpan(span sdktrace.ReadOnlySpan) object {
	o := object{
		"traceId": span.SpanContext().TraceID().String(), "spanId": span.SpanContext().SpanID().String(),
		"name": span.Name(), "kind": int(span.SpanKind()),
		"startTimeUnixNano": nano(span.StartTime().UnixNano()), "endTimeUnixNano": nano(span.EndTime().UnixNano()),
		"attributes": keyValues(span.Attributes()), "events": []object{}, "links": []object{},
	}
	if span.Parent().SpanID().IsValid() {
		o["parentSpanId"] = span.Parent().SpanID().String()
	}
	if s := span.Status(); s.Code == codes.Error {
		o["status"] = object{"code": 2, "message": s.Description}
	}
	for _, e := range span.Events() {
		o["events"] = append(o["events"].([]object), object{
			"name": e.Name, "timeUnixNano": nano(e.Time.UnixNano()), "attributes": keyValues(e.Attributes),
		})
	}
	for _, l := range span.Links() {
		o["links"] = append(o["links"].([]object), object{
			"traceId": l.SpanContext.TraceID().String(), "spanId": l.SpanContext.SpanID().String(), "attributes": keyValues(l.Attributes),
		})
	}
	return o
}

// nano returns a number of 64 bits in the form of OTLP/JSON, a string.
func nano(n int64) string { return strconv.FormatInt(n, 10) }

func keyValues(attrs []attribute.KeyValue) []object {
	list := []object{}
	for _, kv := range attrs {
		value := object{"stringValue": kv.Value.String()}
		switch kv.Value.Type() {
		case attribute.BOOL:
			value = object{"boolValue": kv.Value.AsBool()}
		case attribute.INT64:
			value = object{"intValue": nano(kv.Value.AsInt64())}
		case attribute.FLOAT64:
			value = object{"doubleValue": kv.Value.AsFloat64()}
		}
		list = append(list, object{"key": string(kv.Key), "value": value})
	}
	return list
}
