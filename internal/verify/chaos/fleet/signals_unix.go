//go:build unix

package fleet

import (
	"os"
	"syscall"
)

// stop has a process stand still until proceed.
func stop(p *os.Process) error { return p.Signal(syscall.SIGSTOP) }

func proceed(p *os.Process) error { return p.Signal(syscall.SIGCONT) }

// showStacks is the signal at which a Go program prints the stacks of its goroutines, and ends.
var showStacks os.Signal = syscall.SIGQUIT
