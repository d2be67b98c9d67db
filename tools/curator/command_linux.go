package main

import (
	"bytes"
	"fmt"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// The requests for a terminal's settings; the second waits until what was written is out.
const (
	getTermios = unix.TCGETS
	setTermios = unix.TCSETSW
)

// endWithParent has the kernel kill CMD's own process if this one ends without ending it.
func endWithParent(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGKILL }

// adopt makes this process the parent of what CMD leaves behind, so that we see its end:
// in a container, often nobody else would wait for it.
func adopt() { _ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) } // it saves only a wait

// foregroundOf returns the process group in the foreground of a terminal, which must be
// the controlling one.
func foregroundOf(fd int) (int, error) {
	group, err := unix.IoctlGetUint32(fd, unix.TIOCGPGRP)
	return int(group), err
}

// parentOf returns the parent of a process, 0 if it is not known.
func parentOf(pid int) (parent int) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	// The name, in parentheses, may have parentheses itself. The state follows.
	rest := stat[bytes.LastIndexByte(stat, ')')+1:]
	var state string
	if _, err := fmt.Sscan(string(rest), &state, &parent); err != nil {
		return 0
	}
	return parent
}
