package hold

import (
	"bytes"
	"fmt"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// The ioctl requests that get and set the settings of a terminal. setTermios waits until all output
// was transmitted.
const (
	getTermios = unix.TCGETS
	setTermios = unix.TCSETSW
)

// endWithParent makes the kernel kill CMD's own process when this process ends first.
func endWithParent(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGKILL }

// adopt makes this process the parent of the processes that CMD leaves behind, so that it can
// wait for them. In a container there is often no other process that would. If it fails, the
// group is polled instead.
func adopt() { _ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) }

// foregroundOf returns the foreground process group of the controlling terminal fd.
func foregroundOf(fd int) (int, error) {
	group, err := unix.IoctlGetUint32(fd, unix.TIOCGPGRP)
	return int(group), err
}

// parentOf returns the id of the parent of a process, 0 if it is not known.
func parentOf(pid int) (parent int) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	// The name is in parentheses, and may contain parentheses. The state and the parent follow it.
	rest := stat[bytes.LastIndexByte(stat, ')')+1:]
	var state string
	if _, err := fmt.Sscan(string(rest), &state, &parent); err != nil {
		return 0
	}
	return parent
}
