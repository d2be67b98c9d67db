package interop_test

import (
	"os/exec"
	"syscall"
)

// endWithParent has the kernel kill the process with the thread that starts it, and puts
// it in a group of its own.
func endWithParent(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
}

// killGroup kills what endWithParent was called for, and all that it has started.
func killGroup(cmd *exec.Cmd) error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
