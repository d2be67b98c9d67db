// Package history has what happened in a run under attack: the events that workers and the
// nemesis noted, each with its time on one clock, and the log that they are kept in.
//
// The clock is CLOCK_MONOTONIC, which all processes of a machine share: Go reads it here, Java
// as System.nanoTime, Python as time.monotonic_ns. Elsewhere than on Linux that does not hold,
// and only the events of one process can be compared.
package history
