// Package telemetry makes the spans and metrics of the client and the recipes, as package
// tracing was told to. Its hooks cost next to nothing while nobody listens: without an SDK
// an operation's allocates nothing.
//
// A nil *Telemetry, and what it returns, does nothing.
package telemetry
