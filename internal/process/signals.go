package process

import (
	"os"
	"os/signal"
	"syscall"
)

// ResetSignals has the programs that this process starts begin with the default actions of SIGHUP and
// SIGINT, also if this process was started to ignore them, as by nohup or in the background of a script.
// It goes on to ignore them itself. Of all other signals that end a program, Go sees to that by itself.
//
// It is for tests that send these signals to programs. A program that starts others for its user must
// not call it: the others are to ignore what the user wants to be ignored.
func ResetSignals() {
	for _, sig := range []os.Signal{syscall.SIGHUP, syscall.SIGINT} {
		if signal.Ignored(sig) {
			signal.Notify(make(chan os.Signal, 1), sig) // nobody receives: a signal that is caught is not inherited
		}
	}
}
