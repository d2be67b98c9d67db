// Package results has what a benchmark has found out: how it is written down, shown and
// compared.
package results
