// Package tracing has the options and the names of the spans and metrics that the client
// and the recipes make. It imports OpenTelemetry's API only.
//
// Nothing here is needed to be traced: without options the global providers are used, also
// if they are set after the client is made, and framework.WithoutTracing turns everything
// off. An acquire is a span of its own, since the hold that follows may last for days; its
// release and its loss are spans that link back to it, and a waiter's span links to that of
// whom it waits for, in another process, too. ZooKeeper's operations are spans below them.
// docs/observability.md shows it all.
//
// Spans never carry node data. Metrics never carry paths, ids or error texts. What the data
// of lock nodes says of their owner is under WithoutHolderLinks.
//
// Spans tell what this process saw. That a lock is held is not among the things that
// they can prove.
//
// Everything is safe for concurrent use.
//
// The counterpart in Java is org.apache.curator.drivers.
package tracing
