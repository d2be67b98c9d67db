package curatortest

import (
	"os/exec"
	"syscall"
)

// endWithParent has the kernel kill the process if this one ends without stopping it.
func endWithParent(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
