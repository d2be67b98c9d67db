//go:build unix && !linux && !aix

package hold

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// The ioctl requests that get and set the settings of a terminal. setTermios waits until all output
// was transmitted.
const (
	getTermios = unix.TIOCGETA
	setTermios = unix.TIOCSETAW
)

// endWithParent does nothing: only Linux can end a process with its parent.
func endWithParent(*syscall.SysProcAttr) {}

// adopt does nothing: only Linux lets a process become the parent of other processes' orphans.
func adopt() {}

// foregroundOf returns the foreground process group of the controlling terminal fd.
func foregroundOf(fd int) (int, error) { return unix.IoctlGetInt(fd, unix.TIOCGPGRP) }

// parentOf returns 0: the parent of a process is not known.
func parentOf(int) int { return 0 }
