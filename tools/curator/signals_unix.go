//go:build unix && !aix

package main

import (
	"os"
	"syscall"
)

var (
	// asking are the signals that ask a program to end.
	asking = []os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT}
	// passedOn are those that CMD gets besides.
	passedOn = []os.Signal{syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGWINCH, syscall.SIGTSTP, syscall.SIGCONT}
	// harmless are received so that they do not end us: a line that nobody reads any
	// more is no reason to drop a lock.
	harmless = []os.Signal{syscall.SIGPIPE}
)

// signalCode returns the exit code for an end by a signal.
func signalCode(sig os.Signal) int {
	if s, ok := sig.(syscall.Signal); ok {
		return exitSignal + int(s)
	}
	return exitInternal
}
