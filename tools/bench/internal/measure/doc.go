// Package measure has the figures of a benchmark's run and what is computed from them.
package measure
