//go:build unix && !linux && !aix

package main

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// The requests for a terminal's settings; the second waits until what was written is out.
const (
	getTermios = unix.TIOCGETA
	setTermios = unix.TIOCSETAW
)

// endWithParent does nothing: only Linux can end a process with its parent.
func endWithParent(*syscall.SysProcAttr) {}

// adopt does nothing: elsewhere it is up to the first process.
func adopt() {}

// foregroundOf returns the process group in the foreground of a terminal, which must be
// the controlling one.
func foregroundOf(fd int) (int, error) { return unix.IoctlGetInt(fd, unix.TIOCGPGRP) }

// parentOf returns the parent of a process, 0 if it is not known.
func parentOf(int) int { return 0 }
