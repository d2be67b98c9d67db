//go:build unix && !aix

package console

import (
	"os"
	"syscall"
)

var (
	// asking are the signals that ask this process to end.
	asking = []os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT}
	// passedOn are the other signals that are passed on to CMD.
	passedOn = []os.Signal{syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGWINCH, syscall.SIGTSTP, syscall.SIGCONT}
	// harmless are received so that they do not end this process: when nobody reads its output any
	// more, it still holds its lock.
	harmless = []os.Signal{syscall.SIGPIPE}
)

// SignalCode returns the exit code for an end by a signal.
func SignalCode(sig os.Signal) int {
	if s, ok := sig.(syscall.Signal); ok {
		return ExitSignal + int(s)
	}
	return ExitInternal
}
