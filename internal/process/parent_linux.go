package process

import (
	"os/exec"
	"syscall"
)

// endWithParent has the kernel kill the process with the thread that starts it.
func endWithParent(cmd *exec.Cmd) {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Pdeathsig = syscall.SIGKILL
}
