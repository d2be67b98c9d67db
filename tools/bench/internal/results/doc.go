// Package results has the results of a benchmark. It reads and writes them, makes tables of them, and
// compares them.
package results
