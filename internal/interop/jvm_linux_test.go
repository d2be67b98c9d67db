package interop_test

import (
	"os/exec"
	"syscall"
)

// endWithParent has the kernel kill the process with the thread that starts it.
func endWithParent(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
