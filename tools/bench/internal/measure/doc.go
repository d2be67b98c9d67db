// Package measure has the measurements of a benchmark's run, and computes percentiles, sums and rates
// from them.
package measure
