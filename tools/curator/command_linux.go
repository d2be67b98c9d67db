package main

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// endWithParent has the kernel kill CMD's own process if this one ends without ending it.
func endWithParent(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGKILL }

// adopt makes this process the parent of what CMD leaves behind, so that we see its end:
// in a container, often nobody else would wait for it.
func adopt() { _ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) } // it saves only a wait
