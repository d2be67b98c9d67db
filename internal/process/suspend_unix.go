//go:build unix

package process

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"syscall"
	"time"
)

// ShowStacks is the signal at which a Go program prints the stacks of its goroutines, and ends.
var ShowStacks os.Signal = syscall.SIGQUIT

// Suspend has the process stand still until Resume. On Linux it returns when all threads have stopped.
func (p *Process) Suspend() error {
	if err := p.os.Signal(syscall.SIGSTOP); err != nil {
		return err
	}
	if runtime.GOOS != "linux" { // other systems have no way to find out
		return nil
	}
	return awaitSuspended(p.os.Pid)
}

// Resume continues a suspended process.
func (p *Process) Resume() error { return p.os.Signal(syscall.SIGCONT) }

// suspendTimeout bounds the time until all threads have stopped.
const suspendTimeout = 20 * time.Second

// awaitSuspended waits until all threads of a process have stopped. The call that sends the signal
// returns before that, and a thread that still runs could answer one more request.
func awaitSuspended(pid int) error {
	proc := os.DirFS("/proc")
	ticker := time.NewTicker(time.Millisecond)
	defer ticker.Stop()
	for end := time.Now().Add(suspendTimeout); time.Now().Before(end); <-ticker.C {
		threads, err := fs.Glob(proc, fmt.Sprintf("%d/task/*/stat", pid))
		if err != nil {
			return err
		}
		if allSuspended(proc, threads) {
			return nil
		}
	}
	return fmt.Errorf("process %d still runs after %v", pid, suspendTimeout)
}

// allSuspended reports whether the threads with the given stat files have stopped. A thread whose
// file does not exist any more has ended.
func allSuspended(proc fs.FS, threads []string) bool {
	for _, thread := range threads {
		stat, err := fs.ReadFile(proc, thread)
		if err != nil {
			continue
		}
		// The state follows the name, which is in parentheses and may contain parentheses.
		state := stat[bytes.LastIndexByte(stat, ')')+1:]
		if !bytes.HasPrefix(state, []byte(" T")) {
			return false
		}
	}
	return true
}
