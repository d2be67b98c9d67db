// Package telemetry makes the spans and metrics of the client and the recipes, with the options
// of package tracing. Without an SDK its hooks cost very little: the hook of an operation
// allocates nothing.
//
// A nil *Telemetry, and the values that it returns, do nothing.
package telemetry
