// Package tracing has the options and the names of the spans and metrics that the client
// and the recipes make. It imports OpenTelemetry's API only.
//
// Tracing needs no options: by default the client uses the global providers, also if they are
// set after the client is made. framework.WithoutTracing turns everything off. The span of an
// acquire ends with the acquire, because the hold may last for days. The release and the loss
// have spans that link back to it, and a waiter's span links to the span of the holder that it
// waits for, also in another process. ZooKeeper's operations have spans below these.
// docs/observability.md lists all spans and metrics.
//
// Spans never carry node data. Metrics never carry paths, ids or error texts.
// WithoutHolderLinks describes what the data of lock nodes says about their owner.
//
// Spans show what this process saw. They cannot prove that a lock is held.
//
// Everything is safe for concurrent use.
//
// The counterpart in Java is org.apache.curator.drivers.
package tracing
