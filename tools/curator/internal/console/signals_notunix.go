//go:build !unix || aix

package console

import "os"

var (
	asking   = []os.Signal{os.Interrupt}
	passedOn []os.Signal
	harmless []os.Signal
)

// SignalCode returns the exit code for an end by Ctrl-C. It is that of SIGINT on other systems.
func SignalCode(os.Signal) int { return ExitSignal + 2 }
