//go:build unix

package curatortest

import (
	"os"
	"syscall"
)

// suspend stops a process until proceed.
func suspend(p *os.Process) error {
	if err := p.Signal(syscall.SIGSTOP); err != nil {
		return err
	}
	return awaitSuspended(p.Pid)
}

// proceed continues a suspended process.
func proceed(p *os.Process) error { return p.Signal(syscall.SIGCONT) }
