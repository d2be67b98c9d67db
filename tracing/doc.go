// Package tracing has the options and names of the spans that the client and the recipes
// make, and what makes them. It imports OpenTelemetry's API only.
//
// Nothing here is needed to be traced: without options the global provider is used, and
// framework.WithoutTracing turns tracing off. An acquire is a span of its own, since the
// hold that follows may last for days; its release and its loss are spans that link back
// to it. Spans never carry node data, and a span that is not recorded costs no more than
// its start and its end.
//
// Spans tell what this process saw. That a lock is held is not among the things that
// they can prove.
//
// Everything is safe for concurrent use.
//
// The counterpart in Java is org.apache.curator.drivers.
package tracing
