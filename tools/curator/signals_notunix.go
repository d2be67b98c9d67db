//go:build !unix || aix

package main

import "os"

var (
	asking   = []os.Signal{os.Interrupt}
	passedOn []os.Signal
	harmless []os.Signal
)

// signalCode returns the exit code for an end by Ctrl-C. It is that of SIGINT on other systems.
func signalCode(os.Signal) int { return exitSignal + 2 }
